package rawjson

import (
	"fmt"

	"symbolon/internal/fault"
)

// maxDepth is the number of arrays and objects that may be open. Profiles and
// crash reports have fewer than 20.
const maxDepth = 512

// A Reader reads the document in Data. It keeps the first error in Err, and
// reads nothing after it.
type Reader struct {
	Data []byte
	Pos  int // of the next byte
	Err  error

	open    []byte // the closing brackets of the open arrays and objects
	first   bool   // the next element is the first one: no comma precedes it
	skipped bool   // Enter has skipped a value, which has no elements
	texts   []byte // decoded strings
}

// Reset makes r read another document. Texts of the last one become invalid.
func (r *Reader) Reset(data []byte) {
	*r = Reader{Data: data, open: r.open[:0], texts: r.texts[:0]}
}

// Peek skips white space and returns the next byte, 0 at the end.
func (r *Reader) Peek() byte {
	for r.Pos < len(r.Data) {
		c := r.Data[r.Pos]
		if c != ' ' && c != '\n' && c != '\r' && c != '\t' {
			return c
		}
		r.Pos++
	}
	return 0
}

// Enter enters the next value if it is an array or object that begins with open.
// It skips other values. In both cases Next must be called for the elements:
//
//	for r.Enter('{'); r.Next(); {
//		switch string(r.Key()) {
//		case "name":
//			name = r.Text()
//		default:
//			r.Skip()
//		}
//	}
func (r *Reader) Enter(open byte) {
	if r.Err != nil {
		return
	}
	if r.Peek() != open {
		r.Skip()
		r.skipped = true
		return
	}
	r.enter(open)
}

func (r *Reader) enter(open byte) {
	if len(r.open) >= maxDepth {
		r.fail(fmt.Sprintf("nested deeper than %d levels", maxDepth))
		return
	}
	r.open = append(r.open, open+2) // ']' and '}' follow their counterparts at a distance of two
	r.first = true
	r.Pos++
}

// Next moves to the next element of the array or object that was entered last.
// After its last element it leaves it and returns false.
func (r *Reader) Next() bool {
	if r.Err != nil {
		return false
	}
	if r.skipped {
		r.skipped = false
		return false
	}
	c := r.Peek()
	if c == r.open[len(r.open)-1] {
		r.Pos++
		r.open = r.open[:len(r.open)-1]
		r.first = false
		return false
	}
	if !r.first {
		if c != ',' {
			r.unexpected()
			return false
		}
		r.Pos++
	}
	r.first = false
	return true
}

// Key reads the name of a member and the colon after it. The result is like that
// of Text.
func (r *Reader) Key() []byte {
	if r.Err != nil {
		return nil
	}
	if r.Peek() != '"' {
		r.unexpected()
		return nil
	}
	name := r.Text()
	if r.Err == nil && r.Peek() != ':' {
		r.unexpected()
	}
	if r.Err != nil {
		return nil
	}
	r.Pos++
	return name
}

// Text reads a string, and returns nil for other values. The result is a part of
// Data if it has no escapes. It is valid until Reset.
func (r *Reader) Text() []byte {
	if r.Err != nil {
		return nil
	}
	if r.Peek() != '"' {
		r.Skip()
		return nil
	}
	from := r.Pos
	escaped := r.skipString()
	if r.Err != nil {
		return nil
	}
	if !escaped {
		return r.Data[from+1 : r.Pos-1 : r.Pos-1]
	}
	start := len(r.texts)
	r.texts = appendText(r.texts, r.Data[from:r.Pos])
	return r.texts[start:len(r.texts):len(r.texts)]
}

// Int reads an integer of at most 18 digits, and returns false for other values.
func (r *Reader) Int() (v int64, ok bool) {
	if r.Err != nil {
		return 0, false
	}
	const maxDigits = 18 // fit in an int64 whatever they are
	r.Peek()
	i := r.Pos
	negative := i < len(r.Data) && r.Data[i] == '-'
	if negative {
		i++
	}
	from := i
	for i < len(r.Data) && i-from < maxDigits && '0' <= r.Data[i] && r.Data[i] <= '9' {
		v = v*10 + int64(r.Data[i]-'0')
		i++
	}
	if i == from || i < len(r.Data) && isNumeric(r.Data[i]) || r.Data[from] == '0' && i-from > 1 {
		r.Skip()
		return 0, false
	}
	r.Pos = i
	if negative {
		v = -v
	}
	return v, true
}

// End checks that only white space follows.
func (r *Reader) End() {
	if r.Err == nil && (r.Peek() != 0 || r.Pos < len(r.Data)) {
		r.unexpected()
	}
}

// Skip reads a value of any kind and returns its bytes in Data.
func (r *Reader) Skip() []byte {
	if r.Err != nil {
		return nil
	}
	c := r.Peek()
	from, base := r.Pos, len(r.open)
	for {
		if c == '{' || c == '[' {
			r.enter(c)
		} else {
			r.skipScalar(c)
		}
		for len(r.open) > base && !r.Next() {
			if r.Err != nil {
				return nil
			}
		}
		if r.Err != nil {
			return nil
		}
		if len(r.open) == base {
			return r.Data[from:r.Pos:r.Pos]
		}
		if r.open[len(r.open)-1] == '}' {
			r.skipKey()
		}
		c = r.Peek()
	}
}

func (r *Reader) skipKey() {
	if r.Peek() == '"' {
		r.skipString()
		if r.Err == nil && r.Peek() == ':' {
			r.Pos++
			return
		}
	}
	r.unexpected()
}

func (r *Reader) unexpected() {
	if r.Pos >= len(r.Data) {
		r.fail("unexpected end")
		return
	}
	r.fail(fmt.Sprintf("unexpected %q", r.Data[r.Pos]))
}

func (r *Reader) fail(detail string) {
	if r.Err == nil {
		r.Err = fault.New(fault.Malformed, fmt.Sprintf("JSON, byte %d", r.Pos), "%s", detail)
	}
}

package il2cpp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"

	"symbolon/internal/fault"
)

// reader reads JSON from one end to the other.
type reader struct {
	text []byte
	at   int
	most limits

	m       *Map
	numbers map[string]uint32 // of files of C#
	entries []entry           // of one file of C++
	lines   int               // of all
	names   int               // what they take
	room    []byte            // for lines, taken already
}

func (r *reader) wrong(format string, args ...any) error {
	return fault.New(fault.Malformed, "il2cpp mapping, byte "+strconv.Itoa(r.at), "%s", fmt.Sprintf(format, args...))
}

// peek is the next byte that is no space; 0 at the end.
func (r *reader) peek() byte {
	for ; r.at < len(r.text); r.at++ {
		switch c := r.text[r.at]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

// take takes a byte that must come next.
func (r *reader) take(c byte) error {
	if r.peek() != c || r.at == len(r.text) {
		return r.wrong("wanted is %q", c)
	}
	r.at++
	return nil
}

// end says whether there is something behind the value.
func (r *reader) end() error {
	if r.peek(); r.at < len(r.text) {
		return r.wrong("there is something behind the mapping")
	}
	return nil
}

// members calls value for each key of an object, to read its value. A key is
// valid until then. What is no object has none.
func (r *reader) members(depth int, value func(key []byte) error) error {
	if r.peek() != '{' {
		return r.skip(depth)
	}
	r.at++
	if r.peek() == '}' {
		r.at++
		return nil
	}
	for {
		key, err := r.string()
		if err == nil {
			err = r.take(':')
		}
		if err == nil {
			err = value(key)
		}
		if err != nil {
			return err
		}
		if r.peek() != ',' {
			return r.take('}')
		}
		r.at++
	}
}

// string reads a string. It is valid as long as the text.
func (r *reader) string() ([]byte, error) {
	if err := r.take('"'); err != nil {
		return nil, err
	}
	from, plain := r.at, true
	for ; r.at < len(r.text); r.at++ {
		switch c := r.text[r.at]; {
		case c == '"':
			whole := r.text[from-1 : r.at+1]
			r.at++
			if len(whole) > r.most.text {
				return nil, r.wrong("a string of more than %d bytes", r.most.text)
			}
			if !utf8.Valid(whole) {
				return nil, r.wrong("a string is no UTF-8")
			}
			if plain {
				return whole[1 : len(whole)-1], nil
			}
			var s string
			if json.Unmarshal(whole, &s) != nil || halves(whole) {
				return nil, r.wrong("a string has a wrong escape")
			}
			return []byte(s), nil
		case c == '\\':
			plain = false
			r.at++
		case c < ' ':
			return nil, r.wrong("a string has a control character")
		}
	}
	return nil, r.wrong("a string has no end")
}

// halves says whether a string has an escape that is half of a character. It is
// known to be a string.
func halves(s []byte) bool {
	high := false // the escape before is a first half
	for i := 0; i < len(s); i++ {
		code := uint64(0)
		if s[i] == '\\' {
			if i++; s[i] == 'u' {
				code, _ = strconv.ParseUint(string(s[i+1:i+5]), 16, 16)
				i += 4
			}
		}
		if low := code >= 0xdc00 && code < 0xe000; low != high {
			return true
		}
		high = code >= 0xd800 && code < 0xdc00
	}
	return false
}

// number takes the digits and signs of a number.
func (r *reader) number() []byte {
	r.peek()
	from := r.at
	for r.at < len(r.text) && bytes.IndexByte([]byte("+-.0123456789Ee"), r.text[r.at]) >= 0 {
		r.at++
	}
	return r.text[from:r.at]
}

// line reads the number of a line.
func (r *reader) line() (uint32, error) {
	text := r.number()
	n, err := strconv.ParseUint(string(text), 10, 32)
	if err != nil || len(text) > 1 && text[0] == '0' {
		return 0, r.wrong("wanted is a line")
	}
	return uint32(n), nil
}

// skip reads a value that says nothing.
func (r *reader) skip(depth int) error {
	if depth == r.most.depth {
		return r.wrong("more than %d levels", r.most.depth)
	}
	switch c := r.peek(); {
	case c == '{':
		return r.members(depth, func([]byte) error { return r.skip(depth + 1) })
	case c == '[':
		return r.skipArray(depth)
	case c == '"':
		_, err := r.string()
		return err
	case c == '-' || c >= '0' && c <= '9':
		if text := r.number(); !json.Valid(text) {
			return r.wrong("a number that is none")
		}
		return nil
	}
	for _, word := range [...]string{"null", "true", "false"} {
		if bytes.HasPrefix(r.text[r.at:], []byte(word)) {
			r.at += len(word)
			return nil
		}
	}
	return r.wrong("wanted is a value")
}

func (r *reader) skipArray(depth int) error {
	r.at++
	if r.peek() == ']' {
		r.at++
		return nil
	}
	for {
		if err := r.skip(depth + 1); err != nil {
			return err
		}
		if r.peek() != ',' {
			return r.take(']')
		}
		r.at++
	}
}

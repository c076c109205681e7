package json

import (
	"bytes"
	"io"
)

// End checks that only white space follows.
func (d *Decoder) End() {
	d.Peek()
	if d.Err == nil && (d.pos < d.end || d.srcErr != io.EOF) {
		d.fail()
	}
}

// Enter enters the array or object at the present position.
func (d *Decoder) Enter() {
	if len(d.open) >= maxDepth {
		d.Fail(ErrDepth)
		return
	}
	d.open = append(d.open, d.buf[d.pos]+2) // ']' and '}' follow their counterparts at a distance of two
	d.pos++
}

// Next moves to the next element of the innermost array or object, and adds one
// to n, which must be 0 at first. After the last element it leaves the array or
// object and returns false.
func (d *Decoder) Next(n *int) bool {
	c := d.Peek()
	if d.Err != nil {
		return false
	}
	if c == d.open[len(d.open)-1] {
		d.pos++
		d.open = d.open[:len(d.open)-1]
		return false
	}
	if *n > 0 {
		if c != ',' {
			d.fail()
			return false
		}
		d.pos++
	}
	*n++
	return true
}

// Key reads the name of a member and the colon after it. The result is valid
// until the next string is read.
func (d *Decoder) Key() []byte {
	if d.Peek() != '"' {
		d.fail()
		return nil
	}
	d.ReadString(true)
	if d.Peek() != ':' {
		d.fail()
		return nil
	}
	d.pos++
	return d.Text
}

// ReadLiteral reads true, false or null.
func (d *Decoder) ReadLiteral() {
	for _, w := range [...]string{"true", "false", "null"} {
		if d.buf[d.pos] == w[0] {
			d.need(len(w))
			if !bytes.HasPrefix(d.buf[d.pos:d.end], []byte(w)) {
				break
			}
			d.pos += len(w)
			return
		}
	}
	d.fail()
}

// SkipScalar skips the value that begins with c, which must not be an array or
// an object.
func (d *Decoder) SkipScalar(c byte) {
	switch {
	case c == '"':
		d.ReadString(false)
	case isNumber(c):
		d.ReadNumber()
	case c == 't' || c == 'f' || c == 'n':
		d.ReadLiteral()
	default:
		d.fail()
	}
}

// Skip checks and skips a value of any kind. It does not recurse.
func (d *Decoder) Skip() {
	base := len(d.open)
	n := 0 // whether the innermost array or object has had an element: all that Next must know
	for d.Err == nil {
		if c := d.Peek(); c == '{' || c == '[' {
			d.Enter()
			n = 0
		} else {
			d.SkipScalar(c)
		}
		for len(d.open) > base && !d.Next(&n) {
			if d.Err != nil {
				return
			}
			n = 1 // the array or object that was left is an element itself
		}
		if len(d.open) == base {
			return
		}
		if d.open[len(d.open)-1] == '}' {
			d.Key()
		}
	}
}

// IsTruthy reads a value and reports whether it is neither null, false, zero nor
// empty.
func (d *Decoder) IsTruthy() bool {
	c := d.Peek()
	switch {
	case c == '"':
		d.ReadString(true)
		return len(d.Text) > 0
	case isNumber(c):
		literal, _ := d.ReadNumber()
		mantissa, _, _ := bytes.Cut(bytes.ToLower(literal), []byte("e"))
		return bytes.ContainsAny(mantissa, "123456789")
	case c == '{' || c == '[':
		d.Enter()
		n := 0
		for d.Next(&n) {
			if c == '{' {
				d.Key()
			}
			d.Skip()
		}
		return n > 0
	}
	d.SkipScalar(c)
	return c == 't'
}

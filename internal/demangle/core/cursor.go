package core

// maxNumber bounds the numbers in a name. Lengths and indices are smaller.
const maxNumber = 1 << 24

// Cursor reads a mangled name from left to right.
type Cursor struct {
	Text []byte
	Pos  int
	End  int // of the part of Text that is read
}

// Peek returns the next byte, zero at the end.
func (c *Cursor) Peek() byte {
	if c.Pos >= c.End {
		return 0
	}
	return c.Text[c.Pos]
}

// PeekAt returns the byte after the next i ones, zero at the end.
func (c *Cursor) PeekAt(i int) byte {
	if c.Pos+i >= c.End {
		return 0
	}
	return c.Text[c.Pos+i]
}

// Next reads a byte. It returns zero at the end.
func (c *Cursor) Next() byte {
	b := c.Peek()
	if c.Pos < c.End {
		c.Pos++
	}
	return b
}

// Accept reads the next byte if it is b, and reports whether it was.
func (c *Cursor) Accept(b byte) bool {
	if c.Pos >= c.End || c.Text[c.Pos] != b {
		return false
	}
	c.Pos++
	return true
}

// HasNext reports whether the text continues with s.
func (c *Cursor) HasNext(s string) bool {
	return c.End-c.Pos >= len(s) && string(c.Text[c.Pos:c.Pos+len(s)]) == s
}

// AcceptString reads s if the text continues with it, and reports whether it did.
func (c *Cursor) AcceptString(s string) bool {
	if !c.HasNext(s) {
		return false
	}
	c.Pos += len(s)
	return true
}

// Natural reads a decimal number. It returns -1 if there is none or if it is
// out of range.
func (c *Cursor) Natural() int {
	n := -1
	for IsDigit(c.Peek()) {
		if n = max(n, 0)*10 + int(c.Next()-'0'); n > maxNumber {
			return -1
		}
	}
	return n
}

// Since returns the text that was read since position at.
func (c *Cursor) Since(at int) string { return string(c.Text[at:c.Pos]) }

package demangle

import "strings"

// cursor goes through a mangled name.
type cursor struct {
	text []byte
	pos  int
	end  int // of the name
}

// peek is the next letter, zero at the end.
func (c *cursor) peek() byte {
	if c.pos >= c.end {
		return 0
	}
	return c.text[c.pos]
}

func (c *cursor) next() byte {
	b := c.peek()
	if c.pos < c.end {
		c.pos++
	}
	return b
}

// nextIf takes the next letter if it is this one.
func (c *cursor) nextIf(b byte) bool {
	if c.pos >= c.end || c.text[c.pos] != b {
		return false
	}
	c.pos++
	return true
}

// natural reads a number, -1 if there is none or it is too large.
func (c *cursor) natural() int {
	n := -1
	for isDigit(c.peek()) {
		if n = max(n, 0)*10 + int(c.next()-'0'); n > 1<<24 {
			return -1
		}
	}
	return n
}

// since is what was read from a place on.
func (c *cursor) since(at int) string { return string(c.text[at:c.pos]) }

func isLower(c byte) bool { return c >= 'a' && c <= 'z' }
func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }
func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// hexDigit is the value of a digit, -1 if it is none. Nobody mangles with
// upper case ones.
func hexDigit(c byte) int { return strings.IndexByte("0123456789abcdef", c) }

// isHash says whether a text is hexadecimal. LLVM has at signs in it.
func isHash(text []byte) bool {
	for _, c := range text {
		if hexDigit(c|0x20) < 0 && c != '@' {
			return false
		}
	}
	return true
}

// printable says whether a text is plain ASCII without blanks.
func printable(text []byte) bool {
	for _, c := range text {
		if c <= ' ' || c >= 0x7f {
			return false
		}
	}
	return true
}

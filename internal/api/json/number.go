package json

import (
	"bytes"
	"strconv"
)

// SmallInt reads the integer at the present position if it has at most 18 digits
// and is in the buffer as a whole; otherwise it reads nothing. Nearly all numbers
// of a request are such integers.
func (d *Decoder) SmallInt() (v int64, ok bool) {
	const maxDigits = 18 // fit in an int64 whatever they are
	i := d.pos
	negative := i < d.end && d.buf[i] == '-'
	if negative {
		i++
	}
	from := i
	for i < d.end && i-from < maxDigits && '0' <= d.buf[i] && d.buf[i] <= '9' {
		v = v*10 + int64(d.buf[i]-'0')
		i++
	}
	if i == from || i == d.end || isNumeric(d.buf[i]) || d.buf[from] == '0' && i-from > 1 {
		return 0, false
	}
	d.pos = i
	if negative {
		v = -v
	}
	return v, true
}

// ReadNumber reads the number at the present position, and reports whether it is
// written as an integer. The literal is valid until the next read.
func (d *Decoder) ReadNumber() (literal []byte, integer bool) {
	n := 0
	for {
		for d.pos+n < d.end && isNumeric(d.buf[d.pos+n]) {
			n++
		}
		if d.pos+n < d.end || n > maxNumber || !d.fill() {
			break
		}
	}
	literal = d.buf[d.pos : d.pos+n]
	d.pos += n
	integer, ok := checkNumber(literal)
	if !ok || n > maxNumber {
		d.fail()
		return nil, false
	}
	return literal, integer
}

// isNumber reports whether a value that begins with c is a number.
func isNumber(c byte) bool { return c == '-' || '0' <= c && c <= '9' }

func isNumeric(c byte) bool {
	return '0' <= c && c <= '9' || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E'
}

// checkNumber reports whether literal is a number, and one without a fraction or
// an exponent.
func checkNumber(literal []byte) (integer, ok bool) {
	literal = bytes.TrimPrefix(literal, []byte("-"))
	whole := countDigits(literal)
	if whole == 0 || whole > 1 && literal[0] == '0' {
		return false, false
	}
	literal = literal[whole:]
	if len(literal) == 0 {
		return true, true
	}
	if literal[0] == '.' {
		n := countDigits(literal[1:])
		if n == 0 {
			return false, false
		}
		literal = literal[1+n:]
	}
	if len(literal) > 0 && literal[0]|0x20 == 'e' {
		literal = literal[1:]
		if len(literal) > 0 && (literal[0] == '+' || literal[0] == '-') {
			literal = literal[1:]
		}
		n := countDigits(literal)
		return false, n > 0 && n == len(literal)
	}
	return false, len(literal) == 0
}

// countDigits returns the number of decimal digits that literal begins with.
func countDigits(literal []byte) int {
	n := 0
	for n < len(literal) && '0' <= literal[n] && literal[n] <= '9' {
		n++
	}
	return n
}

// AppendHex appends 0x and the hexadecimal digits of v.
func AppendHex(dst []byte, v uint64) []byte {
	return strconv.AppendUint(append(dst, "0x"...), v, 16)
}

package breakpad

import "bytes"

const (
	// MaxLine is how long a line may be.
	MaxLine = 1 << 20
	// MaxName is how long a name may be, and how far into its line its fields
	// may reach. It is cut there.
	MaxName = 64 << 10
)

// digit is the value of each hexadecimal digit, and more than 15 of every
// other byte.
var digit = func() (t [256]uint8) {
	for i := range t {
		t[i] = 0xff
	}
	for i := range 10 {
		t['0'+i] = uint8(i)
	}
	for i := range 6 {
		t['a'+i], t['A'+i] = uint8(10+i), uint8(10+i)
	}
	return t
}()

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

// trimEnd takes blanks and the rest of a line end away.
func trimEnd(b []byte) []byte {
	for len(b) > 0 {
		switch b[len(b)-1] {
		case ' ', '\t', '\r', '\n', '\v', '\f':
			b = b[:len(b)-1]
		default:
			return b
		}
	}
	return b
}

func skipBlanks(b []byte) []byte {
	for len(b) > 0 && isBlank(b[0]) {
		b = b[1:]
	}
	return b
}

// hexField reads a hexadecimal number and the blanks behind it. It must be
// there, fit in 64 bits, and end at a blank or at the end.
func hexField(b []byte) (v uint64, rest []byte, ok bool) {
	i := 0
	for ; i < len(b); i++ {
		d := digit[b[i]]
		if d > 15 {
			break
		}
		if v>>60 != 0 {
			return 0, b, false
		}
		v = v<<4 | uint64(d)
	}
	if i == 0 || i < len(b) && !isBlank(b[i]) {
		return 0, b, false
	}
	return v, skipBlanks(b[i:]), true
}

// decField reads a decimal number as hexField does a hexadecimal one.
func decField(b []byte) (v uint64, rest []byte, ok bool) {
	i := 0
	for ; i < len(b); i++ {
		d := uint64(b[i] - '0')
		if d > 9 {
			break
		}
		if v > (1<<64-1)/10 || v*10 > 1<<64-1-d {
			return 0, b, false
		}
		v = v*10 + d
	}
	if i == 0 || i < len(b) && !isBlank(b[i]) {
		return 0, b, false
	}
	return v, skipBlanks(b[i:]), true
}

// lineField is decField for line numbers: below zero is zero, and what does
// not fit in 32 bits wraps.
func lineField(b []byte) (v uint32, rest []byte, ok bool) {
	if len(b) > 0 && b[0] == '-' {
		_, rest, ok = decField(b[1:])
		return 0, rest, ok
	}
	wide, rest, ok := decField(b)
	return uint32(wide), rest, ok
}

// word cuts the first word off.
func word(b []byte) (w, rest []byte) {
	i := 0
	for i < len(b) && !isBlank(b[i]) {
		i++
	}
	return b[:i], skipBlanks(b[i:])
}

// body is what follows the keyword of a record.
func body(line []byte, keyword string) []byte {
	return skipBlanks(line[len(keyword):])
}

// hasWord tells whether a line begins with this keyword and a space. A tab
// does not count, to no reader of this format.
func hasWord(line []byte, keyword string) bool {
	return len(line) > len(keyword) && line[len(keyword)] == ' ' && string(line[:len(keyword)]) == keyword
}

// isRow tells whether a line looks like a line record: behind blanks it begins
// with a decimal digit, or with a word of hexadecimal digits.
func isRow(line []byte) bool {
	line = skipBlanks(line)
	if len(line) > 0 && line[0]-'0' <= 9 {
		return true
	}
	for i, c := range line {
		if digit[c] > 15 {
			return i > 0 && isBlank(c)
		}
	}
	return len(line) > 0
}

// firstLine is text up to the end of its first line, as far as a name may
// reach.
func firstLine(text []byte) []byte {
	text = text[:min(len(text), MaxName)]
	if i := bytes.IndexByte(text, '\n'); i >= 0 {
		text = text[:i]
	}
	return trimEnd(text)
}

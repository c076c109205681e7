package breakpad

import "bytes"

const (
	// MaxLine is the largest length of a line.
	MaxLine = 1 << 20
	// MaxName is the largest length of a name, and the limit within its line of
	// its fields. The name is truncated there.
	MaxName = 64 << 10
)

// digit maps a hexadecimal digit to its value, and every other byte to 0xff.
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

// trimEnd trims blanks and line ends from the end of b.
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

// hexField reads a hexadecimal number and the blanks after it. The number must
// fit in 64 bits, and end at a blank or at the end of b.
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

// decField reads a decimal number under the same conditions as hexField.
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

// lineField reads a line number like decField. A negative number becomes zero,
// and a number beyond 32 bits wraps around.
func lineField(b []byte) (v uint32, rest []byte, ok bool) {
	if len(b) > 0 && b[0] == '-' {
		_, rest, ok = decField(b[1:])
		return 0, rest, ok
	}
	wide, rest, ok := decField(b)
	return uint32(wide), rest, ok
}

// word returns the first word of b and the text after it.
func word(b []byte) (w, rest []byte) {
	i := 0
	for i < len(b) && !isBlank(b[i]) {
		i++
	}
	return b[:i], skipBlanks(b[i:])
}

// body returns the text after the keyword of a record.
func body(line []byte, keyword string) []byte {
	return skipBlanks(line[len(keyword):])
}

// hasWord reports whether a line begins with this keyword and a space. All
// readers of the format require a space there, not a tab.
func hasWord(line []byte, keyword string) bool {
	return len(line) > len(keyword) && line[len(keyword)] == ' ' && string(line[:len(keyword)]) == keyword
}

// isRow reports whether a line looks like a line record: its first word begins
// with a decimal digit, or consists of hexadecimal digits.
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

// firstLine returns text up to the end of its first line, at most MaxName
// bytes.
func firstLine(text []byte) []byte {
	text = text[:min(len(text), MaxName)]
	if i := bytes.IndexByte(text, '\n'); i >= 0 {
		text = text[:i]
	}
	return trimEnd(text)
}

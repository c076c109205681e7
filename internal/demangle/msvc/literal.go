package msvc

import "symbolon/internal/demangle/core"

const (
	// msvcWhole is how many letters of a text are in a name at most, msvcOld how
	// many bytes some compilers had.
	msvcWhole = 32
	msvcOld   = 4 * msvcWhole
)

// parseLiteral reads the name of a text: the width of its letters, its length in
// bytes, a checksum, and the beginning of the text.
func (m *demangler) parseLiteral() ref {
	n := node{kind: mLiteral, code: 1}
	m.expect("@_")
	if m.Accept('1') {
		n.code = 2
	} else {
		m.expect("0")
	}
	n.number, n.negative = m.parseNumber()
	if n.negative || n.number < uint64(n.code) {
		return m.fail()
	}
	m.parsePlain(false) // the checksum
	n.from = uint16(m.Pos)
	count := 0
	for ; !m.Failed && m.Peek() != '@'; count++ {
		m.parseLetter()
	}
	if count > msvcOld || count%int(n.code) != 0 {
		return m.fail()
	}
	n.to = uint16(m.Pos)
	m.expect("@")
	return m.Add(n)
}

// parseLetter reads one byte of a text: as it is; ?$ and two letters from A to P;
// ? and a digit for frequent bytes; ? and a letter with the highest bit set.
func (m *demangler) parseLetter() byte {
	if m.Pos >= m.End {
		m.fail()
	}
	c := m.Next()
	if c != '?' {
		return c
	}
	switch c = m.Next(); {
	case core.IsDigit(c):
		return ",/\\:. \n\t'-"[c-'0']
	case core.IsLower(c), core.IsUpper(c):
		return c | 0x80
	case c == '$':
		high, low := m.Next()-'A', m.Next()-'A'
		if high < 16 && low < 16 {
			return high<<4 | low
		}
	}
	m.fail()
	return 0
}

// printLiteral writes a text in quotation marks, with dots after it if the name
// has only its beginning. The zero at the end is not part of it.
func (m *demangler) printLiteral(node *node) {
	var memory [msvcOld]byte
	text := memory[:0]
	end := m.Pos
	for m.Pos = int(node.from); m.Pos < int(node.to); {
		text = append(text, m.parseLetter())
	}
	m.Pos = end
	width := int(node.code)
	cut := node.number > uint64(len(text))
	if width == 2 {
		cut = node.number > 2*msvcWhole
		m.AppendString("L")
	} else if width = charWidth(text, node.number); width > 1 {
		m.AppendString([...]string{2: "u", 4: "U"}[width])
	}
	m.AppendString(`"`)
	letters := len(text) / width
	if !cut && letters > 0 && (node.code == 1 || uint64(len(text)) == node.number) {
		letters--
	}
	for i := range letters {
		c := uint32(0)
		for j := range width {
			b := uint32(text[i*width+j])
			if node.code == 2 {
				c = c<<8 | b // the high byte of a wide letter comes first
			} else {
				c |= b << (8 * j)
			}
		}
		m.printLetter(c)
	}
	m.AppendString(`"`)
	if cut {
		m.AppendString("...")
	}
}

// charWidth estimates the size of a letter in a text of length bytes. For char16_t and
// char32_t the name does not contain it. The zeros show it: at the end of a short text,
// and throughout the beginning of a long one.
func charWidth(text []byte, length uint64) int {
	if length%2 == 1 {
		return 1
	}
	zeros, trailing := 0, 0
	for _, c := range text {
		if trailing++; c != 0 {
			trailing = 0
		} else {
			zeros++
		}
	}
	two, four := trailing >= 2, trailing >= 4
	if length >= msvcWhole {
		two, four = zeros >= len(text)/3, zeros >= 2*len(text)/3
	}
	switch {
	case four && length%4 == 0:
		return 4
	case two:
		return 2
	}
	return 1
}

// printLetter writes a letter as it is written in C.
func (m *demangler) printLetter(c uint32) {
	const escaped, letters = "\x00'\"\\\a\b\f\n\r\t\v", "0'\"\\abfnrtv"
	for i := range escaped {
		if c == uint32(escaped[i]) {
			m.Out = append(m.Out, '\\', letters[i])
			return
		}
	}
	if c >= ' ' && c < 0x7f {
		m.Out = append(m.Out, byte(c))
		return
	}
	m.AppendString("\\x")
	for shift := 24; shift >= 0; shift -= 8 {
		if b := byte(c >> shift); c>>shift != 0 {
			m.Out = append(m.Out, "0123456789ABCDEF"[b>>4], "0123456789ABCDEF"[b&15])
		}
	}
}

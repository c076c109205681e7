package itanium

import (
	"math"
	"strconv"
	"strings"
)

// suffixes are those of literals, by the letters of their types. The others have
// their type before them.
var suffixes = [26]string{'i' - 'a': " ", 'j' - 'a': "u", 'l' - 'a': "l", 'm' - 'a': "ul", 'x' - 'a': "ll", 'y' - 'a': "ull"}

func (p *printer) printLiteral(n *node) {
	value := p.name[n.at : n.at+n.n]
	suffix, isFloat := "", false
	switch t := &p.Nodes[p.resolve(n.a)]; {
	case t.kind == kindNullptr && (n.n == 0 || n.n == 1 && value[0] == '0'):
		if p.isLLVM {
			p.AppendString("nullptr")
		} else {
			p.print(n.a)
		}
		return
	case t.kind != kindBuiltin:
	case t.word == 'b'-'a' && n.num == 0 && n.n == 1 && (value[0] == '0' || value[0] == '1'):
		p.AppendString([]string{"false", "true"}[value[0]-'0'])
		return
	case t.word < 26 && suffixes[t.word] != "":
		if suffix = suffixes[t.word]; suffix == " " {
			suffix = ""
		}
		p.printValue(n.num, value, suffix)
		return
	case t.word >= 'd'-'a' && t.word <= 'g'-'a' || t.word == wordHalf:
		if isFloat = true; p.isLLVM && n.num == 0 && p.printFloat(t.word, string(value)) {
			return
		}
	}
	p.openParen()
	p.print(n.a)
	p.closeParen()
	if isFloat {
		p.AppendByte('[')
	}
	p.printValue(n.num, value, suffix)
	if isFloat {
		p.AppendByte(']')
	}
}

func (p *printer) printValue(sign int32, value []byte, suffix string) {
	if sign != 0 {
		p.AppendByte('-')
	}
	p.Out = append(p.Out, value...)
	p.AppendString(suffix)
}

// printFloat writes a number as C's %a does, if its bits have the size of its
// type.
func (p *printer) printFloat(w word, bits string) bool {
	var value float64
	size, suffix := 64, ""
	switch w {
	case 'd' - 'a':
	case 'f' - 'a':
		size, suffix = 32, "f"
	default:
		return false
	}
	b, err := strconv.ParseUint(bits, 16, size)
	if err != nil || len(bits) != size/4 {
		return false
	}
	if value = math.Float64frombits(b); size == 32 {
		value = float64(math.Float32frombits(uint32(b)))
	}
	text := strconv.FormatFloat(value, 'x', -1, 64)
	if i := strings.IndexByte(text, 'p'); i > 0 && i+3 < len(text) && text[i+2] == '0' {
		text = text[:i+2] + text[i+3:] // Go writes two digits at least
	}
	p.AppendString(text)
	p.AppendString(suffix)
	return true
}

// printString writes the characters of an array as a string, if they are.
func (p *printer) printString(n *node) bool {
	array := &p.Nodes[p.resolve(n.a)]
	if element := &p.Nodes[array.a]; array.kind != kindArray || element.kind != kindBuiltin || element.word != wordChar {
		return false
	}
	text := make([]byte, 0, n.n)
	for _, id := range p.list(n) {
		c := &p.Nodes[id]
		if c.kind != kindLiteral || c.num != 0 {
			return false
		}
		value, err := strconv.ParseUint(string(p.name[c.at:c.at+c.n]), 10, 8)
		if err != nil {
			return false
		}
		text = append(text, byte(value))
	}
	const escaped = "\a\b\t\n\v\f\r\"\\"
	p.AppendByte('"')
	for _, c := range text {
		if i := strings.IndexByte(escaped, c); i >= 0 {
			p.AppendByte('\\')
			p.AppendByte(`abtnvfr"\`[i])
		} else if c < ' ' || c >= 0x7f {
			p.AppendString(`\x`)
			p.AppendByte("0123456789ABCDEF"[c>>4])
			p.AppendByte("0123456789ABCDEF"[c&15])
		} else {
			p.AppendByte(c)
		}
	}
	p.AppendByte('"')
	return true
}

package cpp

import (
	"math"
	"strconv"
	"strings"
)

// suffixes are those of literals, by the letters of their types. The others have
// their type before them.
var suffixes = [26]string{'i' - 'a': " ", 'j' - 'a': "u", 'l' - 'a': "l", 'm' - 'a': "ul", 'x' - 'a': "ll", 'y' - 'a': "ull"}

// printLiteral writes a value. Integers have a suffix for their type, other values
// the type in parentheses.
func (p *Printer) printLiteral(n *Node) {
	value := p.name[n.At : n.At+n.N]
	suffix, isFloat := "", false
	switch t := &p.Nodes[p.resolve(n.A)]; {
	case t.Kind == KindNullptr && (n.N == 0 || n.N == 1 && value[0] == '0'):
		if p.isLLVM {
			p.AppendString("nullptr")
		} else {
			p.Print(n.A)
		}
		return
	case t.Kind != KindBuiltin:
	case t.Word == 'b'-'a' && n.Num == 0 && n.N == 1 && (value[0] == '0' || value[0] == '1'):
		p.AppendString([]string{"false", "true"}[value[0]-'0'])
		return
	case t.Word < 26 && suffixes[t.Word] != "":
		if suffix = suffixes[t.Word]; suffix == " " {
			suffix = ""
		}
		p.printValue(n.Num, value, suffix)
		return
	case t.Word >= 'd'-'a' && t.Word <= 'g'-'a' || t.Word == WordHalf:
		if isFloat = true; p.isLLVM && n.Num == 0 && p.printFloat(t.Word, string(value)) {
			return
		}
	}
	p.printInParens(n.A)
	if isFloat {
		p.AppendByte('[')
	}
	p.printValue(n.Num, value, suffix)
	if isFloat {
		p.AppendByte(']')
	}
}

// printValue writes the digits of a literal.
func (p *Printer) printValue(sign int32, value []byte, suffix string) {
	if sign != 0 {
		p.AppendByte('-')
	}
	p.Out = append(p.Out, value...)
	p.AppendString(suffix)
}

// printFloat writes a number as C's %a does, if its bits have the size of its
// type.
func (p *Printer) printFloat(w Word, bits string) bool {
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
func (p *Printer) printString(n *Node) bool {
	array := &p.Nodes[p.resolve(n.A)]
	if element := &p.Nodes[array.A]; array.Kind != KindArray || element.Kind != KindBuiltin || element.Word != WordChar {
		return false
	}
	text := make([]byte, 0, n.N)
	for _, id := range p.List(n) {
		c := &p.Nodes[id]
		if c.Kind != KindLiteral || c.Num != 0 {
			return false
		}
		value, err := strconv.ParseUint(string(p.name[c.At:c.At+c.N]), 10, 8)
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

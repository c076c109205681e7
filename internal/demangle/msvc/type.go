package msvc

import (
	"strings"

	"symbolon/internal/demangle/core"
)

// msvcTypes are the types of one letter, and behind an underscore, A to Z.
// LLVM spells some as the compiler does.
var (
	msvcTypes = [26]string{
		'C' - 'A': "signed char", "char", "unsigned char", "short", "unsigned short", "int", "unsigned int", "long", "unsigned long", "",
		"float", "double", "long double",
		'X' - 'A': "void",
	}
	msvcMoreTypes = [26]string{
		'D' - 'A': "int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t", "uint32_t", "int64_t", "uint64_t", "int128_t", "uint128_t",
		"bool", "",
		'P' - 'A': "auto", "char8_t", "", "char16_t", "decltype(auto)", "char32_t", "",
		'W' - 'A': "wchar_t",
	}
)

// typ reads a type.
func (m *msvc) typ() ref {
	if !m.enter() {
		return 0
	}
	defer m.leave()
	switch c := m.Next(); c {
	case 'T':
		return m.tag("union ")
	case 'U':
		return m.tag("struct ")
	case 'V':
		return m.tag("class ")
	case 'W': // the digit says which integers it holds
		if c := m.Next(); c < '0' || c > '7' {
			return m.fail()
		}
		return m.tag("enum ")
	case '?': // auto, and what only some compilers have
		name := m.add(msvcNode{kind: mScope, first: m.leaf(true)})
		m.want("@")
		return m.add(msvcNode{kind: mTag, first: name})
	case 'Y':
		return m.array()
	case 'P', 'Q', 'R', 'S':
		return m.pointer("*", uint16(c-'P')) // none, const, volatile, both
	case 'A', 'B':
		return m.pointer("&", uint16(c-'A')<<1)
	case '$':
		return m.marked()
	default:
		return m.builtin(c)
	}
}

// marked reads a type behind a dollar.
func (m *msvc) marked() ref {
	switch {
	case m.skip("$Q"):
		return m.pointer("&&", 0)
	case m.skip("$R"):
		return m.pointer("&&", qVolatile)
	case m.skip("$T"):
		return m.add(msvcNode{kind: mText, word: "std::nullptr_t"})
	case m.skip("$A6"):
		return m.function(false)
	case m.skip("$A8@@"):
		return m.function(true)
	case m.skip("$C"):
		return m.qualified()
	case m.skip("$B"):
		return m.typ()
	}
	return m.fail()
}

func (m *msvc) builtin(c byte) ref {
	table := &msvcTypes
	if c == '_' {
		table, c = &msvcMoreTypes, m.Next()
	}
	if !core.IsUpper(c) || table[c-'A'] == "" {
		return m.fail()
	}
	word := table[c-'A']
	if m.words {
		word = microsoft(word)
	}
	return m.add(msvcNode{kind: mText, word: word})
}

// microsoft is the compiler's word for an integer with a number of bits.
func microsoft(word string) string {
	bits, ok := strings.CutSuffix(word, "_t")
	if !ok {
		return word
	}
	if bits, ok := strings.CutPrefix(bits, "uint"); ok {
		return "unsigned __int" + bits
	}
	if bits, ok := strings.CutPrefix(bits, "int"); ok {
		return "__int" + bits
	}
	return word
}

func (m *msvc) tag(word string) ref {
	if m.style != core.LLVM {
		word = ""
	}
	return m.add(msvcNode{kind: mTag, word: word, first: m.typeName()})
}

// qualified reads a type behind its qualifiers.
func (m *msvc) qualified() ref {
	quals, _ := m.qualifiers()
	n := m.typ()
	m.nodes[n].quals |= quals
	return n
}

// result reads the type of a result.
func (m *msvc) result() ref {
	if m.Accept('?') {
		return m.qualified()
	}
	return m.typ()
}

// qualifiers reads const and volatile, and whether it is those of a member.
func (m *msvc) qualifiers() (quals uint16, member bool) {
	switch c := m.Next(); {
	case c >= 'A' && c <= 'D':
		return uint16(c - 'A'), false
	case c >= 'Q' && c <= 'T':
		return uint16(c - 'Q'), true
	}
	m.fail()
	return 0, false
}

// extended reads what else can be said of a pointer. That it has 64 bits is
// said nowhere else.
func (m *msvc) extended() (quals uint16) {
	for {
		switch m.Peek() {
		case 'E':
		case 'F':
			quals |= qUnaligned
		case 'I':
			quals |= qRestrict
		default:
			return quals
		}
		m.Pos++
	}
}

func (m *msvc) pointer(sign string, quals uint16) ref {
	n := msvcNode{kind: mPointer, word: sign, quals: quals}
	switch {
	case m.Accept('6'):
		n.first = m.function(false)
	case m.Accept('8'):
		n.second = m.typeName()
		n.first = m.function(true)
	default:
		n.quals |= m.extended()
		if m.skip("$A") { // to what is collected: C++/CLI and C++/CX
			n.word = "^"
		} else if m.skip("$C") {
			n.word = "%"
		}
		of, member := m.qualifiers()
		if member {
			n.second = m.typeName()
		}
		n.first = m.typ()
		m.nodes[n.first].quals |= of
	}
	return m.add(n)
}

func (m *msvc) array() ref {
	rank, negative := m.numeral()
	if rank == 0 || negative || rank > uint64(m.End-m.Pos) {
		return m.fail()
	}
	n := msvcNode{kind: mArray, second: m.offsets(int(rank), mNumber)}
	if m.skip("$$C") {
		n.quals, _ = m.qualifiers()
	}
	n.first = m.typ()
	return m.add(n)
}

// msvcConventions are how functions are called.
var msvcConventions = [...]string{
	'A': "__cdecl", 'B': "__cdecl", 'C': "__pascal", 'D': "__pascal", 'E': "__thiscall", 'F': "__thiscall",
	'G': "__stdcall", 'H': "__stdcall", 'I': "__fastcall", 'J': "__fastcall", 'M': "__clrcall", 'N': "__clrcall",
	'O': "__eabi", 'P': "__eabi", 'Q': "__vectorcall", 'S': "__attribute__((__swiftcall__)) ",
	'W': "__attribute__((__swiftasynccall__)) ", 'w': "__regcall",
}

// convention reads one.
func (m *msvc) convention() byte {
	c := m.Next()
	if int(c) >= len(msvcConventions) || msvcConventions[c] == "" {
		m.fail()
		return 0
	}
	return c
}

// function reads the type of a function. That of a member says how the object
// is qualified.
func (m *msvc) function(member bool) ref {
	n := msvcNode{kind: mFunction}
	if member {
		n.quals = m.extended()
		m.skip("$A") // of an object that is collected
		if m.Accept('G') {
			n.quals |= qLvalue
		} else if m.Accept('H') {
			n.quals |= qRvalue
		}
		quals, _ := m.qualifiers()
		n.quals |= quals
	}
	n.code = m.convention()
	if !m.Accept('@') {
		n.first = m.result()
	}
	variadic := false
	if n.second, variadic = m.parameters(); variadic {
		n.quals |= qVariadic
	}
	if m.skip("_E") {
		n.quals |= qNoexcept
	} else {
		m.want("Z")
	}
	return m.add(n)
}

func (m *msvc) parameters() (list ref, variadic bool) {
	if m.Accept('X') {
		return 0, false
	}
	var params msvcList
	for !m.failed {
		switch c := m.Peek(); {
		case c == '@':
			m.Pos++
			return params.head, false
		case c == 'Z':
			m.Pos++
			return params.head, true
		case core.IsDigit(c):
			m.Pos++
			if int(c-'0') >= m.known.typeCount {
				m.fail()
			}
			m.grow(&params, m.known.types[c-'0'])
		default:
			at, known := m.Pos, &m.known
			n := m.typ()
			if m.Pos-at > 1 && known.typeCount < len(known.types) {
				known.types[known.typeCount] = n
				known.typeCount++
			}
			m.grow(&params, n)
		}
	}
	return 0, false
}

package msvc

import (
	"strings"

	"symbolon/internal/demangle/core"
)

// The types of one letter, and those of one letter after an underscore, A to Z.
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

// parseType reads a type.
func (m *demangler) parseType() ref {
	if !m.enter() {
		return 0
	}
	defer m.Leave()
	switch c := m.Next(); c {
	case 'T':
		return m.parseTag("union ")
	case 'U':
		return m.parseTag("struct ")
	case 'V':
		return m.parseTag("class ")
	case 'W': // the digit is the size of its integers
		if c := m.Next(); c < '0' || c > '7' {
			return m.fail()
		}
		return m.parseTag("enum ")
	case '?': // auto, and types of some compilers
		name := m.Add(node{kind: mScope, first: m.parseLeaf(true)})
		m.expect("@")
		return m.Add(node{kind: mTag, first: name})
	case 'Y':
		return m.parseArray()
	case 'P', 'Q', 'R', 'S':
		return m.parsePointer("*", uint16(c-'P')) // none, const, volatile, both
	case 'A', 'B':
		return m.parsePointer("&", uint16(c-'A')<<1)
	case '$':
		return m.parseDollarType()
	default:
		return m.parseBuiltin(c)
	}
}

// parseDollarType reads a type after its dollar.
func (m *demangler) parseDollarType() ref {
	switch {
	case m.AcceptString("$Q"):
		return m.parsePointer("&&", 0)
	case m.AcceptString("$R"):
		return m.parsePointer("&&", qVolatile)
	case m.AcceptString("$T"):
		return m.Add(node{kind: mText, word: "std::nullptr_t"})
	case m.AcceptString("$A6"):
		return m.parseFunction(false)
	case m.AcceptString("$A8@@"):
		return m.parseFunction(true)
	case m.AcceptString("$C"):
		return m.parseQualified()
	case m.AcceptString("$B"):
		return m.parseType()
	}
	return m.fail()
}

func (m *demangler) parseBuiltin(c byte) ref {
	table := &msvcTypes
	if c == '_' {
		table, c = &msvcMoreTypes, m.Next()
	}
	if !core.IsUpper(c) || table[c-'A'] == "" {
		return m.fail()
	}
	word := table[c-'A']
	if m.hasKeywords {
		word = keywordOf(word)
	}
	return m.Add(node{kind: mText, word: word})
}

// keywordOf returns the compiler's word for an integer with a number of bits.
func keywordOf(word string) string {
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

func (m *demangler) parseTag(word string) ref {
	if m.style != core.LLVM {
		word = ""
	}
	return m.Add(node{kind: mTag, word: word, first: m.parseTypeName()})
}

// parseQualified reads a type after its qualifiers.
func (m *demangler) parseQualified() ref {
	quals, _ := m.parseQualifiers()
	n := m.parseType()
	m.Nodes[n].quals |= quals
	return n
}

// parseResult reads the type of a result.
func (m *demangler) parseResult() ref {
	if m.Accept('?') {
		return m.parseQualified()
	}
	return m.parseType()
}

// parseQualifiers reads const and volatile, and whether they belong to a member.
func (m *demangler) parseQualifiers() (quals uint16, member bool) {
	switch c := m.Next(); {
	case c >= 'A' && c <= 'D':
		return uint16(c - 'A'), false
	case c >= 'Q' && c <= 'T':
		return uint16(c - 'Q'), true
	}
	m.fail()
	return 0, false
}

// parseModifiers reads the other modifiers of a pointer. Only here is written
// that it has 64 bits.
func (m *demangler) parseModifiers() (quals uint16) {
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

func (m *demangler) parsePointer(sign string, quals uint16) ref {
	n := node{kind: mPointer, word: sign, quals: quals}
	switch {
	case m.Accept('6'):
		n.first = m.parseFunction(false)
	case m.Accept('8'):
		n.second = m.parseTypeName()
		n.first = m.parseFunction(true)
	default:
		n.quals |= m.parseModifiers()
		if m.AcceptString("$A") { // to collected objects: C++/CLI and C++/CX
			n.word = "^"
		} else if m.AcceptString("$C") {
			n.word = "%"
		}
		of, member := m.parseQualifiers()
		if member {
			n.second = m.parseTypeName()
		}
		n.first = m.parseType()
		m.Nodes[n.first].quals |= of
	}
	return m.Add(n)
}

func (m *demangler) parseArray() ref {
	rank, negative := m.parseNumber()
	if rank == 0 || negative || rank > uint64(m.End-m.Pos) {
		return m.fail()
	}
	n := node{kind: mArray, second: m.parseOffsets(int(rank), mNumber)}
	if m.AcceptString("$$C") {
		n.quals, _ = m.parseQualifiers()
	}
	n.first = m.parseType()
	return m.Add(n)
}

// msvcConventions are how functions are called.
var conventions = [...]string{
	'A': "__cdecl", 'B': "__cdecl", 'C': "__pascal", 'D': "__pascal", 'E': "__thiscall", 'F': "__thiscall",
	'G': "__stdcall", 'H': "__stdcall", 'I': "__fastcall", 'J': "__fastcall", 'M': "__clrcall", 'N': "__clrcall",
	'O': "__eabi", 'P': "__eabi", 'Q': "__vectorcall", 'S': "__attribute__((__swiftcall__)) ",
	'W': "__attribute__((__swiftasynccall__)) ", 'w': "__regcall",
}

// parseConvention reads one.
func (m *demangler) parseConvention() byte {
	c := m.Next()
	if int(c) >= len(conventions) || conventions[c] == "" {
		m.fail()
		return 0
	}
	return c
}

// parseFunction reads the type of a function. That of a member has the qualifiers
// of the object.
func (m *demangler) parseFunction(member bool) ref {
	n := node{kind: mFunction}
	if member {
		n.quals = m.parseModifiers()
		m.AcceptString("$A") // of an object that is collected
		if m.Accept('G') {
			n.quals |= qLvalue
		} else if m.Accept('H') {
			n.quals |= qRvalue
		}
		quals, _ := m.parseQualifiers()
		n.quals |= quals
	}
	n.code = m.parseConvention()
	if !m.Accept('@') {
		n.first = m.parseResult()
	}
	variadic := false
	if n.second, variadic = m.parseParameters(); variadic {
		n.quals |= qVariadic
	}
	if m.AcceptString("_E") {
		n.quals |= qNoexcept
	} else {
		m.expect("Z")
	}
	return m.Add(n)
}

func (m *demangler) parseParameters() (parameters ref, isVariadic bool) {
	if m.Accept('X') {
		return 0, false
	}
	var params list
	for !m.Failed {
		switch c := m.Peek(); {
		case c == '@':
			m.Pos++
			return params.head, false
		case c == 'Z':
			m.Pos++
			return params.head, true
		case core.IsDigit(c):
			m.Pos++
			if int(c-'0') >= m.backrefs.typeCount {
				m.fail()
			}
			m.appendTo(&params, m.backrefs.types[c-'0'])
		default:
			at, known := m.Pos, &m.backrefs
			n := m.parseType()
			if m.Pos-at > 1 && known.typeCount < len(known.types) {
				known.types[known.typeCount] = n
				known.typeCount++
			}
			m.appendTo(&params, n)
		}
	}
	return 0, false
}

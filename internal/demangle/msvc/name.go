package msvc

import (
	"bytes"
	"strings"

	"symbolon/internal/demangle/core"
)

// The names of operators and other special functions, by the letter after ?, ?_
// and ?__, 0 to 9 and A to Z. Those that are missing are read elsewhere or do not
// exist.
var (
	msvcBasic = [36]string{
		"", "", "operator new", "operator delete", "operator=", "operator>>", "operator<<", "operator!", "operator==", "operator!=",
		"operator[]", "", "operator->", "operator*", "operator++", "operator--", "operator-", "operator+", "operator&", "operator->*",
		"operator/", "operator%", "operator<", "operator<=", "operator>", "operator>=", "operator,", "operator()", "operator~", "operator^",
		"operator|", "operator&&", "operator||", "operator*=", "operator+=", "operator-=",
	}
	msvcUnder = [36]string{
		"operator/=", "operator%=", "operator>>=", "operator<<=", "operator&=", "operator|=", "operator^=", "", "", "",
		"`typeof'", "", "", "`vbase destructor'", "`vector deleting destructor'", "`default constructor closure'", "`scalar deleting destructor'",
		"`vector constructor iterator'", "`vector destructor iterator'", "`vector vbase constructor iterator'", "`virtual displacement map'",
		"`eh vector constructor iterator'", "`eh vector destructor iterator'", "`eh vector vbase constructor iterator'", "`copy constructor closure'",
		"`udt returning'", "", "", "", "`local vftable constructor closure'", "operator new[]", "operator delete[]", "",
		"`placement delete closure'", "`placement delete[] closure'", "",
	}
	msvcDouble = [36]string{
		10: "`managed vector constructor iterator'", "`managed vector destructor iterator'", "`EH vector copy constructor iterator'",
		"`EH vector vbase copy constructor iterator'", "", "", "`vector copy constructor iterator'", "`vector vbase copy constructor iterator'",
		"`managed vector vbase copy constructor iterator'", "", "", "operator co_await", "operator<=>",
	}
)

// parseOperator reads the code of a special function, after its question mark.
func (m *demangler) parseOperator() ref {
	table := &msvcBasic
	switch {
	case m.AcceptString("0"):
		return m.Add(node{kind: mStructor})
	case m.AcceptString("1"):
		return m.Add(node{kind: mStructor, word: "~"})
	case m.AcceptString("B"):
		return m.Add(node{kind: mConversion})
	case m.AcceptString("__K"):
		n := m.parsePlain(false)
		m.Nodes[n].word = `operator ""`
		return n
	case m.AcceptString("__"):
		table = &msvcDouble
	case m.AcceptString("_"):
		table = &msvcUnder
	}
	word := ""
	switch c := m.Next(); {
	case core.IsDigit(c):
		word = table[c-'0']
	case core.IsUpper(c):
		word = table[c-'A'+10]
	}
	if word == "" {
		return m.fail()
	}
	if m.style == core.LLVM && word[0] == '`' && !strings.Contains(word, "vbase copy") {
		word = strings.Replace(strings.Replace(word, "constructor", "ctor", 1), "destructor", "dtor", 1)
	}
	return m.Add(node{kind: mText, word: word})
}

// parsePlain reads a piece that is a text. Most can be referred to.
func (m *demangler) parsePlain(keep bool) ref {
	length := bytes.IndexByte(m.Text[m.Pos:m.End], '@')
	if length <= 0 {
		return m.fail()
	}
	n := m.Add(node{kind: mText, from: uint16(m.Pos), to: uint16(m.Pos + length)})
	m.Pos += length + 1
	if keep {
		m.addBackref(n)
	}
	return n
}

// addBackref lets a digit refer to a piece, the first time that it occurs.
func (m *demangler) addBackref(n ref) {
	if m.Failed || m.backrefs.nameCount == len(m.backrefs.names) {
		return
	}
	text := m.textOf(n)
	for _, other := range m.backrefs.names[:m.backrefs.nameCount] {
		if bytes.Equal(text, m.textOf(other)) {
			return
		}
	}
	m.backrefs.names[m.backrefs.nameCount] = n
	m.backrefs.nameCount++
}

// textOf returns the letters of a piece.
func (m *demangler) textOf(n ref) []byte { return m.Text[m.Nodes[n].from:m.Nodes[n].to] }

// parseBackref reads a digit that refers to a piece.
func (m *demangler) parseBackref() ref {
	if i := int(m.Next() - '0'); i < m.backrefs.nameCount {
		return m.backrefs.names[i]
	}
	return m.fail()
}

// parseTemplate reads a template after its ?$. Its back references count its own
// pieces.
func (m *demangler) parseTemplate(keep bool) ref {
	if !m.enter() {
		return 0
	}
	defer m.Leave()
	outside, from := m.backrefs, m.Pos
	m.backrefs = backrefs{}
	n := m.Add(node{kind: mTemplate})
	piece := m.parseLeaf(false)
	args := m.parseArguments()
	m.backrefs = outside
	if kind := m.Nodes[piece].kind; keep && (kind == mStructor || kind == mConversion) {
		return m.fail() // these are nothing that something can be in
	}
	node := &m.Nodes[n]
	node.first, node.second, node.from, node.to = piece, args, uint16(from), uint16(m.Pos)
	if keep {
		m.addBackref(n)
	}
	return n
}

// parseLeaf reads the first piece of a name: of a symbol, or of a type if it is to
// be kept as a whole.
func (m *demangler) parseLeaf(isType bool) ref {
	switch {
	case core.IsDigit(m.Peek()):
		return m.parseBackref()
	case m.AcceptString("?$"):
		return m.parseTemplate(isType)
	case !isType && m.Accept('?'):
		return m.parseOperator()
	}
	return m.parsePlain(true)
}

// parseTypeName and symbolName read a name with all that it is in.
func (m *demangler) parseTypeName() ref   { return m.parseScopes(m.parseLeaf(true)) }
func (m *demangler) parseSymbolName() ref { return m.parseScopes(m.parseLeaf(false)) }

// parseScopes reads the scopes of a piece, the innermost first.
func (m *demangler) parseScopes(piece ref) ref {
	name := m.Add(node{kind: mScope, first: piece})
	for inner := name; !m.Failed && !m.Accept('@'); {
		outer := m.Add(node{kind: mScope, first: m.parseScope()})
		m.Nodes[inner].second = outer
		inner = outer
	}
	return name
}

// parseScope reads one thing that a name is in.
func (m *demangler) parseScope() ref {
	switch {
	case core.IsDigit(m.Peek()):
		return m.parseBackref()
	case m.AcceptString("?$"):
		return m.parseTemplate(true)
	case m.AcceptString("?A"):
		return m.parseUnnamed()
	case m.AcceptString("?Q"):
		return m.parseInterface()
	case m.HasNext("??"):
		m.Pos++
		m.isLocal = true
		return m.Add(node{kind: mLocal, code: isWhole, first: m.parseSymbol()})
	case m.Accept('?'):
		n, _ := m.parseNumber()
		m.expect("?")
		m.isLocal = true
		return m.Add(node{kind: mLocal, number: n, first: m.parseSymbol()})
	}
	return m.parsePlain(true)
}

// parseInterface reads the interface that a function implements, where a class
// has functions of the same name for several.
func (m *demangler) parseInterface() ref {
	if !m.enter() {
		return 0
	}
	defer m.Leave()
	return m.Add(node{kind: mInterface, first: m.parseTypeName()})
}

// parseUnnamed reads a namespace without a name. Its text is the same for all namespaces
// without a name in a file, and may be empty. MSVC counts it for back references; clang,
// which writes upper-case hexadecimal digits, does not.
func (m *demangler) parseUnnamed() ref {
	length := bytes.IndexByte(m.Text[m.Pos:m.End], '@')
	if length < 0 {
		return m.fail()
	}
	n := m.Add(node{kind: mText, code: isReplaced, word: "`anonymous namespace'", from: uint16(m.Pos - 1), to: uint16(m.Pos + length)})
	key := m.Text[m.Pos : m.Pos+length]
	m.Pos += length + 1
	if !bytes.ContainsAny(key, "ABCDEF") {
		m.addBackref(n)
	}
	return n
}

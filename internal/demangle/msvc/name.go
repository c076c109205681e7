package msvc

import (
	"bytes"
	"strings"

	"symbolon/internal/demangle/core"
)

// What operators and other functions without a plain name are called, by the
// letter behind ?, ?_ and ?__, 0 to 9 and A to Z. What is not here is read
// elsewhere, or nothing.
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

// operator reads what stands behind the question mark of a function without a
// plain name.
func (m *msvc) operator() ref {
	table := &msvcBasic
	switch {
	case m.skip("0"):
		return m.add(msvcNode{kind: mStructor})
	case m.skip("1"):
		return m.add(msvcNode{kind: mStructor, word: "~"})
	case m.skip("B"):
		return m.add(msvcNode{kind: mConversion})
	case m.skip("__K"):
		n := m.plain(false)
		m.nodes[n].word = `operator ""`
		return n
	case m.skip("__"):
		table = &msvcDouble
	case m.skip("_"):
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
	return m.add(msvcNode{kind: mText, word: word})
}

// plain reads a piece that is a text. Most can be referred to.
func (m *msvc) plain(keep bool) ref {
	length := bytes.IndexByte(m.Text[m.Pos:m.End], '@')
	if length <= 0 {
		return m.fail()
	}
	n := m.add(msvcNode{kind: mText, from: uint16(m.Pos), to: uint16(m.Pos + length)})
	m.Pos += length + 1
	if keep {
		m.keep(n)
	}
	return n
}

// keep lets a digit refer to a piece, the first time that it occurs.
func (m *msvc) keep(n ref) {
	if m.failed || m.known.nameCount == len(m.known.names) {
		return
	}
	text := m.spelled(n)
	for _, other := range m.known.names[:m.known.nameCount] {
		if bytes.Equal(text, m.spelled(other)) {
			return
		}
	}
	m.known.names[m.known.nameCount] = n
	m.known.nameCount++
}

// spelled is a piece as it stands in the name.
func (m *msvc) spelled(n ref) []byte { return m.Text[m.nodes[n].from:m.nodes[n].to] }

// earlier reads a digit that refers to a piece.
func (m *msvc) earlier() ref {
	if i := int(m.Next() - '0'); i < m.known.nameCount {
		return m.known.names[i]
	}
	return m.fail()
}

// template reads what stands behind the beginning of a template. Digits inside
// refer to what is inside.
func (m *msvc) template(keep bool) ref {
	if !m.enter() {
		return 0
	}
	defer m.leave()
	outside, from := m.known, m.Pos
	m.known = msvcKnown{}
	n := m.add(msvcNode{kind: mTemplate})
	piece := m.leaf(false)
	args := m.arguments()
	m.known = outside
	if kind := m.nodes[piece].kind; keep && (kind == mStructor || kind == mConversion) {
		return m.fail() // these are nothing that something can be in
	}
	node := &m.nodes[n]
	node.first, node.second, node.from, node.to = piece, args, uint16(from), uint16(m.Pos)
	if keep {
		m.keep(n)
	}
	return n
}

// leaf reads the first piece of a name: of a symbol, or of a type if it is to
// be kept as a whole.
func (m *msvc) leaf(isType bool) ref {
	switch {
	case core.IsDigit(m.Peek()):
		return m.earlier()
	case m.skip("?$"):
		return m.template(isType)
	case !isType && m.Accept('?'):
		return m.operator()
	}
	return m.plain(true)
}

// typeName and symbolName read a name with all that it is in.
func (m *msvc) typeName() ref   { return m.scopes(m.leaf(true)) }
func (m *msvc) symbolName() ref { return m.scopes(m.leaf(false)) }

// scopes reads what a piece is in.
func (m *msvc) scopes(piece ref) ref {
	name := m.add(msvcNode{kind: mScope, first: piece})
	for inner := name; !m.failed && !m.Accept('@'); {
		outer := m.add(msvcNode{kind: mScope, first: m.scope()})
		m.nodes[inner].second = outer
		inner = outer
	}
	return name
}

// scope reads one thing that a name is in.
func (m *msvc) scope() ref {
	switch {
	case core.IsDigit(m.Peek()):
		return m.earlier()
	case m.skip("?$"):
		return m.template(true)
	case m.skip("?A"):
		return m.unnamed()
	case m.Accept('?'):
		n, _ := m.numeral()
		m.want("?")
		m.local = true
		return m.add(msvcNode{kind: mLocal, number: n, first: m.symbol()})
	}
	return m.plain(true)
}

// unnamed reads a namespace without a name. What stands instead is the same for
// all in one file, and may be nothing. With MSVC it can be referred to, with
// clang, which writes hexadecimal digits in upper case, it cannot.
func (m *msvc) unnamed() ref {
	length := bytes.IndexByte(m.Text[m.Pos:m.End], '@')
	if length < 0 {
		return m.fail()
	}
	n := m.add(msvcNode{kind: mText, code: instead, word: "`anonymous namespace'", from: uint16(m.Pos - 1), to: uint16(m.Pos + length)})
	key := m.Text[m.Pos : m.Pos+length]
	m.Pos += length + 1
	if !bytes.ContainsAny(key, "ABCDEF") {
		m.keep(n)
	}
	return n
}

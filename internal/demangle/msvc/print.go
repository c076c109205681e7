package msvc

import (
	"strconv"

	"symbolon/internal/demangle/core"
)

// Where a symbol stands.
const (
	atTop = iota
	inArgument
	inScope // of something that is local
)

func (m *msvc) say(text string) { m.out = append(m.out, text...) }

// may says whether there is room and time to write a node.
func (m *msvc) may(n ref) bool {
	m.left--
	if n == 0 || m.left < 0 || m.depth > 4*msvcMaxDepth || len(m.out) > m.limit {
		m.failed = true
	}
	return !m.failed
}

// last is the last letter that was written for this name.
func (m *msvc) last() byte {
	if len(m.out) == m.limit-core.MaxText {
		return 0
	}
	return m.out[len(m.out)-1]
}

// gap writes a blank between words. LLVM writes none behind an underscore.
func (m *msvc) gap() {
	switch c := m.last(); {
	case c == 0 || c == ' ' || c == '(':
	case m.style != core.LLVM, c == '>', core.IsDigit(c), core.IsLower(c), core.IsUpper(c):
		m.say(" ")
	}
}

// printSymbol writes a symbol. All that it says is written where something is in
// it; else what symbols are told apart by.
func (m *msvc) printSymbol(n ref, where int) {
	if !m.may(n) {
		return
	}
	node := &m.nodes[n]
	nameOnly := where != inArgument && (m.style == core.NoParams || m.style == core.Simple)
	whole := !nameOnly && where == inScope
	switch node.kind {
	case mLiteral:
		m.printLiteral(node)
	case mDescriptor:
		m.printDescriptor(node)
	case mTable:
		if !nameOnly {
			m.printQualifiers(node.quals)
			m.gap()
		}
		m.printName(node.first)
		if !nameOnly {
			m.printBases(node.second)
		}
	case mVcall:
		m.printVcall(node, nameOnly)
	case mVariable:
		m.printVariable(node, whole, !nameOnly)
	case mCallable:
		m.printCallable(node, whole, nameOnly)
	default:
		m.failed = true
	}
}

func (m *msvc) printDescriptor(node *msvcNode) {
	m.pre(node.first)
	if node.code == ':' && m.style != core.LLVM {
		m.post(node.first)
		m.say("::")
		m.say(node.word)
		return
	}
	m.gap()
	m.say(node.word)
	m.post(node.first)
}

// printBases writes for which base a table is: for A, as a base of B, ...
func (m *msvc) printBases(list ref) {
	for cell := list; cell != 0 && m.may(cell); cell = m.nodes[cell].second {
		if cell == list {
			m.say("{for `")
		} else {
			m.say("'s `")
		}
		m.printName(m.nodes[cell].first)
	}
	if list != 0 {
		m.say("'}")
	}
}

func (m *msvc) printVcall(node *msvcNode, nameOnly bool) {
	if !nameOnly {
		m.say("[thunk]: ")
		m.printConvention(node.code)
		m.gap()
	}
	m.printName(node.first)
	if !nameOnly {
		m.say("{")
		m.out = strconv.AppendUint(m.out, node.number, 10)
		m.say(", {flat}}")
	}
}

func (m *msvc) printConvention(c byte) {
	if m.words {
		m.gap()
		m.say(msvcConventions[c])
	}
}

func (m *msvc) printVariable(node *msvcNode, whole, typed bool) {
	if whole && node.code != 0 && node.code < '3' {
		m.say([...]string{"private: ", "protected: ", "public: "}[node.code-'0'])
		m.say("static ")
	}
	if typed = typed && node.second != 0; typed {
		m.pre(node.second)
		if c := m.last(); c != '*' && c != '&' || !m.inside(node.second) {
			m.gap()
		}
	}
	m.printName(node.first)
	if typed {
		m.post(node.second)
	}
}

func (m *msvc) printCallable(node *msvcNode, whole, nameOnly bool) {
	if nameOnly {
		m.printName(node.first)
		return
	}
	function := m.nodes[node.second]
	if node.third != 0 {
		m.say("[thunk]: ")
	}
	if whole {
		m.printClass(node)
		if function.first != 0 {
			m.pre(function.first)
			m.say(" ")
		}
		if function.kind != 0 {
			m.printConvention(function.code)
			m.gap()
		}
	}
	m.printName(node.first)
	if node.third != 0 {
		m.printAdjustment(node)
	}
	if function.kind != 0 {
		m.printParameters(&function)
	}
	if whole && function.first != 0 {
		m.post(function.first)
	}
}

// printClass writes how a function belongs to its class.
func (m *msvc) printClass(node *msvcNode) {
	if node.code < 'Y' {
		m.say([...]string{"private: ", "protected: ", "public: "}[(node.code-'A')/8])
		m.say([...]string{"", "static ", "virtual ", "virtual "}[(node.code-'A')%8/2])
	}
	if m.style == core.LLVM {
		m.say(node.word)
	}
}

// printAdjustment writes by what a thunk changes the object.
func (m *msvc) printAdjustment(node *msvcNode) {
	switch second := m.nodes[node.third].second; {
	case second == 0:
		m.say("`adjustor{")
	case m.nodes[second].second == 0:
		m.say("`vtordisp{")
	default:
		m.say("`vtordispex{")
	}
	m.printList(node.third)
	m.say("}'")
}

package msvc

import (
	"strconv"

	"symbolon/internal/demangle/core"
)

// The places of a symbol.
const (
	atTop = iota
	inArgument
	inScope // of something that is local
)

// canPrint counts a step and reports whether a node can be written.
func (m *demangler) canPrint(n ref) bool {
	m.Spend(1)
	if n == 0 || m.Depth > 4*maxDepth || m.IsFull() {
		m.Failed = true
	}
	return !m.Failed
}

// printSpace writes a blank between words. LLVM writes none after an underscore.
func (m *demangler) printSpace() {
	switch c := m.Last(); {
	case c == 0 || c == ' ' || c == '(':
	case m.style != core.LLVM, c == '>', core.IsDigit(c), core.IsLower(c), core.IsUpper(c):
		m.AppendString(" ")
	}
}

// printSymbol writes a symbol. If something else is local to it, all of it is
// written, else only the parts that distinguish symbols.
func (m *demangler) printSymbol(n ref, where int) {
	if !m.canPrint(n) {
		return
	}
	node := &m.Nodes[n]
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
			m.printSpace()
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
		m.Failed = true
	}
}

func (m *demangler) printDescriptor(node *node) {
	m.printLeft(node.first)
	if node.code == ':' && m.style != core.LLVM {
		m.printRight(node.first)
		m.AppendString("::")
		m.AppendString(node.word)
		return
	}
	m.printSpace()
	m.AppendString(node.word)
	m.printRight(node.first)
}

// printBases writes for which base a table is: for A, as a base of B, ...
func (m *demangler) printBases(list ref) {
	for cell := list; cell != 0 && m.canPrint(cell); cell = m.Nodes[cell].second {
		if cell == list {
			m.AppendString("{for `")
		} else {
			m.AppendString("'s `")
		}
		m.printName(m.Nodes[cell].first)
	}
	if list != 0 {
		m.AppendString("'}")
	}
}

func (m *demangler) printVcall(node *node, nameOnly bool) {
	if !nameOnly {
		m.AppendString("[thunk]: ")
		m.printConvention(node.code)
		m.printSpace()
	}
	m.printName(node.first)
	if !nameOnly {
		m.AppendString("{")
		m.Out = strconv.AppendUint(m.Out, node.number, 10)
		m.AppendString(", {flat}}")
	}
}

func (m *demangler) printConvention(c byte) {
	if m.hasKeywords {
		m.printSpace()
		m.AppendString(conventions[c])
	}
}

func (m *demangler) printVariable(node *node, whole, typed bool) {
	if whole && node.code != 0 && node.code < '3' {
		m.AppendString([...]string{"private: ", "protected: ", "public: "}[node.code-'0'])
		m.AppendString("static ")
	}
	if typed = typed && node.second != 0; typed {
		m.printLeft(node.second)
		if c := m.Last(); c != '*' && c != '&' || !m.needsParens(node.second) {
			m.printSpace()
		}
	}
	m.printName(node.first)
	if typed {
		m.printRight(node.second)
	}
}

func (m *demangler) printCallable(node *node, whole, nameOnly bool) {
	if nameOnly {
		m.printName(node.first)
		return
	}
	function := m.Nodes[node.second]
	if node.third != 0 {
		m.AppendString("[thunk]: ")
	}
	if whole {
		m.printClass(node)
		if function.first != 0 {
			m.printLeft(function.first)
			m.AppendString(" ")
		}
		if function.kind != 0 {
			m.printConvention(function.code)
			m.printSpace()
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
		m.printRight(function.first)
	}
}

// printClass writes how a function belongs to its class.
func (m *demangler) printClass(node *node) {
	if node.code < 'Y' {
		m.AppendString([...]string{"private: ", "protected: ", "public: "}[(node.code-'A')/8])
		m.AppendString([...]string{"", "static ", "virtual ", "virtual "}[(node.code-'A')%8/2])
	}
	if m.style == core.LLVM {
		m.AppendString(node.word)
	}
}

// printAdjustment writes the offsets that a thunk adds to the object.
func (m *demangler) printAdjustment(node *node) {
	switch second := m.Nodes[node.third].second; {
	case second == 0:
		m.AppendString("`adjustor{")
	case m.Nodes[second].second == 0:
		m.AppendString("`vtordisp{")
	default:
		m.AppendString("`vtordispex{")
	}
	m.printList(node.third)
	m.AppendString("}'")
}

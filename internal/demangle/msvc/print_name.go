package msvc

import (
	"strconv"

	"symbolon/internal/demangle/core"
)

// printName writes a piece behind those that it is in.
func (m *msvc) printName(name ref) {
	if !m.may(name) {
		return
	}
	node := &m.nodes[name]
	class := ref(0)
	if node.second != 0 {
		m.depth++
		m.printName(node.second)
		m.depth--
		m.say("::")
		class = m.nodes[node.second].first
	}
	m.printPiece(node.first, class)
}

// printPiece writes a piece of a name, in a class if it is in something.
func (m *msvc) printPiece(n, class ref) {
	if !m.may(n) {
		return
	}
	m.depth++
	switch node := &m.nodes[n]; node.kind {
	case mText:
		m.printText(node)
	case mTemplate:
		m.printTemplate(node, class)
	case mLocal:
		m.say("`")
		m.printSymbol(node.first, inScope)
		m.say("'::`")
		m.printNumber(node)
		m.say("'")
	case mStructor:
		m.say(node.word)
		m.printPiece(class, 0)
	case mConversion:
		m.say("operator ")
		m.printType(node.first)
	case mInit:
		m.printInit(node)
	default:
		m.failed = true
	}
	m.depth--
}

// printTemplate writes a piece with its arguments. LLVM writes the type that an
// operator converts to behind them.
func (m *msvc) printTemplate(node *msvcNode, class ref) {
	piece := &m.nodes[node.first]
	short := m.style == core.Simple || m.style == core.Bare
	if piece.kind == mConversion && !short {
		m.say("operator")
	} else {
		m.printPiece(node.first, class)
	}
	if short {
		return
	}
	m.say("<")
	m.printList(node.second)
	if m.last() == '>' && m.style != core.LLVM {
		m.say(" ")
	}
	m.say(">")
	if piece.kind == mConversion {
		m.say(" ")
		m.printType(piece.first)
	}
}

// printText writes what stands in the name, or is written instead.
func (m *msvc) printText(node *msvcNode) {
	m.say(node.word)
	switch {
	case node.second != 0:
		m.printList(node.second)
		m.say(")'")
	case node.number != 0:
		m.say("{")
		m.printNumber(node)
		m.say("}")
	case node.code != instead:
		m.out = append(m.out, m.Text[node.from:node.to]...)
	}
}

// printInit writes what a function does when the program starts or ends. LLVM
// writes all of a variable, in quotation marks that fit.
func (m *msvc) printInit(node *msvcNode) {
	m.say(node.word)
	name := node.first
	if symbol := &m.nodes[name]; symbol.kind == mVariable {
		if m.style == core.LLVM {
			m.say("`")
			m.printSymbol(name, inArgument)
			m.say("''")
			return
		}
		name = symbol.first
	}
	m.say("'")
	m.printName(name)
	m.say("''")
}

func (m *msvc) printNumber(node *msvcNode) {
	n := int64(node.number)
	if node.negative {
		n = -n
	}
	switch {
	case node.kind == mOffset:
		m.out = strconv.AppendInt(m.out, int64(int32(n)), 10)
	case node.negative:
		m.out = strconv.AppendInt(m.out, n, 10)
	default:
		m.out = strconv.AppendUint(m.out, node.number, 10)
	}
}

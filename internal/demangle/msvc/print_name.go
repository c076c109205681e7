package msvc

import (
	"strconv"

	"symbolon/internal/demangle/core"
)

// printName writes a piece after its scopes.
func (m *demangler) printName(name ref) {
	if !m.canPrint(name) {
		return
	}
	node := &m.Nodes[name]
	class := ref(0)
	if node.second != 0 {
		m.Depth++
		m.printName(node.second)
		m.Depth--
		m.AppendString("::")
		class = m.Nodes[node.second].first
	}
	m.printPiece(node.first, class)
}

// printPiece writes a piece of a name, in a class if it is in something.
func (m *demangler) printPiece(n, class ref) {
	if !m.canPrint(n) {
		return
	}
	m.Depth++
	switch node := &m.Nodes[n]; node.kind {
	case mText:
		m.printText(node)
	case mTemplate:
		m.printTemplate(node, class)
	case mLocal:
		m.AppendString("`")
		m.printSymbol(node.first, inScope)
		if node.code != isWhole {
			m.AppendString("'::`")
			m.printNumber(node)
		}
		m.AppendString("'")
	case mInterface:
		m.AppendString("[")
		m.printName(node.first)
		m.AppendString("]")
	case mStructor:
		m.AppendString(node.word)
		m.printPiece(class, 0)
	case mConversion:
		m.AppendString("operator ")
		m.printType(node.first)
	case mInit:
		m.printInit(node)
	default:
		m.Failed = true
	}
	m.Depth--
}

// printTemplate writes a piece with its arguments. LLVM writes the type of a
// conversion operator after them.
func (m *demangler) printTemplate(node *node, class ref) {
	piece := &m.Nodes[node.first]
	short := m.style == core.Simple || m.style == core.Bare
	if piece.kind == mConversion && !short {
		m.AppendString("operator")
	} else {
		m.printPiece(node.first, class)
	}
	if short {
		return
	}
	m.AppendString("<")
	m.printList(node.second)
	if m.Last() == '>' && m.style != core.LLVM {
		m.AppendString(" ")
	}
	m.AppendString(">")
	if piece.kind == mConversion {
		m.AppendString(" ")
		m.printType(piece.first)
	}
}

// printText writes the letters of a piece, or its replacement.
func (m *demangler) printText(node *node) {
	m.AppendString(node.word)
	switch {
	case node.second != 0:
		m.printList(node.second)
		m.AppendString(")'")
	case node.number != 0:
		m.AppendString("{")
		m.printNumber(node)
		m.AppendString("}")
	case node.code != isReplaced:
		m.Out = append(m.Out, m.Text[node.from:node.to]...)
	}
}

// printInit writes a function that initializes or destroys a variable. LLVM
// writes all of the variable, in matching quotation marks.
func (m *demangler) printInit(node *node) {
	m.AppendString(node.word)
	name := node.first
	if symbol := &m.Nodes[name]; symbol.kind == mVariable {
		if m.style == core.LLVM {
			m.AppendString("`")
			m.printSymbol(name, inArgument)
			m.AppendString("''")
			return
		}
		name = symbol.first
	}
	m.AppendString("'")
	m.printName(name)
	m.AppendString("''")
}

func (m *demangler) printNumber(node *node) {
	n := int64(node.number)
	if node.negative {
		n = -n
	}
	switch {
	case node.kind == mOffset:
		m.Out = strconv.AppendInt(m.Out, int64(int32(n)), 10)
	case node.negative:
		m.Out = strconv.AppendInt(m.Out, n, 10)
	default:
		m.Out = strconv.AppendUint(m.Out, node.number, 10)
	}
}

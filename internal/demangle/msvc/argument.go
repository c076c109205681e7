package msvc

import (
	"math"
	"strconv"
)

// parseArguments reads the arguments of a template up to the end.
func (m *demangler) parseArguments() ref {
	var list list
	for !m.Failed && !m.Accept('@') {
		if m.AcceptString("$S") || m.AcceptString("$$V") || m.AcceptString("$$Z") || m.AcceptString("$$$V") {
			continue // a pack that is empty, or ends
		}
		m.appendTo(&list, m.parseArgument())
	}
	return list.head
}

func (m *demangler) parseArgument() ref {
	switch {
	case m.AcceptString("$$Y"): // a template, or its alias
		return m.Add(node{kind: mTag, first: m.parseTypeName()})
	case m.AcceptString("$M"): // a value of the type that the template leaves open
		m.parseType()
		return m.parseValue()
	case m.Peek() == '$' && m.Pos+1 < m.End && m.Text[m.Pos+1] != '$':
		m.Pos++
		return m.parseValue()
	}
	return m.parseType()
}

// parseValue reads an argument that is not a type: a number, the address of a
// symbol, a compound. Pointers to members have as many offsets as inheritance
// needs.
func (m *demangler) parseValue() ref {
	switch c := m.Next(); c {
	case '0':
		return m.addNumber(mNumber)
	case '1':
		return m.parseAddress("&", 0)
	case 'H', 'I', 'J':
		return m.parseAddress("&", int(c-'H')+1)
	case 'E':
		return m.parseAddress("", 0)
	case 'F', 'G':
		return m.Add(node{kind: mAddress, third: m.parseOffsets(int(c-'F')+2, mNumber)})
	case '2', '3', '7':
		return m.parseCompound(c)
	case 'A', 'B':
		n, _ := m.parseNumber()
		return m.Add(node{kind: mFloat, number: n, code: 32 << (c - 'A')})
	}
	return m.fail()
}

// parseCompound reads a value with a type and values in it: a class (2), an array
// (3), or a union (7) with the name of its field.
func (m *demangler) parseCompound(sort byte) ref {
	if !m.enter() {
		return 0
	}
	defer m.Leave()
	n := node{kind: mValue, code: sort, first: m.parseType()}
	if sort == '7' {
		n.third = m.parsePlain(false)
	}
	var list list
	for !m.Failed && !m.Accept('@') {
		if c := m.Peek(); sort == '2' && c != '2' && c != '3' && c != '7' {
			m.parseType() // of the field; a compound has its own
		}
		m.appendTo(&list, m.parseValue())
		if sort == '3' {
			m.expect("@")
		}
	}
	n.second = list.head
	return m.Add(n)
}

// parseAddress reads the symbol that an argument points to.
func (m *demangler) parseAddress(sign string, offsets int) ref {
	n := node{kind: mAddress, word: sign}
	if m.Peek() == '?' {
		n.first = m.parseSymbol()
		if name := m.Nodes[n.first].first; m.Nodes[name].kind == mScope {
			if piece := m.Nodes[name].first; m.Nodes[piece].to > 0 {
				m.addBackref(piece)
			}
		}
	}
	n.third = m.parseOffsets(offsets, mNumber)
	return m.Add(n)
}

// printAddress writes the symbol that an argument points to.
func (m *demangler) printAddress(node *node) {
	if node.third == 0 {
		m.AppendString(node.word)
	} else {
		m.AppendString("{")
	}
	if node.first != 0 {
		m.printSymbol(node.first, inArgument)
	}
	if node.third == 0 {
		return
	}
	if node.first != 0 {
		m.AppendString(", ")
	}
	m.printList(node.third)
	m.AppendString("}")
}

// printValue writes a class or union with its values, or those of an array.
func (m *demangler) printValue(node *node) {
	if node.code != '3' {
		m.printType(node.first)
	}
	m.AppendString("{")
	if node.third != 0 {
		m.AppendString(".")
		m.printText(&m.Nodes[node.third])
		m.AppendString(" = ")
	}
	m.printList(node.second)
	m.AppendString("}")
}

func (m *demangler) printFloat(node *node) {
	value := math.Float64frombits(node.number)
	if node.code == 32 {
		value = float64(math.Float32frombits(uint32(node.number)))
	}
	m.Out = strconv.AppendFloat(m.Out, value, 'g', -1, int(node.code))
}

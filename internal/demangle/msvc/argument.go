package msvc

import (
	"math"
	"strconv"
)

// arguments reads the arguments of a template up to the end.
func (m *msvc) arguments() ref {
	var list msvcList
	for !m.failed && !m.Accept('@') {
		if m.skip("$S") || m.skip("$$V") || m.skip("$$Z") || m.skip("$$$V") {
			continue // a pack that is empty, or ends
		}
		m.grow(&list, m.argument())
	}
	return list.head
}

func (m *msvc) argument() ref {
	switch {
	case m.skip("$$Y"): // a template, or its alias
		return m.add(msvcNode{kind: mTag, first: m.typeName()})
	case m.skip("$M"): // a value of the type that the template leaves open
		m.typ()
		return m.value()
	case m.Peek() == '$' && m.Pos+1 < m.End && m.Text[m.Pos+1] != '$':
		m.Pos++
		return m.value()
	}
	return m.typ()
}

// value reads an argument that is no type: a number, what a pointer points to,
// a compound. Pointers to members have as many offsets as inheritance needs.
func (m *msvc) value() ref {
	switch c := m.Next(); c {
	case '0':
		return m.number(mNumber)
	case '1':
		return m.address("&", 0)
	case 'H', 'I', 'J':
		return m.address("&", int(c-'H')+1)
	case 'E':
		return m.address("", 0)
	case 'F', 'G':
		return m.add(msvcNode{kind: mAddress, third: m.offsets(int(c-'F')+2, mNumber)})
	case '2', '3', '7':
		return m.compound(c)
	case 'A', 'B':
		n, _ := m.numeral()
		return m.add(msvcNode{kind: mFloat, number: n, code: 32 << (c - 'A')})
	}
	return m.fail()
}

// compound reads a value with a type and values in it: a class (2), an array
// (3), or a union (7) with the name of its field.
func (m *msvc) compound(sort byte) ref {
	if !m.enter() {
		return 0
	}
	defer m.leave()
	n := msvcNode{kind: mValue, code: sort, first: m.typ()}
	if sort == '7' {
		n.third = m.plain(false)
	}
	var list msvcList
	for !m.failed && !m.Accept('@') {
		if c := m.Peek(); sort == '2' && c != '2' && c != '3' && c != '7' {
			m.typ() // of the field; a compound has its own
		}
		m.grow(&list, m.value())
		if sort == '3' {
			m.want("@")
		}
	}
	n.second = list.head
	return m.add(n)
}

// address reads what an argument points to.
func (m *msvc) address(sign string, offsets int) ref {
	n := msvcNode{kind: mAddress, word: sign}
	if m.Peek() == '?' {
		n.first = m.symbol()
		if name := m.nodes[n.first].first; m.nodes[name].kind == mScope {
			if piece := m.nodes[name].first; m.nodes[piece].to > 0 {
				m.keep(piece)
			}
		}
	}
	n.third = m.offsets(offsets, mNumber)
	return m.add(n)
}

// printAddress writes what an argument points to.
func (m *msvc) printAddress(node *msvcNode) {
	if node.third == 0 {
		m.say(node.word)
	} else {
		m.say("{")
	}
	if node.first != 0 {
		m.printSymbol(node.first, inArgument)
	}
	if node.third == 0 {
		return
	}
	if node.first != 0 {
		m.say(", ")
	}
	m.printList(node.third)
	m.say("}")
}

// printValue writes a class or union with its values, or those of an array.
func (m *msvc) printValue(node *msvcNode) {
	if node.code != '3' {
		m.printType(node.first)
	}
	m.say("{")
	if node.third != 0 {
		m.say(".")
		m.printText(&m.nodes[node.third])
		m.say(" = ")
	}
	m.printList(node.second)
	m.say("}")
}

func (m *msvc) printFloat(node *msvcNode) {
	value := math.Float64frombits(node.number)
	if node.code == 32 {
		value = float64(math.Float32frombits(uint32(node.number)))
	}
	m.out = strconv.AppendFloat(m.out, value, 'g', -1, int(node.code))
}

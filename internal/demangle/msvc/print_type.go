package msvc

import "symbolon/internal/demangle/core"

// printParameters writes what stands behind the name of a function.
func (m *msvc) printParameters(node *msvcNode) {
	m.say("(")
	m.printList(node.second)
	switch {
	case node.quals&qVariadic != 0 && node.second != 0:
		m.say(", ...")
	case node.quals&qVariadic != 0:
		m.say("...")
	case node.second == 0 && m.style == core.LLVM:
		m.say("void")
	}
	m.say(")")
	for i, word := range [...]string{" const", " volatile", " __restrict", " __unaligned", " noexcept", " &", " &&"} {
		if node.quals&(1<<i) != 0 {
			m.say(word)
		}
	}
}

func (m *msvc) printList(list ref) {
	for cell := list; cell != 0 && m.may(cell); cell = m.nodes[cell].second {
		if cell != list {
			m.say(", ")
		}
		m.printType(m.nodes[cell].first)
	}
}

// printType writes a type without a name in it.
func (m *msvc) printType(n ref) {
	m.pre(n)
	m.post(n)
}

// pre writes what of a type stands before the name that is declared, post what
// stands behind it.
func (m *msvc) pre(n ref) {
	if !m.may(n) {
		return
	}
	m.depth++
	switch node := &m.nodes[n]; node.kind {
	case mText:
		m.say(node.word)
		m.printQualifiers(node.quals)
	case mTag:
		m.say(node.word)
		m.printName(node.first)
		m.printQualifiers(node.quals)
	case mNumber, mOffset:
		m.printNumber(node)
	case mPointer:
		m.prePointer(n)
	case mArray:
		m.pre(node.first)
		m.printQualifiers(node.quals)
	case mFunction:
		m.preFunction(node)
		m.printConvention(node.code)
	case mAddress:
		m.printAddress(node)
	case mValue:
		m.printValue(node)
	case mFloat:
		m.printFloat(node)
	default:
		m.failed = true
	}
	m.depth--
}

func (m *msvc) post(n ref) {
	if !m.may(n) {
		return
	}
	m.depth++
	switch node := &m.nodes[n]; node.kind {
	case mPointer:
		if m.inside(n) {
			m.say(")")
		}
		m.post(node.first)
	case mArray:
		m.postArray(node)
	case mFunction:
		m.printParameters(node)
		if node.first != 0 {
			m.post(node.first)
		}
	}
	m.depth--
}

// printQualifiers writes those of a type behind it.
func (m *msvc) printQualifiers(quals uint16) {
	for i, word := range [...]string{"const", "volatile", "__restrict"} {
		if quals&(1<<i) == 0 {
			continue
		}
		if c := m.last(); c != 0 && (m.style != core.LLVM || c != '*' && c != '&') {
			m.say(" ")
		}
		m.say(word)
	}
}

// preFunction writes the result of a function.
func (m *msvc) preFunction(node *msvcNode) {
	if node.first != 0 {
		m.pre(node.first)
		m.say(" ")
	}
}

// inside says whether a pointer is written in parentheses.
func (m *msvc) inside(pointer ref) bool {
	kind := m.nodes[m.nodes[pointer].first].kind
	return m.nodes[pointer].kind == mPointer && (kind == mArray || kind == mFunction)
}

// prePointer writes a pointer behind what it points to, in parentheses if that
// ends behind the name. LLVM has blanks before signs, others do not.
func (m *msvc) prePointer(n ref) {
	node := &m.nodes[n]
	to := m.nodes[node.first]
	if to.kind == mFunction {
		m.preFunction(&to)
	} else {
		m.pre(node.first)
	}
	if m.style == core.LLVM || m.inside(n) || node.second != 0 || node.quals&qUnaligned != 0 {
		m.gap()
	}
	if node.quals&qUnaligned != 0 {
		m.say("__unaligned")
	}
	if m.style == core.LLVM && node.quals&qUnaligned != 0 {
		m.say(" ")
	}
	if m.inside(n) {
		m.say("(")
	}
	if to.kind == mFunction {
		m.printConvention(to.code)
		m.gap()
	}
	if node.second != 0 {
		m.printName(node.second)
		m.say("::")
	}
	m.say(node.word)
	m.printQualifiers(node.quals)
}

// postArray writes the lengths of an array, of which the first may be unknown.
func (m *msvc) postArray(node *msvcNode) {
	for cell := node.second; cell != 0 && m.may(cell); cell = m.nodes[cell].second {
		m.say("[")
		if length := &m.nodes[m.nodes[cell].first]; length.number != 0 {
			m.printNumber(length)
		}
		m.say("]")
	}
	m.post(node.first)
}

package msvc

import "symbolon/internal/demangle/core"

// printParameters writes the parameters and qualifiers of a function.
func (m *demangler) printParameters(node *node) {
	m.AppendString("(")
	m.printList(node.second)
	switch {
	case node.quals&qVariadic != 0 && node.second != 0:
		m.AppendString(", ...")
	case node.quals&qVariadic != 0:
		m.AppendString("...")
	case node.second == 0 && m.style == core.LLVM:
		m.AppendString("void")
	}
	m.AppendString(")")
	for i, word := range [...]string{" const", " volatile", " __restrict", " __unaligned", " noexcept", " &", " &&"} {
		if node.quals&(1<<i) != 0 {
			m.AppendString(word)
		}
	}
}

func (m *demangler) printList(list ref) {
	for cell := list; cell != 0 && m.canPrint(cell); cell = m.Nodes[cell].second {
		if cell != list {
			m.AppendString(", ")
		}
		m.printType(m.Nodes[cell].first)
	}
}

// printType writes a type without a name in it.
func (m *demangler) printType(n ref) {
	m.printLeft(n)
	m.printRight(n)
}

// printLeft writes the half of a type that is before the declared name, printRight
// the other half.
func (m *demangler) printLeft(n ref) {
	if !m.canPrint(n) {
		return
	}
	m.Depth++
	switch node := &m.Nodes[n]; node.kind {
	case mText:
		m.AppendString(node.word)
		m.printQualifiers(node.quals)
	case mTag:
		m.AppendString(node.word)
		m.printName(node.first)
		m.printQualifiers(node.quals)
	case mNumber, mOffset:
		m.printNumber(node)
	case mPointer:
		m.printPointerLeft(n)
	case mArray:
		m.printLeft(node.first)
		m.printQualifiers(node.quals)
	case mFunction:
		m.printFunctionLeft(node)
		m.printConvention(node.code)
	case mAddress:
		m.printAddress(node)
	case mValue:
		m.printValue(node)
	case mFloat:
		m.printFloat(node)
	default:
		m.Failed = true
	}
	m.Depth--
}

func (m *demangler) printRight(n ref) {
	if !m.canPrint(n) {
		return
	}
	m.Depth++
	switch node := &m.Nodes[n]; node.kind {
	case mPointer:
		if m.needsParens(n) {
			m.AppendString(")")
		}
		m.printRight(node.first)
	case mArray:
		m.printArrayRight(node)
	case mFunction:
		m.printParameters(node)
		if node.first != 0 {
			m.printRight(node.first)
		}
	}
	m.Depth--
}

// printQualifiers writes the qualifiers of a type after it.
func (m *demangler) printQualifiers(quals uint16) {
	for i, word := range [...]string{"const", "volatile", "__restrict"} {
		if quals&(1<<i) == 0 {
			continue
		}
		if c := m.Last(); c != 0 && (m.style != core.LLVM || c != '*' && c != '&') {
			m.AppendString(" ")
		}
		m.AppendString(word)
	}
}

// printFunctionLeft writes the result of a function.
func (m *demangler) printFunctionLeft(node *node) {
	if node.first != 0 {
		m.printLeft(node.first)
		m.AppendString(" ")
	}
}

// needsParens reports whether a pointer is written in parentheses.
func (m *demangler) needsParens(pointer ref) bool {
	kind := m.Nodes[m.Nodes[pointer].first].kind
	return m.Nodes[pointer].kind == mPointer && (kind == mArray || kind == mFunction)
}

// printPointerLeft writes a pointer after its type, in parentheses if the type
// has a right half. LLVM has blanks before signs, others do not.
func (m *demangler) printPointerLeft(n ref) {
	node := &m.Nodes[n]
	to := m.Nodes[node.first]
	if to.kind == mFunction {
		m.printFunctionLeft(&to)
	} else {
		m.printLeft(node.first)
	}
	if m.style == core.LLVM || m.needsParens(n) || node.second != 0 || node.quals&qUnaligned != 0 {
		m.printSpace()
	}
	if node.quals&qUnaligned != 0 {
		m.AppendString("__unaligned")
	}
	if m.style == core.LLVM && node.quals&qUnaligned != 0 {
		m.AppendString(" ")
	}
	if m.needsParens(n) {
		m.AppendString("(")
	}
	if to.kind == mFunction {
		m.printConvention(to.code)
		m.printSpace()
	}
	if node.second != 0 {
		m.printName(node.second)
		m.AppendString("::")
	}
	m.AppendString(node.word)
	m.printQualifiers(node.quals)
}

// printArrayRight writes the lengths of an array; the first one may be unknown.
func (m *demangler) printArrayRight(node *node) {
	for cell := node.second; cell != 0 && m.canPrint(cell); cell = m.Nodes[cell].second {
		m.AppendString("[")
		if length := &m.Nodes[m.Nodes[cell].first]; length.number != 0 {
			m.printNumber(length)
		}
		m.AppendString("]")
	}
	m.printRight(node.first)
}

package msvc

// symbol reads a symbol. Some of the compiler are read in a way of their own.
func (m *msvc) symbol() ref {
	if !m.enter() {
		return 0
	}
	defer m.leave()
	m.want("?")
	switch {
	case m.Peek() != '?':
		return m.declared()
	case m.skip("?_7"):
		return m.table("`vftable'")
	case m.skip("?_8"):
		return m.table("`vbtable'")
	case m.skip("?_9"):
		return m.vcall("`vcall'")
	case m.skip("?_B"):
		return m.guard("`local static guard'")
	case m.skip("?_C"):
		return m.literal()
	case m.skip("?_R0"):
		return m.descriptor("`RTTI Type Descriptor'")
	case m.skip("?_R1"):
		return m.untyped("`RTTI Base Class Descriptor at (", m.offsets(4, mOffset))
	case m.skip("?_R2"):
		return m.untyped("`RTTI Base Class Array'", 0)
	case m.skip("?_R3"):
		return m.untyped("`RTTI Class Hierarchy Descriptor'", 0)
	case m.skip("?_R4"):
		return m.table("`RTTI Complete Object Locator'")
	case m.skip("?_S"):
		return m.table("`local vftable'")
	case m.skip("?__E"):
		return m.dynamic("`dynamic initializer for ")
	case m.skip("?__F"):
		return m.dynamic("`dynamic atexit destructor for ")
	case m.skip("?__J"):
		return m.guard("`local static thread guard'")
	}
	return m.declared()
}

// word is a piece that does not stand in the name.
func (m *msvc) word(text string) ref { return m.add(msvcNode{kind: mText, word: text}) }

// table reads a table of a class, and for which of its bases.
func (m *msvc) table(word string) ref {
	n := msvcNode{kind: mTable, first: m.scopes(m.word(word))}
	if !m.Accept('6') {
		m.want("7")
	}
	n.quals, _ = m.qualifiers()
	var bases msvcList
	for m.Pos < m.End && !m.Accept('@') {
		m.grow(&bases, m.typeName())
	}
	n.second = bases.head
	return m.add(n)
}

func (m *msvc) descriptor(word string) ref {
	n := m.add(msvcNode{kind: mDescriptor, word: word, code: ':', first: m.result()})
	m.want("@8")
	return n
}

// untyped reads a part of the information on a class, with numbers behind its
// word if it has any.
func (m *msvc) untyped(word string, numbers ref) ref {
	name := m.scopes(m.add(msvcNode{kind: mText, word: word, second: numbers}))
	m.want("8")
	return m.add(msvcNode{kind: mVariable, first: name})
}

// vcall reads a function that calls a virtual one.
func (m *msvc) vcall(word string) ref {
	n := msvcNode{kind: mVcall, first: m.scopes(m.word(word))}
	m.want("$B")
	n.number, _ = m.numeral()
	m.want("A")
	n.code = m.convention()
	return m.add(n)
}

// guard reads what says that a local static variable is initialized.
func (m *msvc) guard(word string) ref {
	piece := m.word(word)
	name := m.scopes(piece)
	if !m.skip("4IA") {
		m.want("5")
	}
	if m.Pos < m.End && m.Peek() != '@' {
		m.nodes[piece].number, _ = m.numeral()
	}
	return m.add(msvcNode{kind: mVariable, first: name})
}

// dynamic reads a function that is called when the program starts or ends. What
// it is for is a name, or a whole variable behind a question mark and with two
// at signs at the end. A template begins with that mark too.
func (m *msvc) dynamic(word string) ref {
	member := !m.ahead("?$") && m.Accept('?')
	n := m.declared()
	piece := m.add(msvcNode{kind: mInit, word: word, first: n})
	name := m.add(msvcNode{kind: mScope, first: piece})
	if m.nodes[n].kind == mVariable {
		m.want("@")
		if member {
			m.want("@")
		}
		return m.encoding(name)
	}
	if member {
		return m.fail()
	}
	m.nodes[piece].first = m.nodes[n].first
	m.nodes[n].first = name
	return n
}

// declared reads a name and what it is declared as.
func (m *msvc) declared() ref {
	name := m.symbolName()
	piece := m.nodes[name].first
	if m.nodes[piece].kind == mTemplate {
		piece = m.nodes[piece].first
	}
	kind := m.nodes[piece].kind
	if kind == mStructor && m.nodes[name].second == 0 {
		return m.fail() // of no class
	}
	n := m.encoding(name)
	if kind != mConversion {
		return n
	}
	function := m.nodes[n].second
	if m.nodes[n].kind != mCallable || m.nodes[function].first == 0 {
		return m.fail()
	}
	m.nodes[piece].first = m.nodes[function].first
	return n
}

// encoding reads what a name is declared as.
func (m *msvc) encoding(name ref) ref {
	n := msvcNode{first: name}
	if m.skip("$$J0") {
		n.word = `extern "C" `
	} else if !m.skip("$$F") && !m.skip("$$H") { // managed
		m.skip("$$h") // of the ARM64 that works with x64
	}
	switch c := m.Next(); {
	case c >= '0' && c <= '4':
		n.kind, n.code = mVariable, c
		n.second = m.variable()
		return m.add(n)
	case c == '9': // in C nothing is mangled, but here is something in it
		n.kind, n.code, n.word = mCallable, 'Y', `extern "C" `
		return m.add(n)
	case c == '$':
		return m.thunk(n)
	case c >= 'A' && c <= 'Z':
		n.kind, n.code = mCallable, c
		if isAdjustor(c) {
			n.third = m.offsets(1, mOffset)
		}
		n.second = m.function(hasObject(c))
		return m.add(n)
	}
	return m.fail()
}

// The letters from A on stand for private, protected and public functions, with
// eight letters each: plain, static, virtual, and virtual by way of another
// base. Each is there twice, and Y and Z are functions outside of classes.
func isAdjustor(class byte) bool { return class < 'Y' && (class-'A')%8/2 == 3 }
func hasObject(class byte) bool  { return class < 'Y' && (class-'A')%8/2 != 1 }

// thunk reads a function that changes the object by offsets that are found at
// run time. Its class is that of the function it calls.
func (m *msvc) thunk(n msvcNode) ref {
	count := 2
	if m.Accept('R') {
		count = 4
	}
	c := m.Next()
	if c < '0' || c > '5' {
		return m.fail()
	}
	n.kind, n.code = mCallable, 'E'+(c-'0')/2*8
	n.third = m.offsets(count, mOffset)
	n.second = m.function(true)
	return m.add(n)
}

// variable reads a type and the qualifiers of a variable. Of a pointer they
// repeat what it points to.
func (m *msvc) variable() ref {
	n := m.typ()
	if m.nodes[n].kind != mPointer {
		quals, _ := m.qualifiers()
		m.nodes[n].quals |= quals
		return n
	}
	m.nodes[n].quals |= m.extended()
	quals, _ := m.qualifiers()
	if m.nodes[n].second != 0 {
		m.typeName()
	}
	m.nodes[m.nodes[n].first].quals |= quals
	return n
}

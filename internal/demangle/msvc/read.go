package msvc

// parseSymbol reads a symbol. Some of the compiler are read in a way of their own.
func (m *demangler) parseSymbol() ref {
	if !m.enter() {
		return 0
	}
	defer m.Leave()
	m.expect("?")
	switch {
	case m.Peek() != '?':
		return m.parseDeclaration()
	case m.AcceptString("?_7"):
		return m.parseTable("`vftable'")
	case m.AcceptString("?_8"):
		return m.parseTable("`vbtable'")
	case m.AcceptString("?_9"):
		return m.parseVcall("`vcall'")
	case m.AcceptString("?_B"):
		return m.parseGuard("`local static guard'")
	case m.AcceptString("?_C"):
		return m.parseLiteral()
	case m.AcceptString("?_R0"):
		return m.parseDescriptor("`RTTI Type Descriptor'")
	case m.AcceptString("?_R1"):
		return m.parseUntyped("`RTTI Base Class Descriptor at (", m.parseOffsets(4, mOffset))
	case m.AcceptString("?_R2"):
		return m.parseUntyped("`RTTI Base Class Array'", 0)
	case m.AcceptString("?_R3"):
		return m.parseUntyped("`RTTI Class Hierarchy Descriptor'", 0)
	case m.AcceptString("?_R4"):
		return m.parseTable("`RTTI Complete Object Locator'")
	case m.AcceptString("?_S"):
		return m.parseTable("`local vftable'")
	case m.AcceptString("?__E"):
		return m.parseDynamic("`dynamic initializer for ")
	case m.AcceptString("?__F"):
		return m.parseDynamic("`dynamic atexit destructor for ")
	case m.AcceptString("?__J"):
		return m.parseGuard("`local static thread guard'")
	}
	return m.parseDeclaration()
}

// addWord adds a piece that is not part of the mangled name.
func (m *demangler) addWord(text string) ref { return m.Add(node{kind: mText, word: text}) }

// parseTable reads a table of a class, and for which of its bases.
func (m *demangler) parseTable(word string) ref {
	n := node{kind: mTable, first: m.parseScopes(m.addWord(word))}
	if !m.Accept('6') {
		m.expect("7")
	}
	n.quals, _ = m.parseQualifiers()
	var bases list
	for m.Pos < m.End && !m.Accept('@') {
		m.appendTo(&bases, m.parseTypeName())
	}
	n.second = bases.head
	return m.Add(n)
}

func (m *demangler) parseDescriptor(word string) ref {
	n := m.Add(node{kind: mDescriptor, word: word, code: ':', first: m.parseResult()})
	m.expect("@8")
	return n
}

// parseUntyped reads a part of the information on a class, with numbers after its
// word if it has any.
func (m *demangler) parseUntyped(word string, numbers ref) ref {
	name := m.parseScopes(m.Add(node{kind: mText, word: word, second: numbers}))
	m.expect("8")
	return m.Add(node{kind: mVariable, first: name})
}

// parseVcall reads a function that calls a virtual one.
func (m *demangler) parseVcall(word string) ref {
	n := node{kind: mVcall, first: m.parseScopes(m.addWord(word))}
	m.expect("$B")
	n.number, _ = m.parseNumber()
	m.expect("A")
	n.code = m.parseConvention()
	return m.Add(n)
}

// parseGuard reads the guard of a local static variable.
func (m *demangler) parseGuard(word string) ref {
	piece := m.addWord(word)
	name := m.parseScopes(piece)
	if !m.AcceptString("4IA") {
		m.expect("5")
	}
	if m.Pos < m.End && m.Peek() != '@' {
		m.Nodes[piece].number, _ = m.parseNumber()
	}
	return m.Add(node{kind: mVariable, first: name})
}

// parseDynamic reads a function that initializes or destroys a variable. The
// variable is a name, or a whole symbol after a question mark and with two at
// signs at the end. A template begins with that mark too.
func (m *demangler) parseDynamic(word string) ref {
	member := !m.HasNext("?$") && m.Accept('?')
	n := m.parseDeclaration()
	piece := m.Add(node{kind: mInit, word: word, first: n})
	name := m.Add(node{kind: mScope, first: piece})
	if m.Nodes[n].kind == mVariable {
		m.expect("@")
		if member {
			m.expect("@")
		}
		return m.parseEncoding(name)
	}
	if member {
		return m.fail()
	}
	m.Nodes[piece].first = m.Nodes[n].first
	m.Nodes[n].first = name
	return n
}

// parseDeclaration reads a name and its encoding.
func (m *demangler) parseDeclaration() ref {
	name := m.parseSymbolName()
	piece := m.Nodes[name].first
	if m.Nodes[piece].kind == mTemplate {
		piece = m.Nodes[piece].first
	}
	kind := m.Nodes[piece].kind
	if kind == mStructor && m.Nodes[name].second == 0 {
		return m.fail() // of no class
	}
	n := m.parseEncoding(name)
	if kind != mConversion {
		return n
	}
	function := m.Nodes[n].second
	if m.Nodes[n].kind != mCallable || m.Nodes[function].first == 0 {
		return m.fail()
	}
	m.Nodes[piece].first = m.Nodes[function].first
	return n
}

// parseEncoding reads the type of a function or variable.
func (m *demangler) parseEncoding(name ref) ref {
	n := node{first: name}
	if m.AcceptString("$$J0") {
		n.word = `extern "C" `
	} else if !m.AcceptString("$$F") && !m.AcceptString("$$H") { // managed
		m.AcceptString("$$h") // of the ARM64 that works with x64
	}
	switch c := m.Next(); {
	case c >= '0' && c <= '4':
		n.kind, n.code = mVariable, c
		n.second = m.parseVariable()
		return m.Add(n)
	case c == '9': // in C nothing is mangled, but here is something in it
		n.kind, n.code, n.word = mCallable, 'Y', `extern "C" `
		return m.Add(n)
	case c == '$':
		return m.parseThunk(n)
	case c >= 'A' && c <= 'Z':
		n.kind, n.code = mCallable, c
		if isAdjustor(c) {
			n.third = m.parseOffsets(1, mOffset)
		}
		n.second = m.parseFunction(hasObject(c))
		return m.Add(n)
	}
	return m.fail()
}

// isAdjustor reports whether a class of functions is a thunk, hasObject whether it has an
// object. The letters from A on are private, protected and public functions, with eight
// letters each: plain, static, virtual, and virtual by way of another base. Each is
// listed twice, and Y and Z are functions outside of classes.
func isAdjustor(class byte) bool { return class < 'Y' && (class-'A')%8/2 == 3 }
func hasObject(class byte) bool  { return class < 'Y' && (class-'A')%8/2 != 1 }

// parseThunk reads a function that changes the object by offsets that are found at
// run time. Its class is that of the function it calls.
func (m *demangler) parseThunk(n node) ref {
	count := 2
	if m.Accept('R') {
		count = 4
	}
	c := m.Next()
	if c < '0' || c > '5' {
		return m.fail()
	}
	n.kind, n.code = mCallable, 'E'+(c-'0')/2*8
	n.third = m.parseOffsets(count, mOffset)
	n.second = m.parseFunction(true)
	return m.Add(n)
}

// parseVariable reads the type and the qualifiers of a variable. Those of a
// pointer repeat the qualifiers of its target.
func (m *demangler) parseVariable() ref {
	n := m.parseType()
	if m.Nodes[n].kind != mPointer {
		quals, _ := m.parseQualifiers()
		m.Nodes[n].quals |= quals
		return n
	}
	m.Nodes[n].quals |= m.parseModifiers()
	quals, _ := m.parseQualifiers()
	if m.Nodes[n].second != 0 {
		m.parseTypeName()
	}
	m.Nodes[m.Nodes[n].first].quals |= quals
	return n
}

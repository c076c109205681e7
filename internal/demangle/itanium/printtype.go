package itanium

// printTypeLeft writes the half of a type that is before the declared name.
func (p *printer) printTypeLeft(n *node) {
	switch n.kind {
	case kindBuiltin:
		p.printWord(n.word)
	case kindNullptr:
		if p.isLLVM {
			p.AppendString("std::nullptr_t")
		} else {
			p.AppendString("decltype(nullptr)")
		}
	case kindQualified:
		p.printQualified(n)
	case kindPointer:
		p.printPointer(n.a, "*")
	case kindReference:
		p.printReference(n)
	case kindSuffixed:
		p.printLeft(n.a)
		p.printWord(n.word)
	case kindArray:
		p.printLeft(n.a)
	case kindMemberPointer:
		p.printMemberPointer(n)
	case kindFunction:
		p.printLeft(n.b)
		if p.isLLVM || p.shape(n.b)&hasRight == 0 {
			p.AppendByte(' ')
		}
	case kindNoexcept:
		p.AppendString("noexcept")
		if n.a != 0 {
			p.openParen()
			p.print(n.a)
			p.closeParen()
		}
	case kindThrow:
		p.AppendString("throw(")
		p.printList(p.list(n))
		p.AppendByte(')')
	case kindVector:
		p.printVector(n)
	case kindVendor:
		p.print(n.a)
		p.AppendByte(' ')
		p.print(n.b)
		if n.n > 0 {
			p.AppendByte('<')
			p.printList(p.list(n))
			p.AppendByte('>')
		}
	case kindTransform:
		p.print(n.b)
		p.openParen()
		p.print(n.a)
		p.closeParen()
	case kindSized:
		p.printSized(n)
	case kindDecltype:
		if p.AppendString("decltype"); !p.isLLVM {
			p.AppendByte(' ')
		}
		p.openParen()
		p.print(n.a)
		p.closeParen()
	case kindElaborated:
		p.printWord(n.word)
		p.print(n.a)
	case kindParam:
		if p.AppendString("auto"); !p.isLLVM {
			p.AppendByte(':')
			p.AppendInt(int(n.num) + 1)
		}
	case kindPack:
		p.printList(p.list(n))
	case kindExpansion:
		p.printExpansion(n)
	case kindConstrained:
		p.print(n.a)
		p.AppendByte(' ')
		p.printWord(n.word)
	default:
		p.printParameterLeft(n)
	}
}

// printRight writes the half of a type that is after the declared name.
func (p *printer) printRight(id ref) {
	if p.isStopped() || !p.Enter(maxPrintDepth) {
		p.Leave()
		return
	}
	if id = p.resolve(id); id != 0 {
		switch n := &p.Nodes[id]; n.kind {
		case kindQualified:
			p.printRight(p.unqualified(n))
		case kindPointer:
			p.printPointerRight(n.a)
		case kindReference:
			to, _ := p.collapsed(n)
			p.printPointerRight(to)
		case kindMemberPointer:
			p.printPointerRight(n.b)
		case kindArray:
			if p.Last() != ']' {
				p.AppendByte(' ')
			}
			p.AppendByte('[')
			if n.b != 0 {
				p.print(n.b)
			}
			p.AppendByte(']')
			p.printRight(n.a)
		case kindFunction:
			p.openParen()
			p.printList(p.list(n))
			p.closeParen()
			p.printRight(n.b)
			p.printFunctionQualifiers(n)
		default:
			p.printParameterRight(n)
		}
	}
	p.Leave()
}

// unqualified returns the type that n qualifies. Qualifiers of a function do
// not apply.
func (p *printer) unqualified(n *node) ref {
	for {
		to := p.resolve(n.a)
		if n = &p.Nodes[to]; n.kind != kindQualified || p.isStopped() {
			return to
		}
	}
}

// printQualified writes the qualifiers of a type, those of an argument for a
// parameter of the template included.
func (p *printer) printQualified(n *node) {
	quals := n.quals
	of := p.resolve(n.a)
	for p.Nodes[of].kind == kindQualified && !p.isStopped() {
		quals |= p.Nodes[of].quals
		of = p.resolve(p.Nodes[of].a)
	}
	if p.printLeft(of); p.Nodes[of].kind != kindFunction {
		p.printQualifiers(quals)
	}
}

func (p *printer) printQualifiers(quals qualifiers) {
	if quals&isConst != 0 {
		p.AppendString(" const")
	}
	if quals&isVolatile != 0 {
		p.AppendString(" volatile")
	}
	if quals&isRestrict != 0 {
		p.AppendString(" restrict")
	}
}

// printFunctionQualifiers writes the qualifiers of a function after its
// parameters. GNU has the exceptions first.
func (p *printer) printFunctionQualifiers(n *node) {
	if n.kind == kindFunction && !p.isLLVM {
		p.printExceptions(n)
		if n.quals&isTransactionSafe != 0 {
			p.AppendString(" transaction_safe")
		}
	}
	p.printQualifiers(n.quals)
	switch n.num {
	case 1:
		p.AppendString(" &")
	case 2:
		p.AppendString(" &&")
	}
	if n.kind == kindFunction && p.isLLVM {
		p.printExceptions(n)
	}
}

func (p *printer) printExceptions(n *node) {
	if n.c != 0 {
		p.AppendByte(' ')
		p.print(n.c)
	}
}

// printPointer writes the left half of a pointer or reference to a type. Arrays
// and functions need parentheses.
func (p *printer) printPointer(to ref, mark string) {
	p.printLeft(to)
	shape := p.shape(to)
	if shape&isArray != 0 {
		p.AppendByte(' ')
	}
	if shape&(isArray|isFunction) != 0 {
		p.openPointer(false)
	}
	p.AppendString(mark)
}

// openPointer writes a parenthesis, in GNU's spelling with a blank before it
// where two words would meet.
func (p *printer) openPointer(isMember bool) {
	if c := p.Last(); !p.isLLVM && c != ' ' && (isMember || c != '(' && c != '*') {
		p.AppendByte(' ')
	}
	p.AppendByte('(')
}

func (p *printer) printPointerRight(to ref) {
	if p.shape(to)&(isArray|isFunction) != 0 {
		p.AppendByte(')')
	}
	p.printRight(to)
}

// collapsed returns the type that a reference refers to. A reference to a
// reference is one of the two kinds.
func (p *printer) collapsed(n *node) (to ref, isMoved bool) {
	isMoved = n.num != 0
	for {
		to = p.resolve(n.a)
		if n = &p.Nodes[to]; n.kind != kindReference || p.isStopped() {
			return to, isMoved
		}
		isMoved = isMoved && n.num != 0
	}
}

func (p *printer) printReference(n *node) {
	to, isMoved := p.collapsed(n)
	if isMoved {
		p.printPointer(to, "&&")
	} else {
		p.printPointer(to, "&")
	}
}

func (p *printer) printMemberPointer(n *node) {
	p.printLeft(n.b)
	if p.shape(n.b)&(isArray|isFunction) != 0 {
		p.openPointer(true)
	} else {
		p.AppendByte(' ')
	}
	p.print(n.a)
	p.AppendString("::*")
}

func (p *printer) printVector(n *node) {
	element, before, after := "pixel", " __vector(", ")"
	if p.isLLVM {
		before, after = " vector[", "]"
	}
	if n.a != 0 {
		p.print(n.a)
	} else {
		p.AppendString(element)
	}
	p.AppendString(before)
	if n.b != 0 {
		p.print(n.b)
	}
	p.AppendString(after)
}

// printSized writes a type with its size: _Float16, _BitInt(8).
func (p *printer) printSized(n *node) {
	switch p.printWord(n.word); n.word {
	case wordFloat, wordFloatX:
		p.print(n.a)
		if n.word == wordFloatX {
			p.AppendByte('x')
		}
	default:
		p.openParen()
		p.print(n.a)
		p.closeParen()
	}
}

// printExpansion writes something for each argument of the packs in it.
func (p *printer) printExpansion(n *node) {
	index, size := p.packIndex, p.packSize
	p.packIndex, p.packSize = 0, noPack
	start := len(p.Out)
	switch p.print(n.a); p.packSize {
	case noPack:
		if !p.isLLVM && !p.isSimple(n.a) {
			p.AppendString("()") // around the text: make room
			copy(p.Out[start+1:], p.Out[start:len(p.Out)-2])
			p.Out[start], p.Out[len(p.Out)-1] = '(', ')'
		}
		p.AppendString("...")
	case 0:
		p.Out = p.Out[:start]
	default:
		for p.packIndex = 1; p.packIndex < p.packSize && !p.isStopped(); p.packIndex++ {
			p.AppendString(", ")
			p.print(n.a)
		}
	}
	p.packIndex, p.packSize = index, size
}

// printParameterLeft writes the declaration of a template parameter.
func (p *printer) printParameterLeft(n *node) {
	switch n.kind {
	case kindInvented:
		p.printWord(n.word)
		if !p.isLLVM {
			p.AppendInt(int(n.num))
		} else if n.num > 0 {
			p.AppendInt(int(n.num) - 1)
		}
	case kindTypeParam:
		p.AppendString("typename ")
		p.print(n.a)
	case kindConceptParam:
		p.print(n.b)
		p.AppendByte(' ')
		p.print(n.a)
	case kindValueParam:
		if p.printLeft(n.b); p.shape(n.b)&hasRight == 0 {
			p.AppendByte(' ')
		}
	case kindTemplateParam:
		p.AppendString("template<")
		p.printList(p.list(n))
		if p.isLLVM {
			p.AppendString("> typename ")
		} else {
			p.AppendString("> class ")
		}
	case kindPackParam:
		p.printPackParam(n)
	}
}

// printPackParam writes dots between the kind of a parameter and its name.
func (p *printer) printPackParam(n *node) {
	start := len(p.Out)
	of := &p.Nodes[n.a]
	switch p.printLeft(n.a); of.kind {
	case kindTypeParam, kindConceptParam:
		p.Out = p.Out[:start]
		if of.kind == kindTypeParam {
			p.AppendString("typename")
		} else {
			p.print(of.b)
		}
		p.AppendByte(' ')
	}
	if p.isLLVM {
		p.AppendString("...")
	} else if p.Last() == ' ' {
		p.Out = p.Out[:len(p.Out)-1]
		p.AppendString("... ")
	}
	switch of.kind {
	case kindTypeParam, kindConceptParam:
		p.print(of.a)
	}
}

// printParameterRight writes the name of a template parameter that has a type.
func (p *printer) printParameterRight(n *node) {
	switch n.kind {
	case kindValueParam:
		if p.print(n.a); p.shape(n.b)&hasRight != 0 {
			p.printRight(n.b)
		}
	case kindTemplateParam:
		p.print(n.a)
	case kindPackParam:
		p.printRight(n.a)
	}
}

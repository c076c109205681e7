package cpp

// printTypeLeft writes the half of a type that is before the declared name.
func (p *Printer) printTypeLeft(n *Node) {
	switch n.Kind {
	case KindBuiltin:
		p.printWord(n.Word)
	case KindNullptr:
		if p.isLLVM {
			p.AppendString("std::nullptr_t")
		} else {
			p.AppendString("decltype(nullptr)")
		}
	case KindQualified:
		p.printQualified(n)
	case KindPointer:
		p.printPointer(n.A, "*")
	case KindReference:
		p.printReference(n)
	case KindSuffixed:
		p.printLeft(n.A)
		p.printWord(n.Word)
	case KindArray:
		p.printLeft(n.A)
	case KindMemberPointer:
		p.printMemberPointer(n)
	case KindFunction:
		p.printLeft(n.B)
		if p.isLLVM || p.shape(n.B)&HasRight == 0 {
			p.AppendByte(' ')
		}
	case KindNoexcept:
		p.AppendString("noexcept")
		if n.A != 0 {
			p.printInParens(n.A)
		}
	case KindThrow:
		p.AppendString("throw(")
		p.printList(p.List(n))
		p.AppendByte(')')
	case KindVector:
		p.printVector(n)
	case KindVendor:
		p.Print(n.A)
		p.AppendByte(' ')
		p.Print(n.B)
		if n.N > 0 {
			p.AppendByte('<')
			p.printList(p.List(n))
			p.AppendByte('>')
		}
	case KindTransform:
		p.Print(n.B)
		p.printInParens(n.A)
	case KindSized:
		p.printSized(n)
	case KindDecltype:
		if p.AppendString("decltype"); !p.isLLVM {
			p.AppendByte(' ')
		}
		p.printInParens(n.A)
	case KindElaborated:
		p.printWord(n.Word)
		p.AppendByte(' ')
		p.Print(n.A)
	case KindParam:
		if p.AppendString("auto"); !p.isLLVM {
			p.AppendByte(':')
			p.AppendInt(int(n.Num) + 1)
		}
	case KindPack:
		p.printList(p.List(n))
	case KindExpansion:
		p.printExpansion(n)
	case KindConstrained:
		p.Print(n.A)
		p.AppendByte(' ')
		p.printWord(n.Word)
	default:
		p.printParameterLeft(n)
	}
}

// printRight writes the half of a type that is after the declared name.
func (p *Printer) printRight(id Ref) {
	if p.isStopped() || !p.Enter(maxPrintDepth) {
		p.Leave()
		return
	}
	if id = p.resolve(id); id != 0 {
		switch n := &p.Nodes[id]; n.Kind {
		case KindQualified:
			p.printRight(p.unqualified(n))
		case KindPointer:
			p.printPointerRight(n.A)
		case KindReference:
			to, _ := p.collapsed(n)
			p.printPointerRight(to)
		case KindMemberPointer:
			p.printPointerRight(n.B)
		case KindArray:
			if p.Last() != ']' {
				p.AppendByte(' ')
			}
			p.AppendByte('[')
			if n.B != 0 {
				p.Print(n.B)
			}
			p.AppendByte(']')
			p.printRight(n.A)
		case KindFunction:
			p.printListInParens(p.List(n))
			p.printRight(n.B)
			p.printFunctionQualifiers(n)
		default:
			p.printParameterRight(n)
		}
	}
	p.Leave()
}

// unqualified returns the type that n qualifies. Qualifiers of a function do
// not apply.
func (p *Printer) unqualified(n *Node) Ref {
	for {
		to := p.resolve(n.A)
		if n = &p.Nodes[to]; n.Kind != KindQualified || p.isStopped() {
			return to
		}
	}
}

// printQualified writes the qualifiers of a type, those of an argument for a
// parameter of the template included.
func (p *Printer) printQualified(n *Node) {
	quals := n.Quals
	of := p.resolve(n.A)
	for p.Nodes[of].Kind == KindQualified && !p.isStopped() {
		quals |= p.Nodes[of].Quals
		of = p.resolve(p.Nodes[of].A)
	}
	if p.printLeft(of); p.Nodes[of].Kind != KindFunction {
		p.printQualifiers(quals)
	}
}

// printQualifiers writes the qualifiers of a type or a method.
func (p *Printer) printQualifiers(quals Qualifiers) {
	if quals&IsConst != 0 {
		p.AppendString(" const")
	}
	if quals&IsVolatile != 0 {
		p.AppendString(" volatile")
	}
	if quals&IsRestrict != 0 {
		p.AppendString(" restrict")
	}
}

// printFunctionQualifiers writes the qualifiers of a function after its
// parameters. GNU has the exceptions first.
func (p *Printer) printFunctionQualifiers(n *Node) {
	if n.Kind == KindFunction && !p.isLLVM {
		p.printExceptions(n)
		if n.Quals&IsTransactionSafe != 0 {
			p.AppendString(" transaction_safe")
		}
	}
	p.printQualifiers(n.Quals)
	switch n.Num {
	case 1:
		p.AppendString(" &")
	case 2:
		p.AppendString(" &&")
	}
	if n.Kind == KindFunction && p.isLLVM {
		p.printExceptions(n)
	}
}

// printExceptions writes the exception specification of a function.
func (p *Printer) printExceptions(n *Node) {
	if n.C != 0 {
		p.AppendByte(' ')
		p.Print(n.C)
	}
}

// printPointer writes the left half of a pointer or reference to a type. Arrays
// and functions need parentheses.
func (p *Printer) printPointer(to Ref, mark string) {
	p.printLeft(to)
	shape := p.shape(to)
	if shape&IsArray != 0 {
		p.AppendByte(' ')
	}
	if shape&(IsArray|IsFunction) != 0 {
		p.openPointer(false)
	}
	p.AppendString(mark)
}

// openPointer writes a parenthesis, in GNU's spelling with a blank before it
// where two words would meet.
func (p *Printer) openPointer(isMember bool) {
	if c := p.Last(); !p.isLLVM && c != ' ' && (isMember || c != '(' && c != '*') {
		p.AppendByte(' ')
	}
	p.AppendByte('(')
}

// printPointerRight writes the right half of a pointer or reference to a type.
func (p *Printer) printPointerRight(to Ref) {
	if p.shape(to)&(IsArray|IsFunction) != 0 {
		p.AppendByte(')')
	}
	p.printRight(to)
}

// collapsed returns the type that a reference refers to. A reference to a
// reference is one of the two kinds.
func (p *Printer) collapsed(n *Node) (to Ref, isMoved bool) {
	isMoved = n.Num != 0
	for {
		to = p.resolve(n.A)
		if n = &p.Nodes[to]; n.Kind != KindReference || p.isStopped() {
			return to, isMoved
		}
		isMoved = isMoved && n.Num != 0
	}
}

// printReference writes the left half of a reference.
func (p *Printer) printReference(n *Node) {
	to, isMoved := p.collapsed(n)
	if isMoved {
		p.printPointer(to, "&&")
	} else {
		p.printPointer(to, "&")
	}
}

// printMemberPointer writes the left half of a pointer to a member.
func (p *Printer) printMemberPointer(n *Node) {
	p.printLeft(n.B)
	if p.shape(n.B)&(IsArray|IsFunction) != 0 {
		p.openPointer(true)
	} else {
		p.AppendByte(' ')
	}
	p.Print(n.A)
	p.AppendString("::*")
}

// printVector writes a vector: __vector(4) for GNU, vector[4] for LLVM.
func (p *Printer) printVector(n *Node) {
	element, before, after := "pixel", " __vector(", ")"
	if p.isLLVM {
		before, after = " vector[", "]"
	}
	if n.A != 0 {
		p.Print(n.A)
	} else {
		p.AppendString(element)
	}
	p.AppendString(before)
	if n.B != 0 {
		p.Print(n.B)
	}
	p.AppendString(after)
}

// printSized writes a type with its size: _Float16, _BitInt(8).
func (p *Printer) printSized(n *Node) {
	switch p.printWord(n.Word); n.Word {
	case WordFloat, WordFloatX:
		p.Print(n.A)
		if n.Word == WordFloatX {
			p.AppendByte('x')
		}
	default:
		p.printInParens(n.A)
	}
}

// printExpansion writes something for each argument of the packs in it.
func (p *Printer) printExpansion(n *Node) {
	index, size := p.packIndex, p.packSize
	p.packIndex, p.packSize = 0, noPack
	start := len(p.Out)
	switch p.Print(n.A); p.packSize {
	case noPack:
		if !p.isLLVM && !p.isSimple(n.A) {
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
			p.Print(n.A)
		}
	}
	p.packIndex, p.packSize = index, size
}

// printParameterLeft writes the declaration of a template parameter.
func (p *Printer) printParameterLeft(n *Node) {
	switch n.Kind {
	case KindInvented:
		p.printWord(n.Word)
		if !p.isLLVM {
			p.AppendInt(int(n.Num))
		} else if n.Num > 0 {
			p.AppendInt(int(n.Num) - 1)
		}
	case KindTypeParam:
		p.AppendString("typename ")
		p.Print(n.A)
	case KindConceptParam:
		p.Print(n.B)
		p.AppendByte(' ')
		p.Print(n.A)
	case KindValueParam:
		if p.printLeft(n.B); p.shape(n.B)&HasRight == 0 {
			p.AppendByte(' ')
		}
	case KindTemplateParam:
		p.AppendString("template<")
		p.printList(p.List(n))
		if p.isLLVM {
			p.AppendString("> typename ")
		} else {
			p.AppendString("> class ")
		}
	case KindPackParam:
		p.printPackParam(n)
	}
}

// printPackParam writes dots between the kind of a parameter and its name.
func (p *Printer) printPackParam(n *Node) {
	start := len(p.Out)
	of := &p.Nodes[n.A]
	switch p.printLeft(n.A); of.Kind {
	case KindTypeParam, KindConceptParam:
		p.Out = p.Out[:start]
		if of.Kind == KindTypeParam {
			p.AppendString("typename")
		} else {
			p.Print(of.B)
		}
		p.AppendByte(' ')
	}
	if p.isLLVM {
		p.AppendString("...")
	} else if p.Last() == ' ' {
		p.Out = p.Out[:len(p.Out)-1]
		p.AppendString("... ")
	}
	switch of.Kind {
	case KindTypeParam, KindConceptParam:
		p.Print(of.A)
	}
}

// printParameterRight writes the name of a template parameter that has a type.
func (p *Printer) printParameterRight(n *Node) {
	switch n.Kind {
	case KindValueParam:
		if p.Print(n.A); p.shape(n.B)&HasRight != 0 {
			p.printRight(n.B)
		}
	case KindTemplateParam:
		p.Print(n.A)
	case KindPackParam:
		p.printRight(n.A)
	}
}

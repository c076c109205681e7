package cpp

// isSimple reports whether GNU writes an operand without parentheses.
func (p *Printer) isSimple(id Ref) bool {
	switch n := &p.Nodes[p.resolve(id)]; n.Kind {
	case KindText, KindWord, KindNested, KindInit, KindArgument:
		return true
	}
	return false
}

// printOperand writes a part of an expression, in parentheses if it binds less
// tightly than its context, or as tightly in a strict one. GNU has parentheses
// around all but names.
func (p *Printer) printOperand(id Ref, context Precedence, isStrict bool) {
	needsParens := false
	if p.isLLVM {
		prec := p.Nodes[p.resolve(id)].Prec
		needsParens = prec > context || prec == context && !isStrict && context != PrecPrimary
	} else {
		needsParens = !p.isSimple(id)
	}
	if needsParens {
		p.openParen()
	}
	p.Print(id)
	if needsParens {
		p.closeParen()
	}
}

// printOperator writes a binary operator. GNU has no blanks around it.
func (p *Printer) printOperator(op uint8) {
	text := Operators[op].Text
	if p.isLLVM && text != "," {
		p.AppendByte(' ')
	}
	p.AppendString(text)
	if p.isLLVM {
		p.AppendByte(' ')
	}
}

// printExpression writes an expression or a literal.
func (p *Printer) printExpression(n *Node) {
	switch n.Kind {
	case KindList:
		p.printList(p.List(n))
	case KindLiteral:
		p.printLiteral(n)
	case KindString:
		p.AppendString(`"<`)
		p.Print(n.A)
		p.AppendString(`>"`)
	case KindLambda:
		p.AppendString("[]")
		p.printSignature(&p.Nodes[n.A])
		p.AppendString("{...}")
	case KindPrefix:
		p.printPrefix(n)
	case KindPostfix:
		p.printOperand(n.A, n.Prec, true)
		p.AppendString(Operators[n.Op].Text)
	case KindBinary:
		p.printBinary(n)
	case KindIndex:
		p.printOperand(n.A, n.Prec, true)
		p.AppendByte('[')
		p.Print(n.B)
		p.AppendByte(']')
	case KindMember:
		p.printOperand(n.A, n.Prec, true)
		p.AppendString(Operators[n.Op].Text)
		p.printOperand(n.B, n.Prec, false)
	case KindConditional:
		p.printConditional(n)
	case KindCall:
		p.printCall(n)
	case KindNamedCast:
		p.AppendString(Operators[n.Op].Text)
		parens := p.parens
		p.parens = 0
		p.AppendByte('<')
		p.Print(n.A)
		p.AppendByte('>')
		p.parens = parens
		p.printInParens(n.B)
	case KindConvert:
		p.printInParens(n.A)
		if list := p.List(n); n.Num != 0 && !p.isLLVM {
			p.printOperand(list[0], n.Prec, false)
		} else {
			p.printListInParens(list)
		}
	case KindEnclosed:
		p.AppendString(Operators[n.Op].Text)
		if Operators[n.Op].Code == "nx" && p.isLLVM {
			p.AppendByte(' ')
		}
		p.printInParens(n.A)
	default:
		p.printOtherExpression(n)
	}
}

// printOtherExpression writes the rarer expressions.
func (p *Printer) printOtherExpression(n *Node) {
	switch n.Kind {
	case KindNew:
		p.printNew(n)
	case KindDelete:
		if n.Num != 0 {
			p.AppendString("::")
		}
		p.AppendString(Operators[n.Op].Text)
		if p.AppendByte(' '); p.isLLVM {
			p.Print(n.A)
		} else {
			p.printOperand(n.A, n.Prec, false)
		}
	case KindFold:
		p.printFold(n)
	case KindInit:
		p.printInit(n)
	case KindField, KindElement, KindRange:
		p.printDesignated(n)
	case KindPackSize:
		p.printPackSize(n)
	case KindArgument:
		p.printArgument(n)
	case KindSubobject:
		p.Print(n.B)
		p.AppendString(".<")
		p.Print(n.A)
		p.AppendString(" at offset ")
		switch text := string(p.name[n.At : n.At+n.N]); {
		case text == "":
			p.AppendByte('0')
		case text[0] == 'n':
			p.AppendByte('-')
			p.AppendString(text[1:])
		default:
			p.AppendString(text)
		}
		p.AppendByte('>')
	case KindRequirement:
		p.AppendString("requires ")
		if n.C != 0 {
			p.openParen()
			p.Print(n.C)
			p.AppendString(") ")
			p.parens--
		}
		p.AppendByte('{')
		for _, need := range p.List(n) {
			p.Print(need)
		}
		p.AppendString(" }")
	case KindNeeds:
		p.printRequirement(n)
	}
}

// printPrefix writes a unary operator and its operand.
func (p *Printer) printPrefix(n *Node) {
	text := Operators[n.Op].Text
	p.AppendString(text)
	if f := p.Nodes[p.resolve(n.A)].Kind; text == "&" && f == KindEncoding {
		p.Print(n.A) // functions may differ in their parameters only
		return
	}
	p.printOperand(n.A, n.Prec, false)
}

// printBinary writes an operator between its operands. One that could end the
// arguments of a template is in parentheses.
func (p *Printer) printBinary(n *Node) {
	text := Operators[n.Op].Text
	needsParens := (text == ">" || text == ">>") && (p.parens == 0 || !p.isLLVM)
	if needsParens {
		p.openParen()
	}
	isAssign := n.Prec == PrecAssign
	if isAssign {
		p.printOperand(n.A, PrecOrIf, false)
	} else {
		p.printOperand(n.A, n.Prec, true)
	}
	p.printOperator(n.Op)
	p.printOperand(n.B, n.Prec, isAssign)
	if needsParens {
		p.closeParen()
	}
}

// printConditional writes a ? b : c.
func (p *Printer) printConditional(n *Node) {
	p.printOperand(n.A, n.Prec, false)
	if p.isLLVM {
		p.AppendString(" ? ")
	} else {
		p.AppendByte('?')
	}
	p.printOperand(n.B, PrecDefault, false)
	p.AppendString(" : ")
	p.printOperand(n.C, PrecAssign, true)
}

// printCall writes a call. Of a function that is called without being a template
// GNU writes the name only.
func (p *Printer) printCall(n *Node) {
	f := &p.Nodes[p.resolve(n.A)]
	switch {
	case p.isLLVM:
		if Operators[n.Op].Code == "cp" {
			p.printInParens(n.A)
		} else {
			p.Print(n.A)
		}
	case f.Kind == KindEncoding && f.B == 0:
		p.printOperand(f.A, n.Prec, true)
	case f.Kind == KindEncoding:
		p.Print(n.A)
	default:
		p.printOperand(n.A, n.Prec, true)
	}
	p.printListInParens(p.List(n))
}

// printNew writes [::] new [(placement)] type [(arguments)].
func (p *Printer) printNew(n *Node) {
	if n.Num != 0 {
		p.AppendString("::")
	}
	p.AppendString("new")
	if Operators[n.Op].Code == "na" && p.isLLVM {
		p.AppendString("[]")
	}
	if n.N > 0 {
		if !p.isLLVM {
			p.AppendByte(' ')
		}
		p.printListInParens(p.List(n))
	}
	p.AppendByte(' ')
	p.Print(n.A)
	switch init := &p.Nodes[n.B]; {
	case n.B == 0:
	case init.Kind == KindInit:
		p.Print(n.B)
	default:
		p.printInParens(n.B)
	}
}

// printFold writes a fold: (... op pack), (pack op ...), (first op ... op pack).
func (p *Printer) printFold(n *Node) {
	p.openParen()
	isRight := n.Num != 0
	left, right := n.B, n.A
	if isRight {
		left, right = n.A, n.B
	}
	if left != 0 {
		p.printFolded(left, isRight)
		p.printOperator(n.Op)
	}
	p.AppendString("...")
	if right != 0 {
		p.printOperator(n.Op)
		p.printFolded(right, !isRight)
	}
	p.closeParen()
}

// printFolded writes an operand of a fold. The pack is not expanded.
func (p *Printer) printFolded(id Ref, isPack bool) {
	if !isPack {
		p.printOperand(id, PrecCast, true)
		return
	}
	index, size := p.packIndex, p.packSize
	p.packIndex, p.packSize = 0, noPack
	if p.isLLVM {
		p.openParen()
		p.printExpansion(&Node{A: id})
		p.closeParen()
	} else {
		p.printOperand(id, PrecCast, true)
	}
	p.packIndex, p.packSize = index, size
}

// printInit writes a braced list, or the string that it stands for.
func (p *Printer) printInit(n *Node) {
	if n.A != 0 {
		if p.printString(n) {
			return
		}
		p.Print(n.A)
	}
	p.AppendByte('{')
	p.printList(p.List(n))
	p.AppendByte('}')
}

// printDesignated writes an element of a braced list with its place.
func (p *Printer) printDesignated(n *Node) {
	value := n.B
	switch n.Kind {
	case KindField:
		p.AppendByte('.')
		p.Print(n.A)
	case KindElement:
		p.AppendByte('[')
		p.Print(n.A)
		p.AppendByte(']')
	default:
		p.AppendByte('[')
		p.Print(n.A)
		p.AppendString(" ... ")
		p.Print(n.B)
		p.AppendByte(']')
		value = n.C
	}
	switch k := p.Nodes[value].Kind; {
	case k == KindField || k == KindElement || k == KindRange:
		p.Print(value)
	case p.isLLVM:
		p.AppendString(" = ")
		p.Print(value)
	default:
		p.AppendByte('=')
		p.printOperand(value, PrecPrimary, false)
	}
}

// printPackSize writes the size of a pack. GNU counts, LLVM writes its elements.
func (p *Printer) printPackSize(n *Node) {
	if p.isLLVM || p.Nodes[n.A].Kind == KindArgument {
		isParam := p.Nodes[n.A].Kind == KindParam
		p.AppendString("sizeof...")
		if p.isLLVM && !isParam {
			p.AppendByte(' ')
		}
		p.openParen()
		if isParam {
			p.printExpansion(&Node{A: n.A})
		} else {
			p.Print(n.A)
		}
		p.closeParen()
		return
	}
	pack := &p.Nodes[n.A]
	if pack.Kind == KindParam {
		pack = &p.Nodes[p.argument(pack)]
	}
	if pack.Kind != KindPack {
		p.AppendInt(0)
		return
	}
	p.AppendInt(p.packLength(pack))
}

// packLength returns how many arguments a pack has, with packs in it expanded.
func (p *Printer) packLength(pack *Node) int {
	length := 0
	for _, id := range p.List(pack) {
		if p.isStopped() {
			break
		}
		n := &p.Nodes[id]
		if n.Kind == KindExpansion {
			n = &p.Nodes[n.A]
			if n.Kind == KindParam {
				n = &p.Nodes[p.argument(n)]
			}
			if n.Kind == KindPack {
				length += int(n.N)
				continue
			}
		}
		length++
	}
	return length
}

// printArgument writes a parameter of the function: GNU counts from 1, LLVM writes
// fp, fp0, fp1.
func (p *Printer) printArgument(n *Node) {
	switch {
	case !p.isLLVM:
		p.AppendString("{parm#")
		p.AppendInt(int(n.Num) + 1)
		p.AppendByte('}')
	case n.Num == 0:
		p.AppendString("fp")
	default:
		p.AppendString("fp")
		p.AppendInt(int(n.Num) - 1)
	}
}

// printRequirement writes a requirement of a requires-expression.
func (p *Printer) printRequirement(n *Node) {
	switch n.Num {
	case NeedType:
		p.AppendString(" typename ")
		p.Print(n.A)
	case NeedNested:
		p.AppendString(" requires ")
		p.Print(n.A)
	default:
		isCompound := n.Num == NeedNoexcept || n.B != 0
		p.AppendByte(' ')
		if isCompound {
			p.AppendByte('{')
		}
		p.Print(n.A)
		if isCompound {
			p.AppendByte('}')
		}
		if n.Num == NeedNoexcept {
			p.AppendString(" noexcept")
		}
		if n.B != 0 {
			p.AppendString(" -> ")
			p.Print(n.B)
		}
	}
	p.AppendByte(';')
}

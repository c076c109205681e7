package itanium

// isSimple reports whether GNU writes an operand without parentheses.
func (p *printer) isSimple(id ref) bool {
	switch n := &p.Nodes[p.resolve(id)]; n.kind {
	case kindText, kindWord, kindNested, kindInit, kindArgument:
		return true
	}
	return false
}

// printOperand writes a part of an expression, in parentheses if it binds less
// tightly than its context, or as tightly in a strict one. GNU has parentheses
// around all but names.
func (p *printer) printOperand(id ref, context precedence, isStrict bool) {
	needsParens := false
	if p.isLLVM {
		prec := p.Nodes[p.resolve(id)].prec
		needsParens = prec > context || prec == context && !isStrict && context != precPrimary
	} else {
		needsParens = !p.isSimple(id)
	}
	if needsParens {
		p.openParen()
	}
	p.print(id)
	if needsParens {
		p.closeParen()
	}
}

func (p *printer) printOperator(op uint8) {
	text := operators[op].text
	if p.isLLVM && text != "," {
		p.AppendByte(' ')
	}
	p.AppendString(text)
	if p.isLLVM {
		p.AppendByte(' ')
	}
}

func (p *printer) printExpression(n *node) {
	switch n.kind {
	case kindList:
		p.printList(p.list(n))
	case kindLiteral:
		p.printLiteral(n)
	case kindString:
		p.AppendString(`"<`)
		p.print(n.a)
		p.AppendString(`>"`)
	case kindLambda:
		p.AppendString("[]")
		p.printSignature(&p.Nodes[n.a])
		p.AppendString("{...}")
	case kindPrefix:
		p.printPrefix(n)
	case kindPostfix:
		p.printOperand(n.a, n.prec, true)
		p.AppendString(operators[n.op].text)
	case kindBinary:
		p.printBinary(n)
	case kindIndex:
		p.printOperand(n.a, n.prec, true)
		p.AppendByte('[')
		p.print(n.b)
		p.AppendByte(']')
	case kindMember:
		p.printOperand(n.a, n.prec, true)
		p.AppendString(operators[n.op].text)
		p.printOperand(n.b, n.prec, false)
	case kindConditional:
		p.printConditional(n)
	case kindCall:
		p.printCall(n)
	case kindNamedCast:
		p.AppendString(operators[n.op].text)
		parens := p.parens
		p.parens = 0
		p.AppendByte('<')
		p.print(n.a)
		p.AppendByte('>')
		p.parens = parens
		p.openParen()
		p.print(n.b)
		p.closeParen()
	case kindConvert:
		p.openParen()
		p.print(n.a)
		p.closeParen()
		if list := p.list(n); n.num != 0 && !p.isLLVM {
			p.printOperand(list[0], n.prec, false)
		} else {
			p.openParen()
			p.printList(list)
			p.closeParen()
		}
	case kindEnclosed:
		p.AppendString(operators[n.op].text)
		if operators[n.op].code == "nx" && p.isLLVM {
			p.AppendByte(' ')
		}
		p.openParen()
		p.print(n.a)
		p.closeParen()
	default:
		p.printOtherExpression(n)
	}
}

func (p *printer) printOtherExpression(n *node) {
	switch n.kind {
	case kindNew:
		p.printNew(n)
	case kindDelete:
		if n.num != 0 {
			p.AppendString("::")
		}
		p.AppendString(operators[n.op].text)
		if p.AppendByte(' '); p.isLLVM {
			p.print(n.a)
		} else {
			p.printOperand(n.a, n.prec, false)
		}
	case kindFold:
		p.printFold(n)
	case kindInit:
		p.printInit(n)
	case kindField, kindElement, kindRange:
		p.printDesignated(n)
	case kindPackSize:
		p.printPackSize(n)
	case kindArgument:
		p.printArgument(n)
	case kindSubobject:
		p.print(n.b)
		p.AppendString(".<")
		p.print(n.a)
		p.AppendString(" at offset ")
		switch text := string(p.name[n.at : n.at+n.n]); {
		case text == "":
			p.AppendByte('0')
		case text[0] == 'n':
			p.AppendByte('-')
			p.AppendString(text[1:])
		default:
			p.AppendString(text)
		}
		p.AppendByte('>')
	case kindRequirement:
		p.AppendString("requires ")
		if n.c != 0 {
			p.openParen()
			p.print(n.c)
			p.AppendString(") ")
			p.parens--
		}
		p.AppendByte('{')
		for _, need := range p.list(n) {
			p.print(need)
		}
		p.AppendString(" }")
	case kindNeeds:
		p.printRequirement(n)
	}
}

func (p *printer) printPrefix(n *node) {
	text := operators[n.op].text
	p.AppendString(text)
	if f := p.Nodes[p.resolve(n.a)].kind; text == "&" && f == kindEncoding {
		p.print(n.a) // functions may differ in their parameters only
		return
	}
	p.printOperand(n.a, n.prec, false)
}

// printBinary writes an operator between its operands. One that could end the
// arguments of a template is in parentheses.
func (p *printer) printBinary(n *node) {
	text := operators[n.op].text
	needsParens := (text == ">" || text == ">>") && (p.parens == 0 || !p.isLLVM)
	if needsParens {
		p.openParen()
	}
	isAssign := n.prec == precAssign
	if isAssign {
		p.printOperand(n.a, precOrIf, false)
	} else {
		p.printOperand(n.a, n.prec, true)
	}
	p.printOperator(n.op)
	p.printOperand(n.b, n.prec, isAssign)
	if needsParens {
		p.closeParen()
	}
}

func (p *printer) printConditional(n *node) {
	p.printOperand(n.a, n.prec, false)
	if p.isLLVM {
		p.AppendString(" ? ")
	} else {
		p.AppendByte('?')
	}
	p.printOperand(n.b, precDefault, false)
	p.AppendString(" : ")
	p.printOperand(n.c, precAssign, true)
}

// printCall writes a call. Of a function that is called without being a template
// GNU writes the name only.
func (p *printer) printCall(n *node) {
	f := &p.Nodes[p.resolve(n.a)]
	switch {
	case p.isLLVM:
		if operators[n.op].code == "cp" {
			p.openParen()
			p.print(n.a)
			p.closeParen()
		} else {
			p.print(n.a)
		}
	case f.kind == kindEncoding && f.b == 0:
		p.printOperand(f.a, n.prec, true)
	case f.kind == kindEncoding:
		p.print(n.a)
	default:
		p.printOperand(n.a, n.prec, true)
	}
	p.openParen()
	p.printList(p.list(n))
	p.closeParen()
}

func (p *printer) printNew(n *node) {
	if n.num != 0 {
		p.AppendString("::")
	}
	p.AppendString("new")
	if operators[n.op].code == "na" && p.isLLVM {
		p.AppendString("[]")
	}
	if n.n > 0 {
		if !p.isLLVM {
			p.AppendByte(' ')
		}
		p.openParen()
		p.printList(p.list(n))
		p.closeParen()
	}
	p.AppendByte(' ')
	p.print(n.a)
	switch init := &p.Nodes[n.b]; {
	case n.b == 0:
	case init.kind == kindInit:
		p.print(n.b)
	default:
		p.openParen()
		p.print(n.b)
		p.closeParen()
	}
}

// printFold writes a fold: (... op pack), (pack op ...), (first op ... op pack).
func (p *printer) printFold(n *node) {
	p.openParen()
	isRight := n.num != 0
	left, right := n.b, n.a
	if isRight {
		left, right = n.a, n.b
	}
	if left != 0 {
		p.printFolded(left, isRight)
		p.printOperator(n.op)
	}
	p.AppendString("...")
	if right != 0 {
		p.printOperator(n.op)
		p.printFolded(right, !isRight)
	}
	p.closeParen()
}

// printFolded writes an operand of a fold. The pack is not expanded.
func (p *printer) printFolded(id ref, isPack bool) {
	if !isPack {
		p.printOperand(id, precCast, true)
		return
	}
	index, size := p.packIndex, p.packSize
	p.packIndex, p.packSize = 0, noPack
	if p.isLLVM {
		p.openParen()
		p.printExpansion(&node{a: id})
		p.closeParen()
	} else {
		p.printOperand(id, precCast, true)
	}
	p.packIndex, p.packSize = index, size
}

func (p *printer) printInit(n *node) {
	if n.a != 0 {
		if p.printString(n) {
			return
		}
		p.print(n.a)
	}
	p.AppendByte('{')
	p.printList(p.list(n))
	p.AppendByte('}')
}

// printDesignated writes an element of a braced list with its place.
func (p *printer) printDesignated(n *node) {
	value := n.b
	switch n.kind {
	case kindField:
		p.AppendByte('.')
		p.print(n.a)
	case kindElement:
		p.AppendByte('[')
		p.print(n.a)
		p.AppendByte(']')
	default:
		p.AppendByte('[')
		p.print(n.a)
		p.AppendString(" ... ")
		p.print(n.b)
		p.AppendByte(']')
		value = n.c
	}
	switch k := p.Nodes[value].kind; {
	case k == kindField || k == kindElement || k == kindRange:
		p.print(value)
	case p.isLLVM:
		p.AppendString(" = ")
		p.print(value)
	default:
		p.AppendByte('=')
		p.printOperand(value, precPrimary, false)
	}
}

// printPackSize writes the size of a pack. GNU counts, LLVM writes its elements.
func (p *printer) printPackSize(n *node) {
	if p.isLLVM || p.Nodes[n.a].kind == kindArgument {
		p.AppendString("sizeof...")
		if p.isLLVM {
			p.AppendByte(' ')
		}
		p.openParen()
		if p.Nodes[n.a].kind == kindParam {
			p.printExpansion(&node{a: n.a})
		} else {
			p.print(n.a)
		}
		p.closeParen()
		return
	}
	pack := &p.Nodes[n.a]
	if pack.kind == kindParam {
		pack = &p.Nodes[p.argument(pack)]
	}
	if pack.kind != kindPack {
		p.AppendInt(0)
		return
	}
	p.AppendInt(p.packLength(pack))
}

// packLength returns how many arguments a pack has, with packs in it expanded.
func (p *printer) packLength(pack *node) int {
	length := 0
	for _, id := range p.list(pack) {
		if p.isStopped() {
			break
		}
		n := &p.Nodes[id]
		if n.kind == kindExpansion {
			n = &p.Nodes[n.a]
			if n.kind == kindParam {
				n = &p.Nodes[p.argument(n)]
			}
			if n.kind == kindPack {
				length += int(n.n)
				continue
			}
		}
		length++
	}
	return length
}

func (p *printer) printArgument(n *node) {
	switch {
	case !p.isLLVM:
		p.AppendString("{parm#")
		p.AppendInt(int(n.num) + 1)
		p.AppendByte('}')
	case n.num == 0:
		p.AppendString("fp")
	default:
		p.AppendString("fp")
		p.AppendInt(int(n.num) - 1)
	}
}

func (p *printer) printRequirement(n *node) {
	switch n.num {
	case needType:
		p.AppendString(" typename ")
		p.print(n.a)
	case needNested:
		p.AppendString(" requires ")
		p.print(n.a)
	default:
		isCompound := n.num == needNoexcept || n.b != 0
		p.AppendByte(' ')
		if isCompound {
			p.AppendByte('{')
		}
		p.print(n.a)
		if isCompound {
			p.AppendByte('}')
		}
		if n.num == needNoexcept {
			p.AppendString(" noexcept")
		}
		if n.b != 0 {
			p.AppendString(" -> ")
			p.print(n.b)
		}
	}
	p.AppendByte(';')
}

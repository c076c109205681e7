package itanium

import (
	"bytes"

	"symbolon/internal/demangle/core"
	"symbolon/internal/demangle/cpp"
)

// parseExpression reads an expression that depends on template parameters.
//
//	<expression> ::= <operator> <expression>+
//	             ::= <template-param> | <function-param> | <expr-primary> | <unresolved-name>
//	             ::= the forms of the functions below
func (p *parser) parseExpression() cpp.Ref {
	if !p.enter() {
		return 0
	}
	defer p.Leave()
	isGlobal := p.AcceptString("gs")
	first, second := p.Peek(), p.PeekAt(1)
	if op, ok := cpp.FindOperator(first, second); ok {
		p.Pos += 2
		return p.parseOperation(op, isGlobal)
	}
	switch first {
	case 'L':
		return p.parsePrimary()
	case 'T':
		return p.parseTemplateParam()
	case 'f':
		if second == 'p' || second == 'L' && core.IsDigit(p.PeekAt(2)) {
			return p.parseFunctionParam()
		}
		return p.parseFold()
	case 'u':
		return p.parseVendorExpression()
	}
	switch string([]byte{first, second}) {
	case "il":
		p.Pos += 2
		return p.parseInitializers(0)
	case "tl":
		p.Pos += 2
		return p.parseInitializers(p.parseType())
	case "sp":
		p.Pos += 2
		return p.Add(cpp.Node{Kind: cpp.KindExpansion, A: p.parseExpression(), Flags: cpp.IsDependent})
	case "sZ":
		p.Pos += 2
		if p.Peek() == 'f' {
			return p.Add(cpp.Node{Kind: cpp.KindPackSize, A: p.parseFunctionParam()})
		}
		return p.Add(cpp.Node{Kind: cpp.KindPackSize, A: p.parseTemplateParam()})
	case "sP":
		p.Pos += 2
		mark := p.Mark()
		for !p.Accept('E') && !p.Failed {
			p.Push(p.parseTemplateArg())
		}
		return p.Add(cpp.Node{Kind: cpp.KindPackSize, A: p.AddList(cpp.Node{Kind: cpp.KindPack}, mark)})
	case "so":
		return p.parseSubobject()
	case "mc":
		return p.parseMemberConversion()
	case "tr":
		p.Pos += 2
		return p.addWord(cpp.WordThrow)
	case "rq", "rQ":
		return p.parseRequirements()
	}
	return p.parseUnresolvedName(isGlobal)
}

// parseOperation reads the operands of an operator.
func (p *parser) parseOperation(op uint8, isGlobal bool) cpp.Ref {
	o := &cpp.Operators[op]
	n := cpp.Node{Op: op, Prec: o.Prec}
	switch o.Form {
	case cpp.FormPrefix:
		n.Kind, n.A = cpp.KindPrefix, p.parseExpression()
	case cpp.FormPostfix:
		if n.Kind = cpp.KindPostfix; p.Accept('_') {
			n.Kind, n.Prec = cpp.KindPrefix, cpp.PrecUnary
		}
		n.A = p.parseExpression()
	case cpp.FormBinary:
		n.Kind, n.A = cpp.KindBinary, p.parseExpression()
		n.B = p.parseExpression()
	case cpp.FormIndex:
		n.Kind, n.A = cpp.KindIndex, p.parseExpression()
		n.B = p.parseExpression()
	case cpp.FormMember:
		n.Kind, n.A = cpp.KindMember, p.parseExpression()
		n.B = p.parseExpression()
	case cpp.FormNew:
		return p.parseNewExpression(n, isGlobal)
	case cpp.FormDelete:
		n.Kind, n.A = cpp.KindDelete, p.parseExpression()
		if isGlobal {
			n.Num = 1
		}
	case cpp.FormCall:
		n.Kind, n.A = cpp.KindCall, p.parseExpression()
		return p.parseExpressions(n)
	case cpp.FormConvert:
		return p.parseConversion(n)
	case cpp.FormConditional:
		n.Kind, n.A = cpp.KindConditional, p.parseExpression()
		n.B = p.parseExpression()
		n.C = p.parseExpression()
	case cpp.FormNamedCast:
		n.Kind, n.A = cpp.KindNamedCast, p.parseType()
		n.B = p.parseExpression()
	case cpp.FormOfType:
		n.Kind, n.A = cpp.KindEnclosed, p.parseType()
	case cpp.FormOfValue:
		n.Kind, n.A = cpp.KindEnclosed, p.parseExpression()
	}
	return p.Add(n)
}

// parseExpressions reads the list of n, up to its E.
func (p *parser) parseExpressions(n cpp.Node) cpp.Ref {
	mark := p.Mark()
	for !p.Accept('E') && !p.Failed {
		p.Push(p.parseExpression())
	}
	return p.AddList(n, mark)
}

// parseConversion reads a cast in C's form, or the construction of a value.
//
//	<expression> ::= cv <type> <expression> | cv <type> _ <expression>* E
func (p *parser) parseConversion(n cpp.Node) cpp.Ref {
	noTemplateArgs := p.noTemplateArgs
	p.noTemplateArgs = false
	n.Kind, n.A = cpp.KindConvert, p.parseType()
	p.noTemplateArgs = noTemplateArgs
	if p.Accept('_') {
		return p.parseExpressions(n)
	}
	n.Num = 1
	mark := p.Mark()
	p.Push(p.parseExpression())
	return p.AddList(n, mark)
}

// parseNewExpression reads the arguments of new.
//
//	<expression> ::= [gs] nw <expression>* _ <type> <initializer>
//	<initializer> ::= E | pi <expression>* E | il <braced-expression>* E
func (p *parser) parseNewExpression(n cpp.Node, isGlobal bool) cpp.Ref {
	n.Kind = cpp.KindNew
	if isGlobal {
		n.Num = 1
	}
	mark := p.Mark()
	for !p.Accept('_') && !p.Failed {
		p.Push(p.parseExpression())
	}
	n.At, n.N = p.Collect(mark)
	n.A = p.parseType()
	switch {
	case p.AcceptString("pi"):
		n.B = p.parseExpressions(cpp.Node{Kind: cpp.KindList})
	case p.AcceptString("il"):
		n.B = p.parseInitializers(0)
	default:
		p.expect('E')
	}
	return p.Add(n)
}

// parseFunctionParam reads a parameter of the function whose type is being read.
//
//	<function-param> ::= fp <CV-qualifiers> [<number>] _ | fpT    # this
//	                 ::= fL <number> p <CV-qualifiers> [<number>] _
func (p *parser) parseFunctionParam() cpp.Ref {
	p.Pos++
	if p.Accept('L') {
		p.skipNumber()
	}
	p.expect('p')
	if p.Accept('T') {
		return p.addWord(cpp.WordThis)
	}
	p.parseQualifiers()
	return p.Add(cpp.Node{Kind: cpp.KindArgument, Num: int32(p.parseNumber())})
}

// parseFold reads a fold over a pack.
//
//	<expression> ::= fl <operator> <expression> | fr <operator> <expression>
//	             ::= fL <operator> <expression> <expression> | fR <operator> <expression> <expression>
func (p *parser) parseFold() cpp.Ref {
	p.Pos++
	c := p.Next()
	op, ok := cpp.FindOperator(p.Peek(), p.PeekAt(1))
	if !ok || bytes.IndexByte([]byte("lrLR"), c) < 0 {
		return p.fail()
	}
	p.Pos += 2
	n := cpp.Node{Kind: cpp.KindFold, Op: op, A: p.parseExpression()}
	if c == 'L' || c == 'R' {
		n.B = p.parseExpression()
	}
	if c == 'L' {
		n.A, n.B = n.B, n.A
	}
	if c == 'r' || c == 'R' {
		n.Num = 1
	}
	return p.Add(n)
}

// parseInitializers reads a braced list, of a type if there is one.
//
//	<expression> ::= tl <type> <braced-expression>* E | il <braced-expression>* E
func (p *parser) parseInitializers(of cpp.Ref) cpp.Ref {
	mark := p.Mark()
	for !p.Accept('E') && !p.Failed {
		p.Push(p.parseBraced())
	}
	return p.AddList(cpp.Node{Kind: cpp.KindInit, A: of}, mark)
}

// parseBraced reads an element of a braced list.
//
//	<braced-expression> ::= <expression>
//	                    ::= di <field source-name> <braced-expression>
//	                    ::= dx <index expression> <braced-expression>
//	                    ::= dX <expression> <expression> <braced-expression>
func (p *parser) parseBraced() cpp.Ref {
	if p.Peek() != 'd' || bytes.IndexByte([]byte("ixX"), p.PeekAt(1)) < 0 {
		return p.parseExpression()
	}
	if !p.enter() {
		return 0
	}
	defer p.Leave()
	p.Pos++
	var n cpp.Node
	switch p.Next() {
	case 'i':
		n.Kind, n.A = cpp.KindField, p.parseSourceName()
		n.B = p.parseBraced()
	case 'x':
		n.Kind, n.A = cpp.KindElement, p.parseExpression()
		n.B = p.parseBraced()
	default:
		n.Kind, n.A = cpp.KindRange, p.parseExpression()
		n.B = p.parseExpression()
		n.C = p.parseBraced()
	}
	return p.Add(n)
}

// parseSubobject reads a part of an object, for its address.
//
//	<expression> ::= so <type> <expression> [<offset number>] <union-selector>* [p] E
//	<union-selector> ::= _ [<number>]
func (p *parser) parseSubobject() cpp.Ref {
	p.Pos += 2
	n := cpp.Node{Kind: cpp.KindSubobject, A: p.parseType()}
	n.B = p.parseExpression()
	at := p.Pos
	if p.Peek() == 'n' || core.IsDigit(p.Peek()) {
		p.skipNumber()
	}
	n.At, n.N = int32(at), int32(p.Pos-at)
	for p.Accept('_') {
		if p.Peek() == 'n' || core.IsDigit(p.Peek()) {
			p.skipNumber()
		}
	}
	p.Accept('p')
	p.expect('E')
	return p.Add(n)
}

// parseMemberConversion reads the conversion of a pointer to a member.
//
//	<expression> ::= mc <type> <expression> [<offset number>] E
func (p *parser) parseMemberConversion() cpp.Ref {
	p.Pos += 2
	n := cpp.Node{Kind: cpp.KindConvert, Prec: cpp.PrecCast, A: p.parseType()}
	mark := p.Mark()
	p.Push(p.parseExpression())
	if p.Peek() != 'E' {
		p.skipNumber()
	}
	p.expect('E')
	return p.AddList(n, mark)
}

// parseVendorExpression reads a builtin operator of some compilers.
//
//	<expression> ::= u <source-name> <template-arg>* E
//	             ::= u8__uuidoft <type> | u8__uuidofz <expression>
func (p *parser) parseVendorExpression() cpp.Ref {
	p.Pos++
	isUUID := p.HasNext("8__uuidof")
	n := cpp.Node{Kind: cpp.KindCall, A: p.parseSourceName()}
	mark := p.Mark()
	switch {
	case isUUID && p.Accept('t'):
		p.Push(p.parseType())
	case isUUID && p.Accept('z'):
		p.Push(p.parseExpression())
	default:
		for !p.Accept('E') && !p.Failed {
			p.Push(p.parseTemplateArg())
		}
	}
	return p.AddList(n, mark)
}

// parseRequirements reads a requires-expression.
//
//	<expression> ::= rQ <bare-function-type> _ <requirement>+ E | rq <requirement>+ E
//	<requirement> ::= X <expression> [N] [R <type-constraint>]
//	              ::= T <type> | Q <constraint-expression>
func (p *parser) parseRequirements() cpp.Ref {
	p.Pos++
	n := cpp.Node{Kind: cpp.KindRequirement}
	if p.Next() == 'Q' {
		mark := p.Mark()
		p.parseTypes()
		n.C = p.AddList(cpp.Node{Kind: cpp.KindList}, mark)
		p.expect('_')
	}
	mark := p.Mark()
	for !p.Accept('E') && !p.Failed {
		need := cpp.Node{Kind: cpp.KindNeeds}
		switch p.Next() {
		case 'X':
			need.A = p.parseExpression()
			if p.Accept('N') {
				need.Num = cpp.NeedNoexcept
			}
			if p.Accept('R') {
				need.B = p.parseName(nil)
			}
		case 'T':
			need.A, need.Num = p.parseType(), cpp.NeedType
		case 'Q':
			need.A, need.Num = p.parseExpression(), cpp.NeedNested
		default:
			p.fail()
		}
		p.Push(p.Add(need))
	}
	return p.AddList(n, mark)
}

// parsePrimary reads a literal, or a name.
//
//	<expr-primary> ::= L <type> <value> E
//	               ::= L <string type> E | L <nullptr type> E | L <lambda type> E
//	               ::= L _Z <encoding> E
func (p *parser) parsePrimary() cpp.Ref {
	p.Pos++
	var n cpp.Node
	switch c := p.Peek(); {
	case c == '_' || c == 'Z':
		p.Accept('_')
		p.expect('Z')
		f := p.parseEncoding(encodingWhole)
		p.expect('E')
		return f
	case c == 'A':
		n.Kind, n.A = cpp.KindString, p.parseType()
		if p.Accept('E') {
			return p.Add(n)
		}
	case c == 'U' && p.PeekAt(1) == 'l':
		n.Kind, n.A = cpp.KindLambda, p.parseType()
		p.expect('E')
		return p.Add(n)
	default:
		n.A = p.parseType()
	}
	n.Kind = cpp.KindLiteral
	if p.Accept('n') {
		n.Num = 1
	}
	n.At = int32(p.Pos)
	for p.Pos < p.End && p.Text[p.Pos] != 'E' {
		p.Pos++
	}
	n.N = int32(p.Pos) - n.At
	if n.N == 0 && p.Nodes[n.A].Kind != cpp.KindNullptr {
		return p.fail()
	}
	p.expect('E')
	return p.Add(n)
}

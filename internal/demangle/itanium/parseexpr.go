package itanium

import (
	"bytes"

	"symbolon/internal/demangle/core"
)

// parseExpression reads an expression that depends on template parameters.
//
//	<expression> ::= <operator> <expression>+
//	             ::= <template-param> | <function-param> | <expr-primary> | <unresolved-name>
//	             ::= the forms of the functions below
func (p *parser) parseExpression() ref {
	if !p.enter() {
		return 0
	}
	defer p.Leave()
	isGlobal := p.AcceptString("gs")
	first, second := p.Peek(), p.PeekAt(1)
	if op, ok := findOperator(first, second); ok {
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
		return p.Add(node{kind: kindExpansion, a: p.parseExpression(), flags: isDependent})
	case "sZ":
		p.Pos += 2
		if p.Peek() == 'f' {
			return p.Add(node{kind: kindPackSize, a: p.parseFunctionParam()})
		}
		return p.Add(node{kind: kindPackSize, a: p.parseTemplateParam()})
	case "sP":
		p.Pos += 2
		mark := p.Mark()
		for !p.Accept('E') && !p.Failed {
			p.Push(p.parseTemplateArg())
		}
		return p.Add(node{kind: kindPackSize, a: p.addList(node{kind: kindPack}, mark)})
	case "so":
		return p.parseSubobject()
	case "mc":
		return p.parseMemberConversion()
	case "tr":
		p.Pos += 2
		return p.addWord(wordThrow)
	case "rq", "rQ":
		return p.parseRequirements()
	}
	return p.parseUnresolvedName(isGlobal)
}

// parseOperation reads the operands of an operator.
func (p *parser) parseOperation(op uint8, isGlobal bool) ref {
	o := &operators[op]
	n := node{op: op, prec: o.prec}
	switch o.form {
	case formPrefix:
		n.kind, n.a = kindPrefix, p.parseExpression()
	case formPostfix:
		if n.kind = kindPostfix; p.Accept('_') {
			n.kind, n.prec = kindPrefix, precUnary
		}
		n.a = p.parseExpression()
	case formBinary:
		n.kind, n.a = kindBinary, p.parseExpression()
		n.b = p.parseExpression()
	case formIndex:
		n.kind, n.a = kindIndex, p.parseExpression()
		n.b = p.parseExpression()
	case formMember:
		n.kind, n.a = kindMember, p.parseExpression()
		n.b = p.parseExpression()
	case formNew:
		return p.parseNewExpression(n, isGlobal)
	case formDelete:
		n.kind, n.a = kindDelete, p.parseExpression()
		if isGlobal {
			n.num = 1
		}
	case formCall:
		n.kind, n.a = kindCall, p.parseExpression()
		return p.parseExpressions(n, 'E')
	case formConvert:
		return p.parseConversion(n)
	case formConditional:
		n.kind, n.a = kindConditional, p.parseExpression()
		n.b = p.parseExpression()
		n.c = p.parseExpression()
	case formNamedCast:
		n.kind, n.a = kindNamedCast, p.parseType()
		n.b = p.parseExpression()
	case formOfType:
		n.kind, n.a = kindEnclosed, p.parseType()
	case formOfValue:
		n.kind, n.a = kindEnclosed, p.parseExpression()
	}
	return p.Add(n)
}

// parseExpressions reads the list of n, up to a byte.
func (p *parser) parseExpressions(n node, end byte) ref {
	mark := p.Mark()
	for !p.Accept(end) && !p.Failed {
		p.Push(p.parseExpression())
	}
	return p.addList(n, mark)
}

// parseConversion reads a cast in C's form, or the construction of a value.
//
//	<expression> ::= cv <type> <expression> | cv <type> _ <expression>* E
func (p *parser) parseConversion(n node) ref {
	noTemplateArgs := p.noTemplateArgs
	p.noTemplateArgs = false
	n.kind, n.a = kindConvert, p.parseType()
	p.noTemplateArgs = noTemplateArgs
	if p.Accept('_') {
		return p.parseExpressions(n, 'E')
	}
	n.num = 1
	mark := p.Mark()
	p.Push(p.parseExpression())
	return p.addList(n, mark)
}

// parseNewExpression reads the arguments of new.
//
//	<expression> ::= [gs] nw <expression>* _ <type> <initializer>
//	<initializer> ::= E | pi <expression>* E | il <braced-expression>* E
func (p *parser) parseNewExpression(n node, isGlobal bool) ref {
	n.kind = kindNew
	if isGlobal {
		n.num = 1
	}
	mark := p.Mark()
	for !p.Accept('_') && !p.Failed {
		p.Push(p.parseExpression())
	}
	n.at, n.n = p.Collect(mark)
	n.a = p.parseType()
	switch {
	case p.AcceptString("pi"):
		n.b = p.parseExpressions(node{kind: kindList}, 'E')
	case p.AcceptString("il"):
		n.b = p.parseInitializers(0)
	default:
		p.expect('E')
	}
	return p.Add(n)
}

// parseFunctionParam reads a parameter of the function whose type is being read.
//
//	<function-param> ::= fp <CV-qualifiers> [<number>] _ | fpT    # this
//	                 ::= fL <number> p <CV-qualifiers> [<number>] _
func (p *parser) parseFunctionParam() ref {
	p.Pos++
	if p.Accept('L') {
		p.skipNumber()
	}
	p.expect('p')
	if p.Accept('T') {
		return p.addWord(wordThis)
	}
	p.parseQualifiers()
	return p.Add(node{kind: kindArgument, num: int32(p.parseNumber())})
}

// parseFold reads a fold over a pack.
//
//	<expression> ::= fl <operator> <expression> | fr <operator> <expression>
//	             ::= fL <operator> <expression> <expression> | fR <operator> <expression> <expression>
func (p *parser) parseFold() ref {
	p.Pos++
	c := p.Next()
	op, ok := findOperator(p.Peek(), p.PeekAt(1))
	if !ok || bytes.IndexByte([]byte("lrLR"), c) < 0 {
		return p.fail()
	}
	p.Pos += 2
	n := node{kind: kindFold, op: op, a: p.parseExpression()}
	if c == 'L' || c == 'R' {
		n.b = p.parseExpression()
	}
	if c == 'L' {
		n.a, n.b = n.b, n.a
	}
	if c == 'r' || c == 'R' {
		n.num = 1
	}
	return p.Add(n)
}

// parseInitializers reads a braced list, of a type if there is one.
//
//	<expression> ::= tl <type> <braced-expression>* E | il <braced-expression>* E
func (p *parser) parseInitializers(of ref) ref {
	mark := p.Mark()
	for !p.Accept('E') && !p.Failed {
		p.Push(p.parseBraced())
	}
	return p.addList(node{kind: kindInit, a: of}, mark)
}

// parseBraced reads an element of a braced list.
//
//	<braced-expression> ::= <expression>
//	                    ::= di <field source-name> <braced-expression>
//	                    ::= dx <index expression> <braced-expression>
//	                    ::= dX <expression> <expression> <braced-expression>
func (p *parser) parseBraced() ref {
	if p.Peek() != 'd' || bytes.IndexByte([]byte("ixX"), p.PeekAt(1)) < 0 {
		return p.parseExpression()
	}
	if !p.enter() {
		return 0
	}
	defer p.Leave()
	p.Pos++
	var n node
	switch p.Next() {
	case 'i':
		n.kind, n.a = kindField, p.parseSourceName()
		n.b = p.parseBraced()
	case 'x':
		n.kind, n.a = kindElement, p.parseExpression()
		n.b = p.parseBraced()
	default:
		n.kind, n.a = kindRange, p.parseExpression()
		n.b = p.parseExpression()
		n.c = p.parseBraced()
	}
	return p.Add(n)
}

// parseSubobject reads a part of an object, for its address.
//
//	<expression> ::= so <type> <expression> [<offset number>] <union-selector>* [p] E
//	<union-selector> ::= _ [<number>]
func (p *parser) parseSubobject() ref {
	p.Pos += 2
	n := node{kind: kindSubobject, a: p.parseType()}
	n.b = p.parseExpression()
	at := p.Pos
	if p.Peek() == 'n' || core.IsDigit(p.Peek()) {
		p.skipNumber()
	}
	n.at, n.n = int32(at), int32(p.Pos-at)
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
func (p *parser) parseMemberConversion() ref {
	p.Pos += 2
	n := node{kind: kindConvert, prec: precCast, a: p.parseType()}
	mark := p.Mark()
	p.Push(p.parseExpression())
	if p.Peek() != 'E' {
		p.skipNumber()
	}
	p.expect('E')
	return p.addList(n, mark)
}

// parseVendorExpression reads a builtin operator of some compilers.
//
//	<expression> ::= u <source-name> <template-arg>* E
//	             ::= u8__uuidoft <type> | u8__uuidofz <expression>
func (p *parser) parseVendorExpression() ref {
	p.Pos++
	isUUID := p.HasNext("8__uuidof")
	n := node{kind: kindCall, a: p.parseSourceName()}
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
	return p.addList(n, mark)
}

// parseRequirements reads a requires-expression.
//
//	<expression> ::= rQ <bare-function-type> _ <requirement>+ E | rq <requirement>+ E
//	<requirement> ::= X <expression> [N] [R <type-constraint>]
//	              ::= T <type> | Q <constraint-expression>
func (p *parser) parseRequirements() ref {
	p.Pos++
	n := node{kind: kindRequirement}
	if p.Next() == 'Q' {
		mark := p.Mark()
		p.parseTypes()
		n.c = p.addList(node{kind: kindList}, mark)
		p.expect('_')
	}
	mark := p.Mark()
	for !p.Accept('E') && !p.Failed {
		need := node{kind: kindNeeds}
		switch p.Next() {
		case 'X':
			need.a = p.parseExpression()
			if p.Accept('N') {
				need.num = needNoexcept
			}
			if p.Accept('R') {
				need.b = p.parseName(nil)
			}
		case 'T':
			need.a, need.num = p.parseType(), needType
		case 'Q':
			need.a, need.num = p.parseExpression(), needNested
		default:
			p.fail()
		}
		p.Push(p.Add(need))
	}
	return p.addList(n, mark)
}

// The forms of a requirement.
const (
	needNoexcept = 1 + iota // { a } noexcept
	needType                // typename a
	needNested              // requires a
)

// parsePrimary reads a literal, or a name.
//
//	<expr-primary> ::= L <type> <value> E
//	               ::= L <string type> E | L <nullptr type> E | L <lambda type> E
//	               ::= L _Z <encoding> E
func (p *parser) parsePrimary() ref {
	p.Pos++
	var n node
	switch c := p.Peek(); {
	case c == '_' || c == 'Z':
		p.Accept('_')
		p.expect('Z')
		f := p.parseEncoding(encodingWhole)
		p.expect('E')
		return f
	case c == 'A':
		n.kind, n.a = kindString, p.parseType()
		if p.Accept('E') {
			return p.Add(n)
		}
	case c == 'U' && p.PeekAt(1) == 'l':
		n.kind, n.a = kindLambda, p.parseType()
		p.expect('E')
		return p.Add(n)
	default:
		n.a = p.parseType()
	}
	n.kind = kindLiteral
	if p.Accept('n') {
		n.num = 1
	}
	n.at = int32(p.Pos)
	for p.Pos < p.End && p.Text[p.Pos] != 'E' {
		p.Pos++
	}
	n.n = int32(p.Pos) - n.at
	if n.n == 0 && p.Nodes[n.a].kind != kindNullptr {
		return p.fail()
	}
	p.expect('E')
	return p.Add(n)
}

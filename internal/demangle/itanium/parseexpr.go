package itanium

import (
	"bytes"

	"symbolon/internal/demangle/core"
)

// expression reads an expression that depends on template parameters.
//
//	<expression> ::= <operator> <expression>+
//	             ::= <template-param> | <function-param> | <expr-primary> | <unresolved-name>
//	             ::= the forms of the functions below
func (p *parser) expression() ref {
	if !p.enter() {
		return 0
	}
	defer p.Leave()
	isGlobal := p.AcceptString("gs")
	first, second := p.Peek(), p.PeekAt(1)
	if op, ok := findOperator(first, second); ok {
		p.Pos += 2
		return p.operation(op, isGlobal)
	}
	switch first {
	case 'L':
		return p.primary()
	case 'T':
		return p.templateParam()
	case 'f':
		if second == 'p' || second == 'L' && core.IsDigit(p.PeekAt(2)) {
			return p.functionParam()
		}
		return p.fold()
	case 'u':
		return p.vendorExpression()
	}
	switch string([]byte{first, second}) {
	case "il":
		p.Pos += 2
		return p.initializers(0)
	case "tl":
		p.Pos += 2
		return p.initializers(p.typ())
	case "sp":
		p.Pos += 2
		return p.Add(node{kind: kindExpansion, a: p.expression(), flags: isDependent})
	case "sZ":
		p.Pos += 2
		if p.Peek() == 'f' {
			return p.Add(node{kind: kindPackSize, a: p.functionParam()})
		}
		return p.Add(node{kind: kindPackSize, a: p.templateParam()})
	case "sP":
		p.Pos += 2
		mark := p.Mark()
		for !p.Accept('E') && !p.Failed {
			p.Push(p.templateArg())
		}
		return p.Add(node{kind: kindPackSize, a: p.addList(node{kind: kindPack}, mark)})
	case "so":
		return p.subobject()
	case "mc":
		return p.memberConversion()
	case "tr":
		p.Pos += 2
		return p.word(wordThrow)
	case "rq", "rQ":
		return p.requirements()
	}
	return p.unresolvedName(isGlobal)
}

// operation reads the operands of an operator.
func (p *parser) operation(op uint8, isGlobal bool) ref {
	o := &operators[op]
	n := node{op: op, prec: o.prec}
	switch o.form {
	case formPrefix:
		n.kind, n.a = kindPrefix, p.expression()
	case formPostfix:
		if n.kind = kindPostfix; p.Accept('_') {
			n.kind, n.prec = kindPrefix, precUnary
		}
		n.a = p.expression()
	case formBinary:
		n.kind, n.a = kindBinary, p.expression()
		n.b = p.expression()
	case formIndex:
		n.kind, n.a = kindIndex, p.expression()
		n.b = p.expression()
	case formMember:
		n.kind, n.a = kindMember, p.expression()
		n.b = p.expression()
	case formNew:
		return p.newExpression(n, isGlobal)
	case formDelete:
		n.kind, n.a = kindDelete, p.expression()
		if isGlobal {
			n.num = 1
		}
	case formCall:
		n.kind, n.a = kindCall, p.expression()
		return p.expressions(n, 'E')
	case formConvert:
		return p.conversion(n)
	case formConditional:
		n.kind, n.a = kindConditional, p.expression()
		n.b = p.expression()
		n.c = p.expression()
	case formNamedCast:
		n.kind, n.a = kindNamedCast, p.typ()
		n.b = p.expression()
	case formOfType:
		n.kind, n.a = kindEnclosed, p.typ()
	case formOfValue:
		n.kind, n.a = kindEnclosed, p.expression()
	}
	return p.Add(n)
}

// expressions reads the list of n, up to a byte.
func (p *parser) expressions(n node, end byte) ref {
	mark := p.Mark()
	for !p.Accept(end) && !p.Failed {
		p.Push(p.expression())
	}
	return p.addList(n, mark)
}

// conversion reads a cast in C's form, or the construction of a value.
//
//	<expression> ::= cv <type> <expression> | cv <type> _ <expression>* E
func (p *parser) conversion(n node) ref {
	noTemplateArgs := p.noTemplateArgs
	p.noTemplateArgs = false
	n.kind, n.a = kindConvert, p.typ()
	p.noTemplateArgs = noTemplateArgs
	if p.Accept('_') {
		return p.expressions(n, 'E')
	}
	n.num = 1
	mark := p.Mark()
	p.Push(p.expression())
	return p.addList(n, mark)
}

// newExpression reads the arguments of new.
//
//	<expression> ::= [gs] nw <expression>* _ <type> <initializer>
//	<initializer> ::= E | pi <expression>* E | il <braced-expression>* E
func (p *parser) newExpression(n node, isGlobal bool) ref {
	n.kind = kindNew
	if isGlobal {
		n.num = 1
	}
	mark := p.Mark()
	for !p.Accept('_') && !p.Failed {
		p.Push(p.expression())
	}
	n.at, n.n = p.Collect(mark)
	n.a = p.typ()
	switch {
	case p.AcceptString("pi"):
		n.b = p.expressions(node{kind: kindList}, 'E')
	case p.AcceptString("il"):
		n.b = p.initializers(0)
	default:
		p.expect('E')
	}
	return p.Add(n)
}

// functionParam reads a parameter of the function whose type is being read.
//
//	<function-param> ::= fp <CV-qualifiers> [<number>] _ | fpT    # this
//	                 ::= fL <number> p <CV-qualifiers> [<number>] _
func (p *parser) functionParam() ref {
	p.Pos++
	if p.Accept('L') {
		p.skipNumber()
	}
	p.expect('p')
	if p.Accept('T') {
		return p.word(wordThis)
	}
	p.qualifiers()
	return p.Add(node{kind: kindArgument, num: int32(p.number())})
}

// fold reads a fold over a pack.
//
//	<expression> ::= fl <operator> <expression> | fr <operator> <expression>
//	             ::= fL <operator> <expression> <expression> | fR <operator> <expression> <expression>
func (p *parser) fold() ref {
	p.Pos++
	c := p.Next()
	op, ok := findOperator(p.Peek(), p.PeekAt(1))
	if !ok || bytes.IndexByte([]byte("lrLR"), c) < 0 {
		return p.fail()
	}
	p.Pos += 2
	n := node{kind: kindFold, op: op, a: p.expression()}
	if c == 'L' || c == 'R' {
		n.b = p.expression()
	}
	if c == 'L' {
		n.a, n.b = n.b, n.a
	}
	if c == 'r' || c == 'R' {
		n.num = 1
	}
	return p.Add(n)
}

// initializers reads a braced list, of a type if there is one.
//
//	<expression> ::= tl <type> <braced-expression>* E | il <braced-expression>* E
func (p *parser) initializers(of ref) ref {
	mark := p.Mark()
	for !p.Accept('E') && !p.Failed {
		p.Push(p.braced())
	}
	return p.addList(node{kind: kindInit, a: of}, mark)
}

// braced reads an element of a braced list.
//
//	<braced-expression> ::= <expression>
//	                    ::= di <field source-name> <braced-expression>
//	                    ::= dx <index expression> <braced-expression>
//	                    ::= dX <expression> <expression> <braced-expression>
func (p *parser) braced() ref {
	if p.Peek() != 'd' || bytes.IndexByte([]byte("ixX"), p.PeekAt(1)) < 0 {
		return p.expression()
	}
	if !p.enter() {
		return 0
	}
	defer p.Leave()
	p.Pos++
	var n node
	switch p.Next() {
	case 'i':
		n.kind, n.a = kindField, p.sourceName()
		n.b = p.braced()
	case 'x':
		n.kind, n.a = kindElement, p.expression()
		n.b = p.braced()
	default:
		n.kind, n.a = kindRange, p.expression()
		n.b = p.expression()
		n.c = p.braced()
	}
	return p.Add(n)
}

// subobject reads a part of an object, for its address.
//
//	<expression> ::= so <type> <expression> [<offset number>] <union-selector>* [p] E
//	<union-selector> ::= _ [<number>]
func (p *parser) subobject() ref {
	p.Pos += 2
	n := node{kind: kindSubobject, a: p.typ()}
	n.b = p.expression()
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

// memberConversion reads the conversion of a pointer to a member.
//
//	<expression> ::= mc <type> <expression> [<offset number>] E
func (p *parser) memberConversion() ref {
	p.Pos += 2
	n := node{kind: kindConvert, prec: precCast, a: p.typ()}
	mark := p.Mark()
	p.Push(p.expression())
	if p.Peek() != 'E' {
		p.skipNumber()
	}
	p.expect('E')
	return p.addList(n, mark)
}

// vendorExpression reads a builtin operator of some compilers.
//
//	<expression> ::= u <source-name> <template-arg>* E
//	             ::= u8__uuidoft <type> | u8__uuidofz <expression>
func (p *parser) vendorExpression() ref {
	p.Pos++
	isUUID := p.HasNext("8__uuidof")
	n := node{kind: kindCall, a: p.sourceName()}
	mark := p.Mark()
	switch {
	case isUUID && p.Accept('t'):
		p.Push(p.typ())
	case isUUID && p.Accept('z'):
		p.Push(p.expression())
	default:
		for !p.Accept('E') && !p.Failed {
			p.Push(p.templateArg())
		}
	}
	return p.addList(n, mark)
}

// requirements reads a requires-expression.
//
//	<expression> ::= rQ <bare-function-type> _ <requirement>+ E | rq <requirement>+ E
//	<requirement> ::= X <expression> [N] [R <type-constraint>]
//	              ::= T <type> | Q <constraint-expression>
func (p *parser) requirements() ref {
	p.Pos++
	n := node{kind: kindRequirement}
	if p.Next() == 'Q' {
		mark := p.Mark()
		p.types()
		n.c = p.addList(node{kind: kindList}, mark)
		p.expect('_')
	}
	mark := p.Mark()
	for !p.Accept('E') && !p.Failed {
		need := node{kind: kindNeeds}
		switch p.Next() {
		case 'X':
			need.a = p.expression()
			if p.Accept('N') {
				need.num = needNoexcept
			}
			if p.Accept('R') {
				need.b = p.name(nil)
			}
		case 'T':
			need.a, need.num = p.typ(), needType
		case 'Q':
			need.a, need.num = p.expression(), needNested
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

// primary reads a literal, or a name.
//
//	<expr-primary> ::= L <type> <value> E
//	               ::= L <string type> E | L <nullptr type> E | L <lambda type> E
//	               ::= L _Z <encoding> E
func (p *parser) primary() ref {
	p.Pos++
	var n node
	switch c := p.Peek(); {
	case c == '_' || c == 'Z':
		p.Accept('_')
		p.expect('Z')
		f := p.encoding(encodingWhole)
		p.expect('E')
		return f
	case c == 'A':
		n.kind, n.a = kindString, p.typ()
		if p.Accept('E') {
			return p.Add(n)
		}
	case c == 'U' && p.PeekAt(1) == 'l':
		n.kind, n.a = kindLambda, p.typ()
		p.expect('E')
		return p.Add(n)
	default:
		n.a = p.typ()
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

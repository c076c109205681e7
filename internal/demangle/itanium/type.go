package itanium

import (
	"bytes"

	"symbolon/internal/demangle/core"
	"symbolon/internal/demangle/cpp"
)

// parseType reads a type.
//
//	<type> ::= <builtin-type> | <qualified-type> | <function-type> | <class-enum-type>
//	       ::= <array-type> | <pointer-to-member-type> | <template-param> | <decltype>
//	       ::= <template-template-param> <template-args> | <substitution>
//	       ::= P <type> | R <type> | O <type> | C <type> | G <type>
//	       ::= Dp <type>    # pack expansion
//
// All but builtin types and substitutions can be substituted.
func (p *parser) parseType() cpp.Ref {
	c := p.Peek()
	if i := cpp.Word(c - 'a'); i < 26 && cpp.Words[i] != "" && c != 'r' {
		p.Pos++
		return p.Add(cpp.Node{Kind: cpp.KindBuiltin, Word: i})
	}
	if !p.enter() {
		return 0
	}
	n, isCandidate := p.parseCompoundType(c)
	p.Leave()
	if isCandidate {
		p.addSubstitution(n)
	}
	return n
}

// parseCompoundType reads a type that begins with c and reports whether it can be
// substituted.
func (p *parser) parseCompoundType(c byte) (n cpp.Ref, isCandidate bool) {
	switch c {
	case 'r', 'V', 'K':
		return p.parseQualifiedType(), true
	case 'U':
		return p.parseVendorQualified()
	case 'u':
		return p.parseVendorType(), true
	case 'D':
		return p.parseDType()
	case 'F':
		return p.parseFunctionType(), true
	case 'A':
		return p.parseArrayType(), true
	case 'M':
		p.Pos++
		class := p.parseType()
		member := p.parseType()
		flags := p.Nodes[member].Flags & (cpp.HasRight | cpp.IsDependent)
		return p.Add(cpp.Node{Kind: cpp.KindMemberPointer, A: class, B: member, Flags: flags}), true
	case 'T':
		return p.parseParameterType(), true
	case 'P', 'R', 'O':
		p.Pos++
		to := p.parseType()
		n := cpp.Node{Kind: cpp.KindPointer, A: to, Flags: p.Nodes[to].Flags & (cpp.HasRight | cpp.IsDependent)}
		if c != 'P' {
			n.Kind = cpp.KindReference
		}
		if c == 'O' {
			n.Num = 1
		}
		return p.Add(n), true
	case 'C', 'G':
		p.Pos++
		n := cpp.Node{Kind: cpp.KindSuffixed, Word: cpp.WordComplex, A: p.parseType()}
		if c == 'G' {
			n.Word = cpp.WordImaginary
		}
		return p.Add(n), true
	case 'S':
		if p.PeekAt(1) != 't' {
			return p.parseSubstitutedType()
		}
	}
	return p.parseName(nil), true
}

// parseSubstitutedType reads a substitution, or a template that is one with its
// arguments.
func (p *parser) parseSubstitutedType() (n cpp.Ref, isCandidate bool) {
	p.Pos++
	n = p.parseSubstitution(false)
	switch k := p.Nodes[n].Kind; {
	case k == cpp.KindModule || k == cpp.KindSubmodule:
		n = p.parseUnqualifiedName(nil, 0, n)
		if p.Peek() == 'I' {
			p.addSubstitution(n)
			n = p.parseTemplateArgs(n, false)
		}
		return n, true
	case p.Peek() == 'I' && !p.noTemplateArgs:
		return p.parseTemplateArgs(n, false), true
	}
	return n, false
}

// parseParameterType reads a type that begins with a T.
//
//	<type> ::= <template-param> | <template-template-param> <template-args>
//	<class-enum-type> ::= Ts <name> | Tu <name> | Te <name>
func (p *parser) parseParameterType() cpp.Ref {
	if i := bytes.IndexByte([]byte("sue"), p.PeekAt(1)); i >= 0 {
		p.Pos += 2
		return p.Add(cpp.Node{Kind: cpp.KindElaborated, Word: cpp.WordStruct + cpp.Word(i), A: p.parseName(nil)})
	}
	n := p.parseTemplateParam()
	if p.Peek() == 'I' && !p.noTemplateArgs {
		p.addSubstitution(n)
		n = p.parseTemplateArgs(n, false)
	}
	return n
}

// parseQualifiedType reads a type with qualifiers, including those of a function.
//
//	<qualified-type> ::= <CV-qualifiers> <type>
func (p *parser) parseQualifiedType() cpp.Ref {
	at := p.Pos
	quals := p.parseQualifiers()
	if c := p.Peek(); c == 'F' || c == 'D' && bytes.IndexByte([]byte("oOwx"), p.PeekAt(1)) >= 0 {
		p.Pos = at
		return p.parseFunctionType()
	}
	of := p.parseType()
	return p.Add(cpp.Node{Kind: cpp.KindQualified, A: of, Quals: quals, Flags: p.Nodes[of].Flags})
}

// parseVendorQualified reads a type with a qualifier that only some compilers know.
//
//	<extended-qualifier> ::= U <source-name> [<template-args>] <type>
func (p *parser) parseVendorQualified() (n cpp.Ref, isCandidate bool) {
	if c := p.PeekAt(1); c == 'l' || c == 't' {
		return p.parseUnnamedType(nil), false
	}
	p.Pos++
	vendor := cpp.Node{Kind: cpp.KindVendor, B: p.parseSourceName()}
	if p.Peek() == 'I' {
		mark := p.Mark()
		p.parseTemplateArgList()
		vendor.At, vendor.N = p.Collect(mark)
	}
	vendor.A = p.parseType()
	return p.Add(vendor), true
}

// parseVendorType reads a builtin type of some compilers, or a builtin that makes a
// type of another one.
//
//	<builtin-type> ::= u <source-name> [<template-args>]
func (p *parser) parseVendorType() cpp.Ref {
	p.Pos++
	n := p.parseSourceName()
	if p.Accept('I') {
		n = p.Add(cpp.Node{Kind: cpp.KindTransform, A: p.parseType(), B: n})
		p.expect('E')
	}
	return n
}

// parseDType reads a type that begins with a D.
//
//	<builtin-type> ::= Dd | De | Df | Dh | Di | Ds | Du | Da | Dc | Dn
//	               ::= DF <number> _ | DF16b | DF <number> x
//	               ::= DB <number> _ | DB <expression> _ | DU <number> _ | DU <expression> _
//	               ::= [DS] DA <size> | [DS] DR <size>    # fixed-point arithmetic
//	               ::= Dk <type-constraint> | DK <type-constraint>
func (p *parser) parseDType() (n cpp.Ref, isCandidate bool) {
	c := p.PeekAt(1)
	switch c {
	case 't', 'T':
		return p.parseDecltype(), true
	case 'o', 'O', 'w', 'x':
		return p.parseFunctionType(), true
	case 'v':
		return p.parseVectorType(), true
	}
	p.Pos += 2
	if i := bytes.IndexByte([]byte("dfehusi"), c); i >= 0 {
		w := [...]cpp.Word{cpp.WordDecimal64, cpp.WordDecimal32, cpp.WordDecimal128, cpp.WordHalf, cpp.WordChar8, cpp.WordChar16, cpp.WordChar32}[i]
		return p.Add(cpp.Node{Kind: cpp.KindBuiltin, Word: w}), false
	}
	switch c {
	case 'n':
		return p.Add(cpp.Node{Kind: cpp.KindNullptr}), false
	case 'a':
		return p.addWord(cpp.WordAuto), false
	case 'c':
		return p.addWord(cpp.WordDecltypeAuto), false
	case 'p':
		return p.Add(cpp.Node{Kind: cpp.KindExpansion, A: p.parseType()}), true
	case 'F':
		return p.parseFloatType(), false
	case 'A', 'R', 'S':
		return p.parseFixedType(c), false
	case 'B', 'U':
		n := cpp.Node{Kind: cpp.KindSized, Word: cpp.WordBitInt}
		if c == 'U' {
			n.Word = cpp.WordUnsignedBitInt
		}
		if n.A = p.parseDigits(); n.A == 0 {
			n.A = p.parseExpression()
		}
		p.expect('_')
		return p.Add(n), false
	case 'k', 'K':
		n := cpp.Node{Kind: cpp.KindConstrained, Word: cpp.WordAuto}
		if c == 'K' {
			n.Word = cpp.WordDecltypeAuto
		}
		n.A = p.parseName(nil)
		return p.Add(n), true
	}
	return p.fail(), false
}

// parseDigits reads a number as text. It returns zero if there is none.
func (p *parser) parseDigits() cpp.Ref {
	at := p.Pos
	for core.IsDigit(p.Peek()) {
		p.Pos++
	}
	if at == p.Pos {
		return 0
	}
	return p.addText(at)
}

func (p *parser) parseFloatType() cpp.Ref {
	if p.AcceptString("16b") {
		return p.addWord(cpp.WordBFloat16)
	}
	n := cpp.Node{Kind: cpp.KindSized, Word: cpp.WordFloat, A: p.parseDigits()}
	if n.A == 0 {
		return p.fail()
	}
	if p.Accept('x') {
		n.Word = cpp.WordFloatX
	} else {
		p.expect('_')
	}
	return p.Add(n)
}

// parseFixedType reads a type of fixed-point arithmetic, from after its D and c.
func (p *parser) parseFixedType(c byte) cpp.Ref {
	isSaturated := c == 'S'
	if isSaturated {
		p.expect('D')
		c = p.Next()
	}
	n := cpp.WordAccum
	switch c {
	case 'A':
	case 'R':
		n = cpp.WordFract
	default:
		return p.fail()
	}
	t := p.Add(cpp.Node{Kind: cpp.KindBuiltin, Word: n})
	switch size := p.Next(); size {
	case 'i':
	case 'j':
		t = p.Add(cpp.Node{Kind: cpp.KindElaborated, Word: cpp.WordUnsigned, A: t})
	case 's', 't', 'l', 'm':
		t = p.Add(cpp.Node{Kind: cpp.KindElaborated, Word: cpp.Word(size - 'a'), A: t})
	default:
		return p.fail()
	}
	if isSaturated {
		t = p.Add(cpp.Node{Kind: cpp.KindElaborated, Word: cpp.WordSat, A: t})
	}
	return t
}

// parseDecltype reads the type of an expression.
//
//	<decltype> ::= Dt <expression> E | DT <expression> E
func (p *parser) parseDecltype() cpp.Ref {
	p.Pos += 2
	n := p.parseExpression()
	p.expect('E')
	return p.Add(cpp.Node{Kind: cpp.KindDecltype, A: n})
}

// parseVectorType reads a vector.
//
//	<vector-type> ::= Dv <number> _ <type> | Dv [<expression>] _ <type> | Dv <number> _ p
func (p *parser) parseVectorType() cpp.Ref {
	p.Pos += 2
	size := p.parseDigits()
	if size == 0 && !p.Accept('_') {
		size = p.parseExpression()
		p.expect('_')
	} else if size != 0 {
		p.expect('_')
	}
	if size != 0 && p.Accept('p') {
		return p.Add(cpp.Node{Kind: cpp.KindVector, B: size})
	}
	return p.Add(cpp.Node{Kind: cpp.KindVector, A: p.parseType(), B: size})
}

// parseArrayType reads an array.
//
//	<array-type> ::= A [<number>] _ <type> | A <expression> _ <type>
func (p *parser) parseArrayType() cpp.Ref {
	p.Pos++
	size := p.parseDigits()
	if size == 0 && p.Peek() != '_' {
		size = p.parseExpression()
	}
	p.expect('_')
	return p.Add(cpp.Node{Kind: cpp.KindArray, A: p.parseType(), B: size, Flags: cpp.HasRight | cpp.IsArray})
}

// parseFunctionType reads the type of a function.
//
//	<function-type> ::= [<CV-qualifiers>] [<exception-spec>] [Dx] F [Y] <type>+ [<ref-qualifier>] E
//	<exception-spec> ::= Do | DO <expression> E | Dw <type>+ E
func (p *parser) parseFunctionType() cpp.Ref {
	n := cpp.Node{Kind: cpp.KindFunction, Flags: cpp.HasRight | cpp.IsFunction}
	n.Quals = p.parseQualifiers()
	switch {
	case p.AcceptString("Do"):
		n.C = p.Add(cpp.Node{Kind: cpp.KindNoexcept})
	case p.AcceptString("DO"):
		n.C = p.Add(cpp.Node{Kind: cpp.KindNoexcept, A: p.parseExpression()})
		p.expect('E')
	case p.AcceptString("Dw"):
		mark := p.Mark()
		p.parseTypes()
		n.C = p.AddList(cpp.Node{Kind: cpp.KindThrow}, mark)
		p.expect('E')
	}
	if p.AcceptString("Dx") {
		n.Quals |= cpp.IsTransactionSafe
	}
	p.expect('F')
	p.Accept('Y') // extern "C"
	n.B = p.parseType()
	mark := p.Mark()
	p.parseTypes()
	n.Num = p.parseReference()
	p.expect('E')
	return p.AddList(n, mark)
}

// parseTypes appends the parameters of a function to the pending list. A single void
// means that there are none; it cannot be one of several.
//
//	<bare-function-type> ::= <type>+
func (p *parser) parseTypes() {
	mark := p.Mark()
	isVoid := false
	for !p.Failed {
		switch c := p.Peek(); {
		case c == 0, c == 'E', c == '.', c == '_', c == 'Q', (c == 'R' || c == 'O') && p.PeekAt(1) == 'E':
		default:
			isVoid = isVoid || c == 'v'
			p.Push(p.parseType())
			continue
		}
		break
	}
	switch n := len(p.Pending(mark)); {
	case n == 0, isVoid && n > 1:
		p.fail()
	case isVoid:
		p.Collect(mark)
	}
}

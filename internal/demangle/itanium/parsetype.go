package itanium

import (
	"bytes"

	"symbolon/internal/demangle/core"
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
func (p *parser) parseType() ref {
	c := p.Peek()
	if i := word(c - 'a'); i < 26 && words[i] != "" && c != 'r' {
		p.Pos++
		return p.Add(node{kind: kindBuiltin, word: i})
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
func (p *parser) parseCompoundType(c byte) (n ref, isCandidate bool) {
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
		flags := p.Nodes[member].flags & (hasRight | isDependent)
		return p.Add(node{kind: kindMemberPointer, a: class, b: member, flags: flags}), true
	case 'T':
		return p.parseParameterType(), true
	case 'P', 'R', 'O':
		p.Pos++
		to := p.parseType()
		n := node{kind: kindPointer, a: to, flags: p.Nodes[to].flags & (hasRight | isDependent)}
		if c != 'P' {
			n.kind = kindReference
		}
		if c == 'O' {
			n.num = 1
		}
		return p.Add(n), true
	case 'C', 'G':
		p.Pos++
		n := node{kind: kindSuffixed, word: wordComplex, a: p.parseType()}
		if c == 'G' {
			n.word = wordImaginary
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
func (p *parser) parseSubstitutedType() (n ref, isCandidate bool) {
	p.Pos++
	n = p.parseSubstitution(false)
	switch k := p.Nodes[n].kind; {
	case k == kindModule || k == kindSubmodule:
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
func (p *parser) parseParameterType() ref {
	if i := bytes.IndexByte([]byte("sue"), p.PeekAt(1)); i >= 0 {
		p.Pos += 2
		return p.Add(node{kind: kindElaborated, word: wordStruct + word(i), a: p.parseName(nil)})
	}
	n := p.parseTemplateParam()
	if p.Peek() == 'I' && !p.noTemplateArgs {
		p.addSubstitution(n)
		n = p.parseTemplateArgs(n, false)
	}
	return n
}

// parseQualifiedType reads a type with qualifiers, those of a function included.
//
//	<qualified-type> ::= <CV-qualifiers> <type>
func (p *parser) parseQualifiedType() ref {
	at := p.Pos
	quals := p.parseQualifiers()
	if c := p.Peek(); c == 'F' || c == 'D' && bytes.IndexByte([]byte("oOwx"), p.PeekAt(1)) >= 0 {
		p.Pos = at
		return p.parseFunctionType()
	}
	of := p.parseType()
	return p.Add(node{kind: kindQualified, a: of, quals: quals, flags: p.Nodes[of].flags})
}

// parseVendorQualified reads a type with a qualifier that only some compilers know.
//
//	<extended-qualifier> ::= U <source-name> [<template-args>] <type>
func (p *parser) parseVendorQualified() (n ref, isCandidate bool) {
	if c := p.PeekAt(1); c == 'l' || c == 't' {
		return p.parseUnnamedType(nil), false
	}
	p.Pos++
	vendor := node{kind: kindVendor, b: p.parseSourceName()}
	if p.Peek() == 'I' {
		mark := p.Mark()
		p.parseTemplateArgList()
		vendor.at, vendor.n = p.Collect(mark)
	}
	vendor.a = p.parseType()
	return p.Add(vendor), true
}

// parseVendorType reads a builtin type of some compilers, or a builtin that makes a
// type of another one.
//
//	<builtin-type> ::= u <source-name> [<template-args>]
func (p *parser) parseVendorType() ref {
	p.Pos++
	n := p.parseSourceName()
	if p.Accept('I') {
		n = p.Add(node{kind: kindTransform, a: p.parseType(), b: n})
		p.expect('E')
	}
	return n
}

// parseDType reads a type that begins with a D.
//
//	<builtin-type> ::= Dd | De | Df | Dh | Di | Ds | Du | Da | Dc | Dn
//	               ::= DF <number> _ | DF16b | DF <number> x
//	               ::= DB <number> _ | DB <expression> _ | DU <number> _ | DU <expression> _
//	               ::= Dk <type-constraint> | DK <type-constraint>
func (p *parser) parseDType() (n ref, isCandidate bool) {
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
		w := [...]word{wordDecimal64, wordDecimal32, wordDecimal128, wordHalf, wordChar8, wordChar16, wordChar32}[i]
		return p.Add(node{kind: kindBuiltin, word: w}), false
	}
	switch c {
	case 'n':
		return p.Add(node{kind: kindNullptr}), false
	case 'a':
		return p.addWord(wordAuto), false
	case 'c':
		return p.addWord(wordDecltypeAuto), false
	case 'p':
		return p.Add(node{kind: kindExpansion, a: p.parseType()}), true
	case 'F':
		return p.parseFloatType(), false
	case 'B', 'U':
		n := node{kind: kindSized, word: wordBitInt}
		if c == 'U' {
			n.word = wordUnsignedBitInt
		}
		if n.a = p.parseDigits(); n.a == 0 {
			n.a = p.parseExpression()
		}
		p.expect('_')
		return p.Add(n), false
	case 'k', 'K':
		n := node{kind: kindConstrained, word: wordAuto}
		if c == 'K' {
			n.word = wordDecltypeAuto
		}
		n.a = p.parseName(nil)
		return p.Add(n), true
	}
	return p.fail(), false
}

// parseDigits reads a number as text. It returns zero if there is none.
func (p *parser) parseDigits() ref {
	at := p.Pos
	for core.IsDigit(p.Peek()) {
		p.Pos++
	}
	if at == p.Pos {
		return 0
	}
	return p.addText(at)
}

func (p *parser) parseFloatType() ref {
	if p.AcceptString("16b") {
		return p.addWord(wordBFloat16)
	}
	n := node{kind: kindSized, word: wordFloat, a: p.parseDigits()}
	if n.a == 0 {
		return p.fail()
	}
	if p.Accept('x') {
		n.word = wordFloatX
	} else {
		p.expect('_')
	}
	return p.Add(n)
}

// parseDecltype reads the type of an expression.
//
//	<decltype> ::= Dt <expression> E | DT <expression> E
func (p *parser) parseDecltype() ref {
	p.Pos += 2
	n := p.parseExpression()
	p.expect('E')
	return p.Add(node{kind: kindDecltype, a: n})
}

// parseVectorType reads a vector.
//
//	<vector-type> ::= Dv <number> _ <type> | Dv [<expression>] _ <type> | Dv <number> _ p
func (p *parser) parseVectorType() ref {
	p.Pos += 2
	size := p.parseDigits()
	if size == 0 && !p.Accept('_') {
		size = p.parseExpression()
		p.expect('_')
	} else if size != 0 {
		p.expect('_')
	}
	if size != 0 && p.Accept('p') {
		return p.Add(node{kind: kindVector, b: size})
	}
	return p.Add(node{kind: kindVector, a: p.parseType(), b: size})
}

// parseArrayType reads an array.
//
//	<array-type> ::= A [<number>] _ <type> | A <expression> _ <type>
func (p *parser) parseArrayType() ref {
	p.Pos++
	size := p.parseDigits()
	if size == 0 && p.Peek() != '_' {
		size = p.parseExpression()
	}
	p.expect('_')
	return p.Add(node{kind: kindArray, a: p.parseType(), b: size, flags: hasRight | isArray})
}

// parseFunctionType reads the type of a function.
//
//	<function-type> ::= [<CV-qualifiers>] [<exception-spec>] [Dx] F [Y] <type>+ [<ref-qualifier>] E
//	<exception-spec> ::= Do | DO <expression> E | Dw <type>+ E
func (p *parser) parseFunctionType() ref {
	n := node{kind: kindFunction, flags: hasRight | isFunction}
	n.quals = p.parseQualifiers()
	switch {
	case p.AcceptString("Do"):
		n.c = p.Add(node{kind: kindNoexcept})
	case p.AcceptString("DO"):
		n.c = p.Add(node{kind: kindNoexcept, a: p.parseExpression()})
		p.expect('E')
	case p.AcceptString("Dw"):
		mark := p.Mark()
		p.parseTypes()
		n.c = p.addList(node{kind: kindThrow}, mark)
		p.expect('E')
	}
	if p.AcceptString("Dx") {
		n.quals |= isTransactionSafe
	}
	p.expect('F')
	p.Accept('Y') // extern "C"
	n.b = p.parseType()
	mark := p.Mark()
	p.parseTypes()
	n.num = p.parseReference()
	p.expect('E')
	return p.addList(n, mark)
}

// parseTypes reads the parameters of a function onto the list that is pending. A
// single void means none, and is not among others.
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

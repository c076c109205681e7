package itanium

import (
	"bytes"

	"symbolon/internal/demangle/core"
)

// typ reads a type.
//
//	<type> ::= <builtin-type> | <qualified-type> | <function-type> | <class-enum-type>
//	       ::= <array-type> | <pointer-to-member-type> | <template-param> | <decltype>
//	       ::= <template-template-param> <template-args> | <substitution>
//	       ::= P <type> | R <type> | O <type> | C <type> | G <type>
//	       ::= Dp <type>    # pack expansion
//
// All but builtin types and substitutions can be substituted.
func (p *parser) typ() ref {
	c := p.Peek()
	if i := word(c - 'a'); i < 26 && words[i] != "" && c != 'r' {
		p.Pos++
		return p.Add(node{kind: kindBuiltin, word: i})
	}
	if !p.enter() {
		return 0
	}
	n, isCandidate := p.compoundType(c)
	p.Leave()
	if isCandidate {
		p.substitute(n)
	}
	return n
}

// compoundType reads a type that begins with c and reports whether it can be
// substituted.
func (p *parser) compoundType(c byte) (n ref, isCandidate bool) {
	switch c {
	case 'r', 'V', 'K':
		return p.qualifiedType(), true
	case 'U':
		return p.vendorQualified()
	case 'u':
		return p.vendorType(), true
	case 'D':
		return p.dType()
	case 'F':
		return p.functionType(), true
	case 'A':
		return p.arrayType(), true
	case 'M':
		p.Pos++
		class := p.typ()
		member := p.typ()
		flags := p.Nodes[member].flags & (hasRight | isDependent)
		return p.Add(node{kind: kindMemberPointer, a: class, b: member, flags: flags}), true
	case 'T':
		return p.parameterType(), true
	case 'P', 'R', 'O':
		p.Pos++
		to := p.typ()
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
		n := node{kind: kindSuffixed, word: wordComplex, a: p.typ()}
		if c == 'G' {
			n.word = wordImaginary
		}
		return p.Add(n), true
	case 'S':
		if p.PeekAt(1) != 't' {
			return p.substitutedType()
		}
	}
	return p.name(nil), true
}

// substitutedType reads a substitution, or a template that is one with its
// arguments.
func (p *parser) substitutedType() (n ref, isCandidate bool) {
	p.Pos++
	n = p.substitution(false)
	switch k := p.Nodes[n].kind; {
	case k == kindModule || k == kindSubmodule:
		n = p.unqualifiedName(nil, 0, n)
		if p.Peek() == 'I' {
			p.substitute(n)
			n = p.templateArgs(n, false)
		}
		return n, true
	case p.Peek() == 'I' && !p.noTemplateArgs:
		return p.templateArgs(n, false), true
	}
	return n, false
}

// parameterType reads a type that begins with a T.
//
//	<type> ::= <template-param> | <template-template-param> <template-args>
//	<class-enum-type> ::= Ts <name> | Tu <name> | Te <name>
func (p *parser) parameterType() ref {
	if i := bytes.IndexByte([]byte("sue"), p.PeekAt(1)); i >= 0 {
		p.Pos += 2
		return p.Add(node{kind: kindElaborated, word: wordStruct + word(i), a: p.name(nil)})
	}
	n := p.templateParam()
	if p.Peek() == 'I' && !p.noTemplateArgs {
		p.substitute(n)
		n = p.templateArgs(n, false)
	}
	return n
}

// qualifiedType reads a type with qualifiers, those of a function included.
//
//	<qualified-type> ::= <CV-qualifiers> <type>
func (p *parser) qualifiedType() ref {
	at := p.Pos
	quals := p.qualifiers()
	if c := p.Peek(); c == 'F' || c == 'D' && bytes.IndexByte([]byte("oOwx"), p.PeekAt(1)) >= 0 {
		p.Pos = at
		return p.functionType()
	}
	of := p.typ()
	return p.Add(node{kind: kindQualified, a: of, quals: quals, flags: p.Nodes[of].flags})
}

// vendorQualified reads a type with a qualifier that only some compilers know.
//
//	<extended-qualifier> ::= U <source-name> [<template-args>] <type>
func (p *parser) vendorQualified() (n ref, isCandidate bool) {
	if c := p.PeekAt(1); c == 'l' || c == 't' {
		return p.unnamedType(nil), false
	}
	p.Pos++
	vendor := node{kind: kindVendor, b: p.sourceName()}
	if p.Peek() == 'I' {
		mark := p.Mark()
		p.templateArgList()
		vendor.at, vendor.n = p.Collect(mark)
	}
	vendor.a = p.typ()
	return p.Add(vendor), true
}

// vendorType reads a builtin type of some compilers, or a builtin that makes a
// type of another one.
//
//	<builtin-type> ::= u <source-name> [<template-args>]
func (p *parser) vendorType() ref {
	p.Pos++
	n := p.sourceName()
	if p.Accept('I') {
		n = p.Add(node{kind: kindTransform, a: p.typ(), b: n})
		p.expect('E')
	}
	return n
}

// dType reads a type that begins with a D.
//
//	<builtin-type> ::= Dd | De | Df | Dh | Di | Ds | Du | Da | Dc | Dn
//	               ::= DF <number> _ | DF16b | DF <number> x
//	               ::= DB <number> _ | DB <expression> _ | DU <number> _ | DU <expression> _
//	               ::= Dk <type-constraint> | DK <type-constraint>
func (p *parser) dType() (n ref, isCandidate bool) {
	c := p.PeekAt(1)
	switch c {
	case 't', 'T':
		return p.decltype(), true
	case 'o', 'O', 'w', 'x':
		return p.functionType(), true
	case 'v':
		return p.vectorType(), true
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
		return p.word(wordAuto), false
	case 'c':
		return p.word(wordDecltypeAuto), false
	case 'p':
		return p.Add(node{kind: kindExpansion, a: p.typ()}), true
	case 'F':
		return p.floatType(), false
	case 'B', 'U':
		n := node{kind: kindSized, word: wordBitInt}
		if c == 'U' {
			n.word = wordUnsignedBitInt
		}
		if n.a = p.digits(); n.a == 0 {
			n.a = p.expression()
		}
		p.expect('_')
		return p.Add(n), false
	case 'k', 'K':
		n := node{kind: kindConstrained, word: wordAuto}
		if c == 'K' {
			n.word = wordDecltypeAuto
		}
		n.a = p.name(nil)
		return p.Add(n), true
	}
	return p.fail(), false
}

// digits reads a number as text. It returns zero if there is none.
func (p *parser) digits() ref {
	at := p.Pos
	for core.IsDigit(p.Peek()) {
		p.Pos++
	}
	if at == p.Pos {
		return 0
	}
	return p.text(at)
}

func (p *parser) floatType() ref {
	if p.AcceptString("16b") {
		return p.word(wordBFloat16)
	}
	n := node{kind: kindSized, word: wordFloat, a: p.digits()}
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

// decltype reads the type of an expression.
//
//	<decltype> ::= Dt <expression> E | DT <expression> E
func (p *parser) decltype() ref {
	p.Pos += 2
	n := p.expression()
	p.expect('E')
	return p.Add(node{kind: kindDecltype, a: n})
}

// vectorType reads a vector.
//
//	<vector-type> ::= Dv <number> _ <type> | Dv [<expression>] _ <type> | Dv <number> _ p
func (p *parser) vectorType() ref {
	p.Pos += 2
	size := p.digits()
	if size == 0 && !p.Accept('_') {
		size = p.expression()
		p.expect('_')
	} else if size != 0 {
		p.expect('_')
	}
	if size != 0 && p.Accept('p') {
		return p.Add(node{kind: kindVector, b: size})
	}
	return p.Add(node{kind: kindVector, a: p.typ(), b: size})
}

// arrayType reads an array.
//
//	<array-type> ::= A [<number>] _ <type> | A <expression> _ <type>
func (p *parser) arrayType() ref {
	p.Pos++
	size := p.digits()
	if size == 0 && p.Peek() != '_' {
		size = p.expression()
	}
	p.expect('_')
	return p.Add(node{kind: kindArray, a: p.typ(), b: size, flags: hasRight | isArray})
}

// functionType reads the type of a function.
//
//	<function-type> ::= [<CV-qualifiers>] [<exception-spec>] [Dx] F [Y] <type>+ [<ref-qualifier>] E
//	<exception-spec> ::= Do | DO <expression> E | Dw <type>+ E
func (p *parser) functionType() ref {
	n := node{kind: kindFunction, flags: hasRight | isFunction}
	n.quals = p.qualifiers()
	switch {
	case p.AcceptString("Do"):
		n.c = p.Add(node{kind: kindNoexcept})
	case p.AcceptString("DO"):
		n.c = p.Add(node{kind: kindNoexcept, a: p.expression()})
		p.expect('E')
	case p.AcceptString("Dw"):
		mark := p.Mark()
		p.types()
		n.c = p.addList(node{kind: kindThrow}, mark)
		p.expect('E')
	}
	if p.AcceptString("Dx") {
		n.quals |= isTransactionSafe
	}
	p.expect('F')
	p.Accept('Y') // extern "C"
	n.b = p.typ()
	mark := p.Mark()
	p.types()
	n.num = p.reference()
	p.expect('E')
	return p.addList(n, mark)
}

// types reads the parameters of a function onto the list that is pending. A
// single void means none, and is not among others.
//
//	<bare-function-type> ::= <type>+
func (p *parser) types() {
	mark := p.Mark()
	isVoid := false
	for !p.Failed {
		switch c := p.Peek(); {
		case c == 0, c == 'E', c == '.', c == '_', c == 'Q', (c == 'R' || c == 'O') && p.PeekAt(1) == 'E':
		default:
			isVoid = isVoid || c == 'v'
			p.Push(p.typ())
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

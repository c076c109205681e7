package itanium

import (
	"symbolon/internal/demangle/core"
	"symbolon/internal/demangle/cpp"
)

// parseUnresolvedName reads a name whose meaning depends on template parameters. GCC
// writes any type as its scope, parts of which can be substituted. For a scope in a
// parameter both forms look alike; isGCC selects the form.
//
//	<unresolved-name> ::= [gs] <base-unresolved-name>
//	                  ::= sr <unresolved-type> <base-unresolved-name>
//	                  ::= srN <unresolved-type> <unresolved-qualifier-level>+ E <base-unresolved-name>
//	                  ::= [gs] sr <unresolved-qualifier-level>+ E <base-unresolved-name>
//	                  ::= sr <type> <base-unresolved-name>    # GCC
//	<unresolved-qualifier-level> ::= <simple-id>
func (p *parser) parseUnresolvedName(isGlobal bool) cpp.Ref {
	var scope cpp.Ref
	if !p.AcceptString("sr") {
		scope = p.parseBaseUnresolvedName()
	} else {
		switch c := p.Peek(); {
		case c == 'N' && p.isParameter(1) && !p.isGCC:
			p.hasScope = true
			p.Pos++
			for scope = p.parseUnresolvedType(); !p.Accept('E') && !p.Failed; {
				scope = p.Add(cpp.Node{Kind: cpp.KindNested, A: scope, B: p.parseSimpleID()})
			}
		case core.IsDigit(c) && !p.isGCC:
			p.hasScope = true
			for scope = p.parseSimpleID(); !p.Accept('E') && !p.Failed; {
				scope = p.Add(cpp.Node{Kind: cpp.KindNested, A: scope, B: p.parseSimpleID()})
			}
		case c == 'N' || core.IsDigit(c) || c == 'S' && p.PeekAt(1) == 't':
			scope = p.parseType()
		default:
			scope = p.parseUnresolvedType()
		}
		scope = p.Add(cpp.Node{Kind: cpp.KindNested, A: scope, B: p.parseBaseUnresolvedName()})
	}
	if isGlobal {
		return p.Add(cpp.Node{Kind: cpp.KindGlobal, A: scope})
	}
	return scope
}

// isParameter reports whether the text from the next i bytes on is a template
// parameter or the type of an expression, or a substitution for one.
func (p *parser) isParameter(i int) bool {
	switch p.PeekAt(i) {
	case 'T', 'D':
		return true
	case 'S':
		at := p.Pos
		p.Pos += i + 1
		c := p.Peek()
		var n cpp.Ref
		if c == '_' || core.IsDigit(c) || core.IsUpper(c) {
			n = p.parseSubstitution(false)
		}
		p.Pos = at
		k := p.Nodes[n].Kind
		return k == cpp.KindParam || k == cpp.KindDecltype
	}
	return false
}

// parseUnresolvedType reads the type that an unresolved name is in.
//
//	<unresolved-type> ::= <template-param> [<template-args>] | <decltype> | <substitution> [<template-args>]
func (p *parser) parseUnresolvedType() cpp.Ref {
	var n cpp.Ref
	switch p.Peek() {
	case 'T':
		n = p.parseTemplateParam()
		p.addSubstitution(n)
	case 'S':
		p.Pos++
		n = p.parseSubstitution(false)
	case 'D':
		n = p.parseDecltype()
		p.addSubstitution(n)
	default:
		return p.fail()
	}
	if p.Peek() == 'I' {
		n = p.parseTemplateArgs(n, false)
		p.addSubstitution(n)
	}
	return n
}

// parseSimpleID reads a name, perhaps of a template. It cannot be substituted.
//
//	<simple-id> ::= <source-name> [<template-args>]
func (p *parser) parseSimpleID() cpp.Ref {
	n := p.parseSourceName()
	if p.Peek() == 'I' {
		n = p.parseTemplateArgs(n, false)
	}
	return n
}

// parseBaseUnresolvedName reads an unresolved name without its scope.
//
//	<base-unresolved-name> ::= <simple-id> | on <operator-name> [<template-args>] | dn <destructor-name>
//	<destructor-name> ::= <unresolved-type> | <simple-id>
func (p *parser) parseBaseUnresolvedName() cpp.Ref {
	var n cpp.Ref
	switch {
	case core.IsDigit(p.Peek()):
		return p.parseSimpleID()
	case p.AcceptString("dn"):
		if core.IsDigit(p.Peek()) {
			n = p.parseSimpleID()
		} else {
			n = p.parseUnresolvedType()
		}
		return p.Add(cpp.Node{Kind: cpp.KindDestructor, A: n})
	}
	p.AcceptString("on")
	if n = p.parseOperatorName(nil); p.Peek() == 'I' {
		n = p.parseTemplateArgs(n, false)
	}
	return n
}

package itanium

import (
	"bytes"

	"symbolon/internal/demangle/cpp"
)

// parseTemplateParam reads a parameter of a template. One of a generic lambda has no
// value where the lambda is read.
//
//	<template-param> ::= T_ | T <number> _ | TL <level> __ | TL <level> _ <number> _
func (p *parser) parseTemplateParam() cpp.Ref {
	if p.Next() != 'T' {
		return p.fail()
	}
	depth := 0
	if p.Accept('L') {
		if depth = p.Natural() + 1; depth == 0 {
			return p.fail()
		}
		p.expect('_')
	}
	i := p.parseNumber()
	if p.Failed {
		return 0
	}
	if p.isForward && depth == 0 {
		n := p.Add(cpp.Node{Kind: cpp.KindForward, Num: int32(i), Flags: cpp.IsDependent})
		p.forwards = append(p.forwards, n)
		return n
	}
	n := cpp.Node{Kind: cpp.KindParam, Num: int32(i), Op: uint8(min(depth, 255)), Flags: cpp.IsDependent}
	at := p.base + depth
	if at < len(p.levels) {
		if l := p.levels[at]; i < l.end-l.start {
			n.A = p.params[l.start+i]
			return p.Add(n)
		}
	}
	if p.lambdaLevel != depth || at > len(p.levels) {
		return p.fail()
	}
	if at == len(p.levels) {
		p.openLevel()
	}
	return p.Add(n)
}

// parseTemplateArgs reads the arguments of a template. Parameters in the type of an
// encoding refer to the arguments of its innermost template.
//
//	<template-args> ::= I <template-arg>* [Q <requires-clause expr>] E
func (p *parser) parseTemplateArgs(of cpp.Ref, isInnermost bool) cpp.Ref {
	if !p.enter() {
		return 0
	}
	defer p.Leave()
	noTemplateArgs := p.noTemplateArgs
	p.noTemplateArgs = false
	n := p.parseTemplateArgsOf(of, isInnermost)
	p.noTemplateArgs = noTemplateArgs
	return n
}

func (p *parser) parseTemplateArgsOf(of cpp.Ref, isInnermost bool) cpp.Ref {
	mark := p.Mark()
	if !isInnermost {
		p.parseTemplateArgList()
		return p.AddList(cpp.Node{Kind: cpp.KindTemplate, A: of}, mark)
	}
	p.clearLevels()
	p.openLevel()
	p.Pos++
	n := cpp.Node{Kind: cpp.KindTemplate, A: of}
	for !p.Accept('E') && !p.Failed {
		arg := p.parseTemplateArg()
		p.Push(arg)
		p.bind(arg)
		if n.B = p.parseConstraint(); n.B != 0 {
			p.expect('E')
			break
		}
	}
	p.innermost = p.AddList(n, mark)
	return p.innermost
}

// parseTemplateArgList reads arguments onto the list that is pending.
func (p *parser) parseTemplateArgList() {
	if !p.enter() {
		return
	}
	defer p.Leave()
	p.Pos++
	for !p.Accept('E') && !p.Failed {
		p.Push(p.parseTemplateArg())
		if p.parseConstraint() != 0 {
			p.expect('E')
			break
		}
	}
}

// parseTemplateArg reads an argument of a template.
//
//	<template-arg> ::= <type> | X <expression> E | <expr-primary> | J <template-arg>* E
//	               ::= <template-param-decl> <template-arg>
func (p *parser) parseTemplateArg() cpp.Ref {
	switch p.Peek() {
	case 'X':
		p.Pos++
		n := p.parseExpression()
		p.expect('E')
		return n
	case 'L':
		return p.parsePrimary()
	case 'J', 'I': // I: of old compilers
		mark := p.Mark()
		p.parseTemplateArgList()
		return p.AddList(cpp.Node{Kind: cpp.KindPack}, mark)
	case 'T':
		if p.isTemplateParamDecl() {
			if !p.enter() {
				return 0
			}
			defer p.Leave()
			p.parseTemplateParamDecl(false)
			return p.parseTemplateArg()
		}
	}
	return p.parseType()
}

func (p *parser) isTemplateParamDecl() bool {
	return p.Peek() == 'T' && bytes.IndexByte([]byte("yptnk"), p.PeekAt(1)) >= 0
}

// parseTemplateParamDecl reads the declaration of a parameter. Those of a lambda can
// be referred to, and get names.
//
//	<template-param-decl> ::= Ty | Tk <concept name> [<template-args>] | Tn <type>
//	                      ::= Tt <template-param-decl>* [Q <constraint>] E | Tp <template-param-decl>
func (p *parser) parseTemplateParamDecl(isBound bool) cpp.Ref {
	if !p.enter() {
		return 0
	}
	defer p.Leave()
	p.Pos++
	switch p.Next() {
	case 'y':
		return p.Add(cpp.Node{Kind: cpp.KindTypeParam, A: p.addInvented(cpp.WordType, isBound)})
	case 'k':
		concept := p.parseName(nil)
		return p.Add(cpp.Node{Kind: cpp.KindConceptParam, A: p.addInvented(cpp.WordType, isBound), B: concept})
	case 'n':
		name := p.addInvented(cpp.WordValue, isBound)
		t := p.parseType()
		return p.Add(cpp.Node{Kind: cpp.KindValueParam, A: name, B: t, Flags: cpp.HasRight})
	case 't':
		name := p.addInvented(cpp.WordTemplate, isBound)
		p.openLevel()
		mark := p.Mark()
		for !p.Accept('E') && !p.Failed {
			p.Push(p.parseTemplateParamDecl(true))
			if p.parseConstraint() != 0 {
				p.expect('E')
				break
			}
		}
		if !p.Failed {
			p.closeLevel()
		}
		return p.AddList(cpp.Node{Kind: cpp.KindTemplateParam, A: name, Flags: cpp.HasRight}, mark)
	case 'p':
		of := p.parseTemplateParamDecl(isBound)
		return p.Add(cpp.Node{Kind: cpp.KindPackParam, A: of, Flags: cpp.HasRight})
	}
	return p.fail()
}

func (p *parser) addInvented(w cpp.Word, isBound bool) cpp.Ref {
	i := &p.invented[w-cpp.WordType]
	n := p.Add(cpp.Node{Kind: cpp.KindInvented, Word: w, Num: *i})
	*i++
	if isBound && len(p.levels) > 0 {
		p.bind(n)
	}
	return n
}

// parseConstraint reads the constraint of arguments or parameters. It returns
// zero if there is none.
//
//	Q <expression>
func (p *parser) parseConstraint() cpp.Ref {
	if !p.Accept('Q') {
		return 0
	}
	return p.parseExpression()
}

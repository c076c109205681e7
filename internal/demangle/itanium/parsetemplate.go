package itanium

import "bytes"

// parseTemplateParam reads a parameter of a template. One of a generic lambda has no
// value where the lambda is read.
//
//	<template-param> ::= T_ | T <number> _ | TL <level> __ | TL <level> _ <number> _
func (p *parser) parseTemplateParam() ref {
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
		n := p.Add(node{kind: kindForward, num: int32(i), flags: isDependent})
		p.forwards = append(p.forwards, n)
		return n
	}
	n := node{kind: kindParam, num: int32(i), op: uint8(min(depth, 255)), flags: isDependent}
	at := p.base + depth
	if at < len(p.levels) {
		if l := p.levels[at]; i < l.end-l.start {
			n.a = p.params[l.start+i]
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

// parseTemplateArgs reads the arguments of a template. If those of the innermost
// template of an encoding are read, parameters in its type refer to them.
//
//	<template-args> ::= I <template-arg>* [Q <requires-clause expr>] E
func (p *parser) parseTemplateArgs(of ref, isInnermost bool) ref {
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

func (p *parser) parseTemplateArgsOf(of ref, isInnermost bool) ref {
	mark := p.Mark()
	if !isInnermost {
		p.parseTemplateArgList()
		return p.addList(node{kind: kindTemplate, a: of}, mark)
	}
	p.clearLevels()
	p.openLevel()
	p.Pos++
	n := node{kind: kindTemplate, a: of}
	for !p.Accept('E') && !p.Failed {
		arg := p.parseTemplateArg()
		p.Push(arg)
		p.bind(arg)
		if n.b = p.parseConstraint(); n.b != 0 {
			p.expect('E')
			break
		}
	}
	p.innermost = p.addList(n, mark)
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
func (p *parser) parseTemplateArg() ref {
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
		return p.addList(node{kind: kindPack}, mark)
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
func (p *parser) parseTemplateParamDecl(isBound bool) ref {
	if !p.enter() {
		return 0
	}
	defer p.Leave()
	p.Pos++
	switch p.Next() {
	case 'y':
		return p.Add(node{kind: kindTypeParam, a: p.addInvented(wordType, isBound)})
	case 'k':
		concept := p.parseName(nil)
		return p.Add(node{kind: kindConceptParam, a: p.addInvented(wordType, isBound), b: concept})
	case 'n':
		name := p.addInvented(wordValue, isBound)
		t := p.parseType()
		return p.Add(node{kind: kindValueParam, a: name, b: t, flags: hasRight})
	case 't':
		name := p.addInvented(wordTemplate, isBound)
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
		return p.addList(node{kind: kindTemplateParam, a: name, flags: hasRight}, mark)
	case 'p':
		of := p.parseTemplateParamDecl(isBound)
		return p.Add(node{kind: kindPackParam, a: of, flags: hasRight})
	}
	return p.fail()
}

func (p *parser) addInvented(w word, isBound bool) ref {
	i := &p.invented[w-wordType]
	n := p.Add(node{kind: kindInvented, word: w, num: *i})
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
func (p *parser) parseConstraint() ref {
	if !p.Accept('Q') {
		return 0
	}
	return p.parseExpression()
}

package itanium

import (
	"bytes"

	"symbolon/internal/demangle/core"
)

// name reads a name. state is nil unless it is the name of an encoding.
//
//	<name> ::= <nested-name> | <local-name>
//	       ::= <unscoped-name> | <unscoped-template-name> <template-args>
//	<unscoped-name> ::= [St] <unqualified-name>
func (p *parser) name(state *nameState) ref {
	var n ref
	isKnown := false // a substitution itself
	switch p.Peek() {
	case 'N':
		return p.nestedName(state)
	case 'Z':
		return p.localName(state)
	case 'S':
		if p.PeekAt(1) == 't' {
			p.Pos += 2
			n = p.unqualifiedName(state, p.word(wordStd), 0)
			break
		}
		p.Pos++
		if n = p.substitution(false); p.Nodes[n].kind == kindModule || p.Nodes[n].kind == kindSubmodule {
			n = p.unqualifiedName(state, 0, n)
		} else {
			isKnown = true
		}
	default:
		n = p.unqualifiedName(state, 0, 0)
	}
	if p.Peek() == 'I' {
		if !isKnown {
			p.substitute(n)
		}
		n = p.templateArgs(n, state != nil)
		if state != nil {
			state.isTemplate = true
		}
	}
	return n
}

// nestedName reads a name with its scope.
//
//	<nested-name> ::= N [<CV-qualifiers>] [<ref-qualifier>] <prefix> <unqualified-name> E
//	              ::= N [<CV-qualifiers>] [<ref-qualifier>] <template-prefix> <template-args> E
//	              ::= N H <prefix> <unqualified-name> E    # explicit object parameter
//	<prefix> ::= <unqualified-name> | <prefix> <unqualified-name> | <template-prefix> <template-args>
//	         ::= <template-param> | <decltype> | <substitution> | <prefix> M
func (p *parser) nestedName(state *nameState) ref {
	p.Pos++
	var quals qualifiers
	var reference int32
	if !p.Accept('H') {
		quals = p.qualifiers()
		reference = p.reference()
	}
	if state != nil {
		state.quals, state.reference = quals, reference
	}
	var whole ref
	for !p.Accept('E') {
		if p.Failed || p.Pos >= p.End {
			return p.fail()
		}
		if state != nil {
			state.isTemplate = false
		}
		switch c := p.Peek(); {
		case c == 'T':
			if whole != 0 {
				return p.fail()
			}
			whole = p.templateParam()
		case c == 'I':
			if whole == 0 || p.Nodes[whole].kind == kindTemplate {
				return p.fail()
			}
			whole = p.templateArgs(whole, state != nil)
			if state != nil {
				state.isTemplate = true
			}
		case c == 'D' && (p.PeekAt(1) == 't' || p.PeekAt(1) == 'T'):
			if whole != 0 {
				return p.fail()
			}
			whole = p.decltype()
		case c == 'S':
			p.Pos++
			next := p.substitution(true)
			if k := p.Nodes[next].kind; k == kindModule || k == kindSubmodule {
				whole = p.unqualifiedName(state, whole, next)
				break
			}
			if whole != 0 {
				return p.fail()
			}
			if whole = next; p.Peek() == 'E' {
				return p.fail()
			}
			continue
		default:
			whole = p.unqualifiedName(state, whole, 0)
		}
		if p.Accept('M') { // the rest belongs to the initializer of this member
			p.substitute(whole)
		} else if p.Peek() != 'E' {
			p.substitute(whole)
		}
	}
	if whole == 0 {
		return p.fail()
	}
	return whole
}

// localName reads the name of an entity in a function.
//
//	<local-name> ::= Z <encoding> E <name> [<discriminator>]
//	             ::= Z <encoding> E s [<discriminator>]
//	             ::= Z <encoding> E d [<number>] _ <name>    # in a default argument
func (p *parser) localName(state *nameState) ref {
	if !p.enter() {
		return 0
	}
	defer p.Leave()
	p.Pos++
	function := p.encoding(encodingLocal)
	p.expect('E')
	if p.Accept('s') {
		p.discriminator()
		return p.Add(node{kind: kindLocal, a: function, b: p.word(wordStringLiteral)})
	}
	entity := node{kind: kindDefaultArg, num: -1}
	if p.Accept('d') {
		entity.num = int32(p.number())
	}
	base := p.base
	if state == nil {
		p.base = len(p.levels) // parameters around the type are not visible
	}
	n := p.name(state)
	if state == nil {
		p.clearLevels()
		p.base = base
	}
	if entity.num < 0 {
		p.discriminator()
	} else {
		entity.a = n
		n = p.Add(entity)
	}
	return p.Add(node{kind: kindLocal, a: function, b: n})
}

// discriminator reads the number that distinguishes entities with one name.
//
//	<discriminator> ::= _ <digit> | __ <number> _
func (p *parser) discriminator() {
	if !p.Accept('_') {
		// Old compilers wrote digits alone, at the end.
		at := p.Pos
		for core.IsDigit(p.Peek()) {
			p.Pos++
		}
		if p.Pos < p.End {
			p.Pos = at
		}
		return
	}
	isLong := p.Accept('_')
	n := p.Natural()
	if n < 0 {
		p.fail()
	} else if isLong && n >= 10 {
		p.expect('_')
	}
}

// unqualifiedName reads a name without its scope, and adds it to scope.
//
//	<unqualified-name> ::= [<module-name>] [F] [L] <operator-name> [<abi-tags>]
//	                   ::= [<module-name>] <ctor-dtor-name>
//	                   ::= [<module-name>] [F] [L] <source-name> [<abi-tags>]
//	                   ::= [<module-name>] [L] <unnamed-type-name>
//	                   ::= [<module-name>] [L] DC <source-name>+ E    # structured binding
func (p *parser) unqualifiedName(state *nameState, scope, module ref) ref {
	module = p.moduleName(module)
	isFriend := scope != 0 && p.Accept('F')
	isLocal := p.Accept('L')
	var n ref
	switch c := p.Peek(); {
	case core.IsDigit(c):
		n = p.sourceName()
		if isLocal && p.Peek() == '_' {
			p.discriminator()
		}
	case c == 'U':
		n = p.unnamedType(state)
	case c == 'D' && p.PeekAt(1) == 'C':
		p.Pos += 2
		mark := p.Mark()
		for {
			if p.Push(p.sourceName()); p.Accept('E') || p.Failed {
				break
			}
		}
		n = p.addList(node{kind: kindBindings}, mark)
	case c == 'C' || c == 'D':
		if scope == 0 || module != 0 {
			return p.fail()
		}
		scope, n = p.structor(state, scope)
	default:
		n = p.operatorName(state)
	}
	if module != 0 {
		n = p.Add(node{kind: kindModule, a: module, b: n})
	}
	n = p.tags(n)
	if isFriend {
		n = p.Add(node{kind: kindFriend, a: n})
	}
	if scope != 0 {
		n = p.Add(node{kind: kindNested, a: scope, b: n})
	}
	return n
}

// moduleName reads the modules that an entity is attached to, after those known.
//
//	<module-name> ::= <module-subname> | <module-name> <module-subname> | <substitution>
//	<module-subname> ::= W <source-name> | W P <source-name>    # partition
func (p *parser) moduleName(module ref) ref {
	for p.Accept('W') {
		n := node{kind: kindSubmodule, a: module}
		if p.Accept('P') {
			n.num = 1
		}
		n.b = p.sourceName()
		module = p.Add(n)
		p.substitute(module)
	}
	return module
}

// tags reads ABI tags.
//
//	<abi-tag> ::= B <source-name>
func (p *parser) tags(n ref) ref {
	for p.Accept('B') {
		n = p.Add(node{kind: kindTagged, a: n, b: p.sourceName()})
	}
	return n
}

// sourceName reads a name as it is in the source.
//
//	<source-name> ::= <positive length number> <identifier>
func (p *parser) sourceName() ref {
	n := p.Natural()
	at := p.Pos
	if n <= 0 || n > p.End-at {
		return p.fail()
	}
	if p.Pos += n; isAnonymous(p.Text[at:p.Pos]) {
		return p.word(wordAnonymous)
	}
	return p.text(at)
}

// operatorName reads the name of an operator function.
//
//	<operator-name> ::= <code of two letters>
//	                ::= cv <type>                  # conversion
//	                ::= li <source-name>           # operator ""
//	                ::= v <digit> <source-name>    # vendor extended operator
func (p *parser) operatorName(state *nameState) ref {
	first, second := p.Peek(), p.PeekAt(1)
	switch op, ok := findOperator(first, second); {
	case ok && operators[op].form == formConvert:
		p.Pos += 2
		isForward, noTemplateArgs := p.isForward, p.noTemplateArgs
		p.isForward, p.noTemplateArgs = isForward || state != nil, true
		to := p.typ()
		p.isForward, p.noTemplateArgs = isForward, noTemplateArgs
		if state != nil {
			state.hasNoResult = true
		}
		return p.Add(node{kind: kindConversion, a: to})
	case ok && operators[op].isName:
		p.Pos += 2
		return p.Add(node{kind: kindOperator, op: op})
	case first == 'l' && second == 'i':
		p.Pos += 2
		return p.Add(node{kind: kindLiteralName, a: p.sourceName()})
	case first == 'v' && core.IsDigit(second):
		p.Pos += 2
		return p.Add(node{kind: kindConversion, a: p.sourceName()})
	}
	return p.fail()
}

// structor reads a constructor or destructor of the class scope. A class of the
// standard library that has a short name is written in full there.
//
//	<ctor-dtor-name> ::= C1 | C2 | C3 | C4 | C5 | D0 | D1 | D2 | D4 | D5
//	                 ::= CI1 <base class type> | CI2 <base class type>
func (p *parser) structor(state *nameState, scope ref) (class, n ref) {
	kind, numbers := kindStructor, "12345"
	if p.Next() == 'D' {
		kind, numbers = kindDestructor, "01245"
	}
	isInherited := kind == kindStructor && p.Accept('I')
	if p.Pos >= p.End || bytes.IndexByte([]byte(numbers), p.Next()) < 0 {
		return 0, p.fail()
	}
	if isInherited {
		p.name(state)
	}
	if state != nil {
		state.hasNoResult = true
	}
	return scope, p.Add(node{kind: kind, a: p.baseName(scope)})
}

// unnamedType reads the name of a type that has none in the source.
//
//	<unnamed-type-name> ::= Ut [<number>] _ | <closure-type-name>
//	                    ::= Ub [<number>] _    # block literal
func (p *parser) unnamedType(state *nameState) ref {
	if state != nil {
		p.clearLevels() // parameters are those of the innermost arguments
		p.innermost = 0
	}
	switch {
	case p.AcceptString("Ut"):
		return p.Add(node{kind: kindUnnamed, num: int32(p.number())})
	case p.AcceptString("Ub"):
		p.number()
		return p.word(wordBlock)
	case p.AcceptString("Ul"):
		return p.closure()
	}
	return p.fail()
}

// closure reads the type of a lambda.
//
//	<closure-type-name> ::= Ul <lambda-sig> E [<number>] _
//	<lambda-sig> ::= <template-param-decl>* [Q <constraint>] <parameter type>+ [Q <constraint>]
func (p *parser) closure() ref {
	if !p.enter() {
		return 0
	}
	defer p.Leave()
	levels, lambdaLevel := len(p.levels), p.lambdaLevel
	p.lambdaLevel = levels - p.base
	n := node{kind: kindClosure}
	p.openLevel()
	mark := p.Mark()
	for p.isTemplateParamDecl() {
		p.Push(p.templateParamDecl(true))
	}
	if len(p.Pending(mark)) > 0 {
		n.c = p.addList(node{kind: kindList}, mark)
	} else {
		p.closeLevel()
	}
	n.a = p.constraint()
	mark = p.Mark()
	p.types()
	n.b = p.constraint()
	p.expect('E')
	for len(p.levels) > levels {
		p.closeLevel()
	}
	p.lambdaLevel = lambdaLevel
	n.num = int32(p.number())
	return p.addList(n, mark)
}

// substitution reads a part that was there before, after its S, or an
// abbreviation for a name of the standard library. A class of which a
// constructor or destructor follows is written in full.
//
//	<substitution> ::= S <seq-id>
//	               ::= St | Sa | Sb | Ss | Si | So | Sd
func (p *parser) substitution(isPrefix bool) ref {
	c := p.Peek()
	if c == '_' || core.IsDigit(c) || core.IsUpper(c) {
		id := p.sequence()
		if p.Failed || id >= len(p.substitutions) {
			return p.fail()
		}
		return p.substitutions[id]
	}
	p.Pos++
	w := wordStd
	i := bytes.IndexByte([]byte("tabsiod"), c)
	if w += word(i); i < 0 {
		return p.fail()
	}
	n := p.word(wordStd)
	if w == wordStd {
		return n
	}
	if after := p.Peek(); w >= wordString && isPrefix && (after == 'C' || after == 'D') {
		n = p.expanded(w)
	} else {
		n = p.Add(node{kind: kindNested, a: n, b: p.word(w)})
	}
	if p.Peek() == 'B' {
		n = p.tags(n)
		p.substitute(n)
	}
	return n
}

// expanded returns std::basic_string<char, ...> for std::string, and the like.
func (p *parser) expanded(short word) ref {
	char := p.Add(node{kind: kindBuiltin, word: wordChar})
	of := func(w word, more ...ref) ref {
		name := p.Add(node{kind: kindNested, a: p.word(wordStd), b: p.word(w)})
		mark := p.Mark()
		p.Push(char)
		for _, r := range more {
			p.Push(r)
		}
		return p.addList(node{kind: kindTemplate, a: name}, mark)
	}
	traits := of(wordCharTraits)
	if short == wordString {
		return of(wordBasicString, traits, of(wordAllocator))
	}
	return of(short-wordIstream+wordBasicIstream, traits)
}

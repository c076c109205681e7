package itanium

import (
	"bytes"

	"symbolon/internal/demangle/core"
	"symbolon/internal/demangle/cpp"
)

// parseName reads a name. state is nil unless it is the name of an encoding.
//
//	<name> ::= <nested-name> | <local-name>
//	       ::= <unscoped-name> | <unscoped-template-name> <template-args>
//	<unscoped-name> ::= [St] <unqualified-name>
func (p *parser) parseName(state *nameState) cpp.Ref {
	var n cpp.Ref
	isKnown := false // a substitution itself
	switch p.Peek() {
	case 'N':
		return p.parseNestedName(state)
	case 'Z':
		return p.parseLocalName(state)
	case 'S':
		if p.PeekAt(1) == 't' {
			p.Pos += 2
			n = p.parseUnqualifiedName(state, p.addWord(cpp.WordStd), 0)
			break
		}
		p.Pos++
		if n = p.parseSubstitution(false); p.Nodes[n].Kind == cpp.KindModule || p.Nodes[n].Kind == cpp.KindSubmodule {
			n = p.parseUnqualifiedName(state, 0, n)
		} else {
			isKnown = true
		}
	default:
		n = p.parseUnqualifiedName(state, 0, 0)
	}
	if p.Peek() == 'I' {
		if !isKnown {
			p.addSubstitution(n)
		}
		n = p.parseTemplateArgs(n, state != nil)
		if state != nil {
			state.isTemplate = true
		}
	}
	return n
}

// parseNestedName reads a name with its scope.
//
//	<nested-name> ::= N [<CV-qualifiers>] [<ref-qualifier>] <prefix> <unqualified-name> E
//	              ::= N [<CV-qualifiers>] [<ref-qualifier>] <template-prefix> <template-args> E
//	              ::= N H <prefix> <unqualified-name> E    # explicit object parameter
//	<prefix> ::= <unqualified-name> | <prefix> <unqualified-name> | <template-prefix> <template-args>
//	         ::= <template-param> | <decltype> | <substitution> | <prefix> M
func (p *parser) parseNestedName(state *nameState) cpp.Ref {
	p.Pos++
	var quals cpp.Qualifiers
	var reference int32
	isExplicit := p.Accept('H')
	if !isExplicit {
		quals = p.parseQualifiers()
		reference = p.parseReference()
	}
	if state != nil {
		state.quals, state.reference, state.isExplicit = quals, reference, isExplicit
	}
	var whole cpp.Ref
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
			whole = p.parseTemplateParam()
		case c == 'I':
			if whole == 0 || p.Nodes[whole].Kind == cpp.KindTemplate {
				return p.fail()
			}
			whole = p.parseTemplateArgs(whole, state != nil)
			if state != nil {
				state.isTemplate = true
			}
		case c == 'D' && (p.PeekAt(1) == 't' || p.PeekAt(1) == 'T'):
			if whole != 0 {
				return p.fail()
			}
			whole = p.parseDecltype()
		case c == 'S':
			p.Pos++
			next := p.parseSubstitution(true)
			if k := p.Nodes[next].Kind; k == cpp.KindModule || k == cpp.KindSubmodule {
				whole = p.parseUnqualifiedName(state, whole, next)
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
			whole = p.parseUnqualifiedName(state, whole, 0)
		}
		if p.Accept('M') { // the rest belongs to the initializer of this member
			p.addSubstitution(whole)
		} else if p.Peek() != 'E' {
			p.addSubstitution(whole)
		}
	}
	if whole == 0 {
		return p.fail()
	}
	return whole
}

// parseLocalName reads the name of an entity in a function.
//
//	<local-name> ::= Z <encoding> E <name> [<discriminator>]
//	             ::= Z <encoding> E s [<discriminator>]
//	             ::= Z <encoding> E d [<number>] _ <name>    # in a default argument
func (p *parser) parseLocalName(state *nameState) cpp.Ref {
	if !p.enter() {
		return 0
	}
	defer p.Leave()
	p.Pos++
	function := p.parseEncoding(encodingLocal)
	p.expect('E')
	if p.Accept('s') {
		p.skipDiscriminator()
		return p.Add(cpp.Node{Kind: cpp.KindLocal, A: function, B: p.addWord(cpp.WordStringLiteral)})
	}
	entity := cpp.Node{Kind: cpp.KindDefaultArg, Num: -1}
	if p.Accept('d') {
		entity.Num = int32(p.parseNumber())
	}
	base := p.base
	if state == nil {
		p.base = len(p.levels) // parameters around the type are not visible
	}
	n := p.parseName(state)
	if state == nil {
		p.clearLevels()
		p.base = base
	}
	if entity.Num < 0 {
		p.skipDiscriminator()
	} else {
		entity.A = n
		n = p.Add(entity)
	}
	return p.Add(cpp.Node{Kind: cpp.KindLocal, A: function, B: n})
}

// skipDiscriminator reads the number that distinguishes entities with one name.
//
//	<discriminator> ::= _ <digit> | __ <number> _
func (p *parser) skipDiscriminator() {
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

// parseUnqualifiedName reads a name without its scope, and adds it to scope.
//
//	<unqualified-name> ::= [<module-name>] [F] [L] <operator-name> [<abi-tags>]
//	                   ::= [<module-name>] <ctor-dtor-name>
//	                   ::= [<module-name>] [F] [L] <source-name> [<abi-tags>]
//	                   ::= [<module-name>] [L] <unnamed-type-name>
//	                   ::= [<module-name>] [L] DC <source-name>+ E    # structured binding
func (p *parser) parseUnqualifiedName(state *nameState, scope, module cpp.Ref) cpp.Ref {
	module = p.parseModuleName(module)
	isFriend := scope != 0 && p.Accept('F')
	isLocal := p.Accept('L')
	var n cpp.Ref
	switch c := p.Peek(); {
	case core.IsDigit(c):
		n = p.parseSourceName()
		if isLocal && p.Peek() == '_' {
			p.skipDiscriminator()
		}
	case c == 'U':
		n = p.parseUnnamedType(state)
	case c == 'D' && p.PeekAt(1) == 'C':
		p.Pos += 2
		mark := p.Mark()
		for {
			if p.Push(p.parseSourceName()); p.Accept('E') || p.Failed {
				break
			}
		}
		n = p.AddList(cpp.Node{Kind: cpp.KindBindings}, mark)
	case c == 'C' || c == 'D':
		if scope == 0 || module != 0 {
			return p.fail()
		}
		scope, n = p.parseStructor(state, scope)
	default:
		n = p.parseOperatorName(state)
	}
	if module != 0 {
		n = p.Add(cpp.Node{Kind: cpp.KindModule, A: module, B: n})
	}
	n = p.parseTags(n)
	if isFriend {
		n = p.Add(cpp.Node{Kind: cpp.KindFriend, A: n})
	}
	if scope != 0 {
		n = p.Add(cpp.Node{Kind: cpp.KindNested, A: scope, B: n})
	}
	return n
}

// parseModuleName reads the modules that an entity is attached to, after those known.
//
//	<module-name> ::= <module-subname> | <module-name> <module-subname> | <substitution>
//	<module-subname> ::= W <source-name> | W P <source-name>    # partition
func (p *parser) parseModuleName(module cpp.Ref) cpp.Ref {
	for p.Accept('W') {
		n := cpp.Node{Kind: cpp.KindSubmodule, A: module}
		if p.Accept('P') {
			n.Num = 1
		}
		n.B = p.parseSourceName()
		module = p.Add(n)
		p.addSubstitution(module)
	}
	return module
}

// parseTags reads ABI tags.
//
//	<abi-tag> ::= B <source-name>
func (p *parser) parseTags(n cpp.Ref) cpp.Ref {
	for p.Accept('B') {
		n = p.Add(cpp.Node{Kind: cpp.KindTagged, A: n, B: p.parseSourceName()})
	}
	return n
}

// parseSourceName reads a name as it is in the source.
//
//	<source-name> ::= <positive length number> <identifier>
func (p *parser) parseSourceName() cpp.Ref {
	n := p.Natural()
	at := p.Pos
	if n <= 0 || n > p.End-at {
		return p.fail()
	}
	if p.Pos += n; isAnonymous(p.Text[at:p.Pos]) {
		return p.addWord(cpp.WordAnonymous)
	}
	return p.addText(at)
}

// parseOperatorName reads the name of an operator function.
//
//	<operator-name> ::= <code of two letters>
//	                ::= cv <type>                  # conversion
//	                ::= li <source-name>           # operator ""
//	                ::= v <digit> <source-name>    # vendor extended operator
func (p *parser) parseOperatorName(state *nameState) cpp.Ref {
	first, second := p.Peek(), p.PeekAt(1)
	switch op, ok := cpp.FindOperator(first, second); {
	case ok && cpp.Operators[op].Form == cpp.FormConvert:
		p.Pos += 2
		isForward, noTemplateArgs := p.isForward, p.noTemplateArgs
		p.isForward, p.noTemplateArgs = isForward || state != nil, true
		to := p.parseType()
		p.isForward, p.noTemplateArgs = isForward, noTemplateArgs
		if state != nil {
			state.hasNoResult = true
		}
		return p.Add(cpp.Node{Kind: cpp.KindConversion, A: to})
	case ok && cpp.Operators[op].IsName:
		p.Pos += 2
		return p.Add(cpp.Node{Kind: cpp.KindOperator, Op: op})
	case first == 'l' && second == 'i':
		p.Pos += 2
		return p.Add(cpp.Node{Kind: cpp.KindLiteralName, A: p.parseSourceName()})
	case first == 'v' && core.IsDigit(second):
		p.Pos += 2
		return p.Add(cpp.Node{Kind: cpp.KindConversion, A: p.parseSourceName()})
	}
	return p.fail()
}

// parseStructor reads a constructor or destructor of the class scope. A class of the
// standard library that has a short name is written in full there.
//
//	<ctor-dtor-name> ::= C1 | C2 | C3 | C4 | C5 | D0 | D1 | D2 | D4 | D5
//	                 ::= CI1 <base class type> | CI2 <base class type>
func (p *parser) parseStructor(state *nameState, scope cpp.Ref) (class, n cpp.Ref) {
	kind, numbers := cpp.KindStructor, "12345"
	if p.Next() == 'D' {
		kind, numbers = cpp.KindDestructor, "01245"
	}
	isInherited := kind == cpp.KindStructor && p.Accept('I')
	if p.Pos >= p.End || bytes.IndexByte([]byte(numbers), p.Next()) < 0 {
		return 0, p.fail()
	}
	if isInherited {
		p.parseName(state)
	}
	if state != nil {
		state.hasNoResult = true
	}
	return scope, p.Add(cpp.Node{Kind: kind, A: p.BaseName(scope)})
}

// parseUnnamedType reads the name of a type that has none in the source.
//
//	<unnamed-type-name> ::= Ut [<number>] _ | <closure-type-name>
//	                    ::= Ub [<number>] _    # block literal
func (p *parser) parseUnnamedType(state *nameState) cpp.Ref {
	if state != nil {
		p.clearLevels() // parameters are those of the innermost arguments
		p.innermost = 0
	}
	switch {
	case p.AcceptString("Ut"):
		return p.Add(cpp.Node{Kind: cpp.KindUnnamed, Num: int32(p.parseNumber())})
	case p.AcceptString("Ub"):
		p.parseNumber()
		return p.addWord(cpp.WordBlock)
	case p.AcceptString("Ul"):
		return p.parseClosure()
	}
	return p.fail()
}

// parseClosure reads the type of a lambda.
//
//	<closure-type-name> ::= Ul <lambda-sig> E [<number>] _
//	<lambda-sig> ::= <template-param-decl>* [Q <constraint>] <parameter type>+ [Q <constraint>]
func (p *parser) parseClosure() cpp.Ref {
	if !p.enter() {
		return 0
	}
	defer p.Leave()
	levels, lambdaLevel := len(p.levels), p.lambdaLevel
	p.lambdaLevel = levels - p.base
	n := cpp.Node{Kind: cpp.KindClosure}
	p.openLevel()
	mark := p.Mark()
	for p.isTemplateParamDecl() {
		p.Push(p.parseTemplateParamDecl(true))
	}
	if len(p.Pending(mark)) > 0 {
		n.C = p.AddList(cpp.Node{Kind: cpp.KindList}, mark)
	} else {
		p.closeLevel()
	}
	n.A = p.parseConstraint()
	mark = p.Mark()
	p.parseTypes()
	n.B = p.parseConstraint()
	p.expect('E')
	for len(p.levels) > levels {
		p.closeLevel()
	}
	p.lambdaLevel = lambdaLevel
	n.Num = int32(p.parseNumber())
	return p.AddList(n, mark)
}

// parseSubstitution reads a reference to an earlier part, after its S, or an abbreviation
// for a name of the standard library. If a constructor or destructor follows, the class
// is written in full.
//
//	<substitution> ::= S <seq-id>
//	               ::= St | Sa | Sb | Ss | Si | So | Sd
func (p *parser) parseSubstitution(isPrefix bool) cpp.Ref {
	c := p.Peek()
	if c == '_' || core.IsDigit(c) || core.IsUpper(c) {
		id := p.parseSequence()
		if p.Failed || id >= len(p.substitutions) {
			return p.fail()
		}
		return p.substitutions[id]
	}
	p.Pos++
	w := cpp.WordStd
	i := bytes.IndexByte([]byte("tabsiod"), c)
	if w += cpp.Word(i); i < 0 {
		return p.fail()
	}
	n := p.addWord(cpp.WordStd)
	if w == cpp.WordStd {
		return n
	}
	if after := p.Peek(); w >= cpp.WordString && isPrefix && (after == 'C' || after == 'D') {
		n = p.expand(w)
	} else {
		n = p.Add(cpp.Node{Kind: cpp.KindNested, A: n, B: p.addWord(w)})
	}
	if p.Peek() == 'B' {
		n = p.parseTags(n)
		p.addSubstitution(n)
	}
	return n
}

// expand returns std::basic_string<char, ...> for std::string, and the like.
func (p *parser) expand(short cpp.Word) cpp.Ref {
	char := p.Add(cpp.Node{Kind: cpp.KindBuiltin, Word: cpp.WordChar})
	of := func(w cpp.Word, more ...cpp.Ref) cpp.Ref {
		name := p.Add(cpp.Node{Kind: cpp.KindNested, A: p.addWord(cpp.WordStd), B: p.addWord(w)})
		mark := p.Mark()
		p.Push(char)
		for _, r := range more {
			p.Push(r)
		}
		return p.AddList(cpp.Node{Kind: cpp.KindTemplate, A: name}, mark)
	}
	traits := of(cpp.WordCharTraits)
	if short == cpp.WordString {
		return of(cpp.WordBasicString, traits, of(cpp.WordAllocator))
	}
	return of(short-cpp.WordIstream+cpp.WordBasicIstream, traits)
}

package itanium

import (
	"bytes"

	"symbolon/internal/demangle/core"
	"symbolon/internal/demangle/cpp"
)

// encodingMode is the way in which an encoding is read.
type encodingMode uint8

const (
	encodingWhole encodingMode = iota
	encodingLocal              // something is local to it: GNU writes no result then
	encodingShort              // its type is neither read nor written
)

// parseMangled reads the whole name, from after its prefix, and the suffixes that
// compilers add.
//
//	<mangled-name> ::= _Z <encoding> [. <suffix>]
//	               ::= ___Z <encoding> _block_invoke [[_] <number>]
func (p *parser) parseMangled(isBlock bool) cpp.Ref {
	mode := encodingWhole
	if p.style.IsShort() {
		mode = encodingShort
	}
	if isBlock {
		n := p.parseEncoding(encodingWhole)
		if !p.AcceptString("_block_invoke") {
			return p.fail()
		}
		if isNumbered := p.Accept('_'); p.Natural() < 0 && isNumbered {
			return p.fail()
		}
		if p.Peek() == '.' {
			p.Pos = p.End
		}
		if p.Pos < p.End {
			return p.fail()
		}
		if f := &p.Nodes[n]; f.Kind == cpp.KindEncoding && mode == encodingShort {
			n = f.A
		}
		return p.Add(cpp.Node{Kind: cpp.KindSpecial, Word: cpp.WordBlockInvoke, A: n})
	}
	n := p.parseEncoding(mode)
	if p.style == core.Called {
		p.dropResult(n)
	}
	if mode == encodingShort {
		return n
	}
	if p.style == core.LLVM && p.Peek() == '.' {
		n = p.addClone(n, p.End)
	}
	for p.Peek() == '.' {
		n = p.addClone(n, p.findSuffixEnd())
	}
	if p.Pos < p.End {
		return p.fail()
	}
	return n
}

// addClone adds the suffix up to end, if there is one.
func (p *parser) addClone(of cpp.Ref, end int) cpp.Ref {
	at := p.Pos
	if end == at {
		return p.fail()
	}
	p.Pos = end
	return p.Add(cpp.Node{Kind: cpp.KindClone, A: of, At: int32(at), N: int32(end - at)})
}

// hashMark begins the suffix of names that LLVM made visible to other modules.
const hashMark = ".llvm."

// findSuffixEnd returns the end of the next suffix: .cold, .constprop.0, .llvm.123.
func (p *parser) findSuffixEnd() int {
	if rest := p.Text[p.Pos:p.End]; bytes.HasPrefix(rest, []byte(hashMark)) && len(rest) > len(hashMark) && core.IsHash(rest[len(hashMark):]) {
		return p.End
	}
	isWord := func(c byte) bool { return core.IsLower(c) || core.IsDigit(c) || c == '_' }
	end := p.Pos
	if !isWord(p.PeekAt(1)) {
		return end
	}
	for end++; end < p.End && isWord(p.Text[end]); {
		end++
	}
	for end+1 < p.End && p.Text[end] == '.' && core.IsDigit(p.Text[end+1]) {
		for end++; end < p.End && core.IsDigit(p.Text[end]); {
			end++
		}
	}
	return end
}

// dropResult removes the result from the type of a function.
func (p *parser) dropResult(n cpp.Ref) {
	for {
		switch f := &p.Nodes[n]; f.Kind {
		case cpp.KindEncoding:
			f.B = 0
			return
		case cpp.KindRequires, cpp.KindEnableIf, cpp.KindClone, cpp.KindSpecial:
			n = f.A
		default:
			return
		}
	}
}

// parseEncoding reads the name of a function and its type, or the name of a variable.
//
//	<encoding> ::= <function name> <bare-function-type> [Q <requires-clause expr>]
//	           ::= <data name> | <special-name>
func (p *parser) parseEncoding(mode encodingMode) cpp.Ref {
	if !p.enter() {
		return 0
	}
	defer p.Leave()
	if c := p.Peek(); c == 'G' || c == 'T' {
		return p.parseSpecialName(mode)
	}
	// Template parameters around the encoding are not visible in it.
	base, innermost := p.base, p.innermost
	p.base, p.innermost = len(p.levels), 0
	n := p.parseFunction(mode)
	p.clearLevels()
	p.base, p.innermost = base, innermost
	return n
}

// parseFunction reads an encoding that is not a special name.
func (p *parser) parseFunction(mode encodingMode) cpp.Ref {
	state := nameState{forwards: len(p.forwards)}
	name := p.parseName(&state)
	if p.Failed {
		return 0
	}
	p.resolveForwards(state.forwards)
	if mode == encodingShort || p.isEncodingEnd() {
		return name
	}
	n := cpp.Node{Kind: cpp.KindEncoding, A: name, Quals: state.quals, Num: state.reference, C: p.innermost}
	var conditions cpp.Ref
	if p.AcceptString("Ua9enable_ifI") {
		mark := p.Mark()
		for !p.Accept('E') && !p.Failed {
			p.Push(p.parseTemplateArg())
		}
		conditions = p.AddList(cpp.Node{Kind: cpp.KindEnableIf}, mark)
	}
	if p.Accept('J') || state.isTemplate && !state.hasNoResult {
		if n.B = p.parseType(); mode == encodingLocal && p.style != core.LLVM {
			n.B = 0
		}
	}
	if mode == encodingLocal && p.style.IsShort() {
		n.Op = 1
	}
	mark := p.Mark()
	p.parseTypes()
	if state.isExplicit && len(p.Pending(mark)) > 0 {
		n.Word = cpp.WordThis
	}
	f := p.AddList(n, mark)
	if conditions != 0 {
		p.Nodes[conditions].A = f
		f = conditions
	}
	if constraint := p.parseConstraint(); constraint != 0 {
		f = p.Add(cpp.Node{Kind: cpp.KindRequires, A: f, B: constraint})
	}
	return f
}

// isEncodingEnd reports whether no type follows a name.
func (p *parser) isEncodingEnd() bool {
	switch p.Peek() {
	case 0, 'E', '.', '_':
		return true
	}
	return false
}

// parseSpecialName reads the name of an entity that the compiler derived from a class, a
// variable or a function.
//
//	<special-name> ::= TV <type> | TT <type> | TI <type> | TS <type> | TA <template-arg>
//	               ::= TC <type> <offset number> _ <base type>
//	               ::= T <call-offset> <encoding> | Tc <call-offset> <call-offset> <encoding>
//	               ::= TH <name> | TW <name> | GV <name> | GR <name> [<seq-id>] _
//	               ::= GTt <encoding> | GTn <encoding> | GA <encoding> | GI <module-name>
func (p *parser) parseSpecialName(mode encodingMode) cpp.Ref {
	n := cpp.Node{Kind: cpp.KindSpecial}
	first, second := p.Next(), p.Next()
	if first == 'G' {
		return p.parseGuardName(second, mode)
	}
	if w := bytes.IndexByte([]byte("VTISFJ"), second); w >= 0 {
		n.Word, n.A = cpp.WordVtable+cpp.Word(w), p.parseType()
		return p.Add(n)
	}
	switch second {
	case 'A':
		n.Word, n.A = cpp.WordParameterObject, p.parseTemplateArg()
	case 'C':
		n.Kind, n.Word = cpp.KindConstructed, cpp.WordConstruction
		n.B = p.parseType()
		p.skipNumber()
		p.expect('_')
		n.A = p.parseType()
	case 'H':
		n.Word, n.A = cpp.WordTLSInit, p.parseName(nil)
	case 'W':
		n.Word, n.A = cpp.WordTLSWrapper, p.parseName(nil)
	case 'c':
		n.Word = cpp.WordCovariantThunk
		p.parseCallOffset(p.Next())
		p.parseCallOffset(p.Next())
		n.A = p.parseEncoding(mode)
	default:
		n.Word = cpp.WordThunk
		if second == 'v' {
			n.Word = cpp.WordVirtualThunk
		}
		p.parseCallOffset(second)
		n.A = p.parseEncoding(mode)
	}
	return p.Add(n)
}

// parseGuardName reads a special name that begins with a G.
func (p *parser) parseGuardName(c byte, mode encodingMode) cpp.Ref {
	n := cpp.Node{Kind: cpp.KindSpecial}
	switch c {
	case 'V':
		n.Word, n.A = cpp.WordGuard, p.parseName(nil)
	case 'R':
		n.Word, n.A = cpp.WordTemporary, p.parseName(nil)
		if p.Pos < p.End { // old compilers wrote no number
			p.parseSequence()
		}
	case 'T':
		if n.Word = cpp.WordTransaction; p.Peek() != 't' {
			n.Word++
		}
		if c := p.Next(); c != 't' && c != 'n' {
			return p.fail()
		}
		n.A = p.parseEncoding(mode)
	case 'A':
		n.Word, n.A = cpp.WordHidden, p.parseEncoding(mode)
	case 'I':
		n.Word, n.A = cpp.WordInitializer, p.parseModuleName(0)
		if n.A == 0 {
			return p.fail()
		}
	default:
		return p.fail()
	}
	return p.Add(n)
}

// parseCallOffset reads how a thunk adjusts the object.
//
//	<call-offset> ::= h <nv-offset> _ | v <v-offset> _
//	<v-offset> ::= <offset number> _ <virtual offset number>
func (p *parser) parseCallOffset(c byte) {
	switch c {
	case 'v':
		p.skipNumber()
		p.expect('_')
		p.skipNumber()
	case 'h':
		p.skipNumber()
	default:
		p.fail()
	}
	p.expect('_')
}

package itanium

import (
	"bytes"

	"symbolon/internal/demangle/core"
)

// encodingMode tells how an encoding is read.
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
func (p *parser) parseMangled(isBlock bool) ref {
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
		if f := &p.Nodes[n]; f.kind == kindEncoding && mode == encodingShort {
			n = f.a
		}
		return p.Add(node{kind: kindSpecial, word: wordBlockInvoke, a: n})
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
func (p *parser) addClone(of ref, end int) ref {
	at := p.Pos
	if end == at {
		return p.fail()
	}
	p.Pos = end
	return p.Add(node{kind: kindClone, a: of, at: int32(at), n: int32(end - at)})
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
func (p *parser) dropResult(n ref) {
	for {
		switch f := &p.Nodes[n]; f.kind {
		case kindEncoding:
			f.b = 0
			return
		case kindRequires, kindEnableIf, kindClone, kindSpecial:
			n = f.a
		default:
			return
		}
	}
}

// parseEncoding reads the name of a function and its type, or the name of a variable.
//
//	<encoding> ::= <function name> <bare-function-type> [Q <requires-clause expr>]
//	           ::= <data name> | <special-name>
func (p *parser) parseEncoding(mode encodingMode) ref {
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
func (p *parser) parseFunction(mode encodingMode) ref {
	state := nameState{forwards: len(p.forwards)}
	name := p.parseName(&state)
	if p.Failed {
		return 0
	}
	p.resolveForwards(state.forwards)
	if mode == encodingShort || p.isEncodingEnd() {
		return name
	}
	n := node{kind: kindEncoding, a: name, quals: state.quals, num: state.reference, c: p.innermost}
	var conditions ref
	if p.AcceptString("Ua9enable_ifI") {
		mark := p.Mark()
		for !p.Accept('E') && !p.Failed {
			p.Push(p.parseTemplateArg())
		}
		conditions = p.addList(node{kind: kindEnableIf}, mark)
	}
	if p.Accept('J') || state.isTemplate && !state.hasNoResult {
		if n.b = p.parseType(); mode == encodingLocal && p.style != core.LLVM {
			n.b = 0
		}
	}
	if mode == encodingLocal && p.style.IsShort() {
		n.op = 1
	}
	mark := p.Mark()
	p.parseTypes()
	f := p.addList(n, mark)
	if conditions != 0 {
		p.Nodes[conditions].a = f
		f = conditions
	}
	if constraint := p.parseConstraint(); constraint != 0 {
		f = p.Add(node{kind: kindRequires, a: f, b: constraint})
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

// parseSpecialName reads the name of something that the compiler made of a class, a
// variable or a function.
//
//	<special-name> ::= TV <type> | TT <type> | TI <type> | TS <type> | TA <template-arg>
//	               ::= TC <type> <offset number> _ <base type>
//	               ::= T <call-offset> <encoding> | Tc <call-offset> <call-offset> <encoding>
//	               ::= TH <name> | TW <name> | GV <name> | GR <name> [<seq-id>] _
//	               ::= GTt <encoding> | GTn <encoding> | GA <encoding> | GI <module-name>
func (p *parser) parseSpecialName(mode encodingMode) ref {
	n := node{kind: kindSpecial}
	first, second := p.Next(), p.Next()
	if first == 'G' {
		return p.parseGuardName(second, mode)
	}
	if w := bytes.IndexByte([]byte("VTISFJ"), second); w >= 0 {
		n.word, n.a = wordVtable+word(w), p.parseType()
		return p.Add(n)
	}
	switch second {
	case 'A':
		n.word, n.a = wordParameterObject, p.parseTemplateArg()
	case 'C':
		n.kind, n.word = kindConstructed, wordConstruction
		n.b = p.parseType()
		p.skipNumber()
		p.expect('_')
		n.a = p.parseType()
	case 'H':
		n.word, n.a = wordTLSInit, p.parseName(nil)
	case 'W':
		n.word, n.a = wordTLSWrapper, p.parseName(nil)
	case 'c':
		n.word = wordCovariantThunk
		p.parseCallOffset(p.Next())
		p.parseCallOffset(p.Next())
		n.a = p.parseEncoding(mode)
	default:
		n.word = wordThunk
		if second == 'v' {
			n.word = wordVirtualThunk
		}
		p.parseCallOffset(second)
		n.a = p.parseEncoding(mode)
	}
	return p.Add(n)
}

// parseGuardName reads a special name that begins with a G.
func (p *parser) parseGuardName(c byte, mode encodingMode) ref {
	n := node{kind: kindSpecial}
	switch c {
	case 'V':
		n.word, n.a = wordGuard, p.parseName(nil)
	case 'R':
		n.word, n.a = wordTemporary, p.parseName(nil)
		if p.Pos < p.End { // old compilers wrote no number
			p.parseSequence()
		}
	case 'T':
		if n.word = wordTransaction; p.Peek() != 't' {
			n.word++
		}
		if c := p.Next(); c != 't' && c != 'n' {
			return p.fail()
		}
		n.a = p.parseEncoding(mode)
	case 'A':
		n.word, n.a = wordHidden, p.parseEncoding(mode)
	case 'I':
		n.word, n.a = wordInitializer, p.parseModuleName(0)
		if n.a == 0 {
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

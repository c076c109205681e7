package itanium

import (
	"bytes"

	"symbolon/internal/demangle/core"
	"symbolon/internal/demangle/cpp"
)

// maxParseDepth bounds how deep types, arguments and expressions are nested.
const maxParseDepth = 256

// parser reads a name into a tree.
type parser struct {
	core.Cursor
	core.Budget
	cpp.Tree
	style         core.Style
	substitutions []cpp.Ref

	// params is a stack of the template arguments that parameters refer to,
	// levels the ranges of it for each level of templates. The levels of the
	// current encoding begin at base. A parameter of a generic lambda has no
	// value yet at lambdaLevel.
	params      []cpp.Ref
	levels      []level
	base        int
	lambdaLevel int
	innermost   cpp.Ref  // template of the current encoding, for its type
	invented    [3]int32 // numbers of $T, $N, $TT

	forwards       []cpp.Ref // kindForward nodes without a value
	isForward      bool      // parameters are bound when the name is complete
	noTemplateArgs bool      // arguments after the type belong to its operator
	isGCC          bool      // scopes of unresolved names are types, see unresolvedName
	hasScope       bool      // isGCC made a difference
}

// level is a range of parser.params.
type level struct{ start, end int }

// nameState collects the properties of the name of an encoding that determine its type.
type nameState struct {
	hasNoResult bool // a constructor, destructor or conversion
	isTemplate  bool // ends with template arguments
	isExplicit  bool // the first parameter is the object
	quals       cpp.Qualifiers
	reference   int32 // 1: &, 2: &&
	forwards    int   // of parser.forwards that were there before
}

func (p *parser) reset(name []byte, style core.Style, steps int) {
	p.Cursor = core.Cursor{Text: name, End: len(name)}
	p.Budget = core.Budget{Steps: steps}
	p.Tree.Reset()
	p.style = style
	p.substitutions = p.substitutions[:0]
	p.params = p.params[:0]
	p.levels = p.levels[:0]
	p.base, p.lambdaLevel, p.innermost = 0, -1, 0
	p.invented = [3]int32{}
	p.forwards = p.forwards[:0]
	p.isForward, p.noTemplateArgs = false, false
	p.isGCC, p.hasScope = false, false
}

// fail ends the reading: the name does not follow the ABI.
func (p *parser) fail() cpp.Ref {
	p.Failed, p.Pos = true, p.End
	return 0
}

// expect reads a byte that must come next.
func (p *parser) expect(c byte) {
	if !p.Accept(c) {
		p.fail()
	}
}

// enter begins a level of recursion. Each call needs a call of Leave.
func (p *parser) enter() bool {
	if !p.Enter(maxParseDepth) {
		p.fail()
	}
	return !p.Failed
}

func (p *parser) addSubstitution(n cpp.Ref) { p.substitutions = append(p.substitutions, n) }

func (p *parser) addWord(w cpp.Word) cpp.Ref { return p.Add(cpp.Node{Kind: cpp.KindWord, Word: w}) }

func (p *parser) addText(at int) cpp.Ref {
	return p.Add(cpp.Node{Kind: cpp.KindText, At: int32(at), N: int32(p.Pos - at)})
}

// parseNumber reads an index: _ is 0, 0_ is 1.
//
//	<number> ::= [<non-negative number>] _
func (p *parser) parseNumber() int {
	n := 0
	if p.Peek() != '_' {
		if n = p.Natural() + 1; n == 0 {
			p.fail()
		}
	}
	p.expect('_')
	return n
}

// skipNumber skips a number, which may be negative.
//
//	<number> ::= [n] <non-negative decimal integer>
func (p *parser) skipNumber() {
	p.Accept('n')
	if p.Natural() < 0 {
		p.fail()
	}
}

// parseSequence reads a number with digits of base 36.
//
//	<seq-id> ::= [<0-9A-Z>+] _
func (p *parser) parseSequence() int {
	if p.Accept('_') {
		return 0
	}
	for id := 0; id <= len(p.Text); {
		switch c := p.Next(); {
		case core.IsDigit(c):
			id = id*36 + int(c-'0')
		case core.IsUpper(c):
			id = id*36 + int(c-'A') + 10
		case c == '_':
			return id + 1
		default:
			p.fail()
			return 0
		}
	}
	p.fail()
	return 0
}

// parseQualifiers reads the qualifiers of a type.
//
//	<CV-qualifiers> ::= [r] [V] [K]
func (p *parser) parseQualifiers() (quals cpp.Qualifiers) {
	if p.Accept('r') {
		quals |= cpp.IsRestrict
	}
	if p.Accept('V') {
		quals |= cpp.IsVolatile
	}
	if p.Accept('K') {
		quals |= cpp.IsConst
	}
	return quals
}

// parseReference reads the qualifier of a method: 1 for &, 2 for &&.
//
//	<ref-qualifier> ::= R | O
func (p *parser) parseReference() int32 {
	switch {
	case p.Accept('R'):
		return 1
	case p.Accept('O'):
		return 2
	}
	return 0
}

// clearLevels removes the levels of the current scope.
func (p *parser) clearLevels() {
	if len(p.levels) > p.base {
		p.params = p.params[:p.levels[p.base].start]
		p.levels = p.levels[:p.base]
	}
}

// openLevel begins a level of template parameters. Those of bind belong to it.
func (p *parser) openLevel() {
	p.levels = append(p.levels, level{len(p.params), len(p.params)})
}

func (p *parser) bind(n cpp.Ref) {
	top := len(p.levels) - 1
	p.params = append(p.params[:p.levels[top].end], n)
	p.levels[top].end++
}

func (p *parser) closeLevel() {
	top := len(p.levels) - 1
	p.params = p.params[:p.levels[top].start]
	p.levels = p.levels[:top]
}

// resolveForwards binds the parameters of conversion operators, whose arguments follow
// later in the name.
func (p *parser) resolveForwards(from int) {
	for _, id := range p.forwards[from:] {
		n := &p.Nodes[id]
		if len(p.levels) <= p.base || int(n.Num) >= p.levels[p.base].end-p.levels[p.base].start {
			p.fail()
			break
		}
		n.A = p.params[p.levels[p.base].start+int(n.Num)]
	}
	p.forwards = p.forwards[:from]
}

// isAnonymous reports whether compilers made the name for a namespace without one.
func isAnonymous(name []byte) bool {
	return len(name) >= 10 && name[9] == 'N' && string(name[:8]) == "_GLOBAL_" && bytes.IndexByte([]byte("._$"), name[8]) >= 0
}

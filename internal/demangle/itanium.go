package demangle

import (
	"bytes"
	"strings"
	"sync"
)

const (
	// maxItaniumDepth bounds how deep types, arguments and local names are
	// nested in the text, and maxPrintDepth how deep they are when references
	// are followed.
	maxItaniumDepth = 128
	maxPrintDepth   = 1 << 10
	// maxCopies bounds the nodes for each letter when references copy.
	maxCopies = 4
)

type cppKind uint8

const (
	cppNone      cppKind = iota
	cppName              // text: from at, n bytes
	cppWord              // at: place in cppWords
	cppOperator          // at: where the letters are that say which
	cppSuffix            // operator"" of a: a literal operator
	cppQualified         // a::b
	cppTemplate          // a with arguments: the list from at, n long
	cppTagged            // a with the tag b
	cppConstructor
	cppDestructor
	cppCast        // operator a
	cppClosure     // list: types of the parameters; num: which one
	cppUnnamed     // num: which one
	cppDefault     // b, in a default argument; num: which one
	cppTyped       // the function a of type b
	cppFunction    // a type: what it gives back is a, the list are its parameters
	cppMethod      // the function, or type of one, a with qualifiers; num: & or &&
	cppConst       // the type a with qualifiers
	cppPointer     // the order of this and the next two matters: see cppMarks
	cppReference   //
	cppMoved       //
	cppComplex     //
	cppImaginary   //
	cppArray       // b elements of a
	cppMember      // a pointer to the member b of a
	cppBuiltin     // at: place in cppBuiltins
	cppParameter   // num of a template: stands for a
	cppBlock       // the function type a with the text behind it
	cppAuto        // of a generic lambda; num: which one
	cppAddress     // of a
	cppLiteral     // of type a, text; num: 1 if negative
	cppPack        // list of arguments
	cppExpansion   // a for each of the pack b; without one, a...
	cppClone       // a with the text behind it
	cppSpecial     // a, at: what there is of it
	cppConstructed // the table of a in b
)

const (
	hasParameter = 1 << iota // parameters of the innermost template are in it
	hasBound                 // and that in a lambda or a function
	hasAuto                  // parameters of a lambda that is around it
	hasExpansion
	hasPacks  // several parameters that stand for packs are in it, or may be
	isLocal   // a qualified name that is local to a function
	isUnheard // a function of which nobody wants to know what it gives back
)

// cppNode is a part of a name. What kids, text and numbers mean says the kind.
type cppNode struct {
	kind  cppKind
	flags uint8
	busy  uint8  // how often it is being printed
	quals uint16 // three bits each, the first one lowest: see cppQualifiers
	a, b  ref
	at, n int32
	num   int32
	pack  ref // the first pack that a parameter in it stands for
}

// cppReferred is what can be referred to, and in which template it was read.
type cppReferred struct{ node, template ref }

// itanium reads a C++ name and writes it, if it has nothing rare in it. What it
// makes of a name is what the library makes of it, byte by byte, mistakes
// included but for those that appendCPP corrects; what it does not know or is
// not sure of, it leaves to the library.
//
// A name is read in one pass into nodes, which say what the text says; a
// reference is the number of a node, never a copy. Parameters of templates are
// followed when it is written, where references collapse and packs expand.
type itanium struct {
	cursor
	style    Style
	nodes    []cppNode // the first one is nothing
	lists    []ref
	open     []ref // of lists that are still read
	referred []cppReferred

	template  ref // the innermost one whose parameters can be meant
	templates int // how many there are
	lambda    int // templates when the innermost lambda began, and one; 0: in none
	casts     int // conversion operators that are being read
	depth     int
	failed    bool

	out    []byte
	start  int // of the text in out
	last   byte
	inner  []ref // of a type, what is to be written around the name, or behind it
	bottom int   // where they begin
	pack   ref   // the pack that is being expanded
	which  int   // and for which argument of it
	left   int   // nodes that may be visited
	long   bool  // the text passes maxOutput
}

var itaniums = sync.Pool{New: func() any { return new(itanium) }}

// appendItanium appends the readable form of a C++ name, if it takes it. Then ok
// says whether there is one: it can be too long.
func appendItanium(dst, name []byte, style Style, left *int) (out []byte, taken, ok bool) {
	if len(name) < 4 || string(name[:2]) != "_Z" || isUnresolved(name) {
		return dst, false, false
	}
	short := style == NoParams || style == Simple
	if short && (name[2] == 'T' || name[2] == 'G') && strings.IndexByte("hvT", name[3]) >= 0 {
		return dst, false, false // a thunk: see appendCPP
	}
	f := itaniums.Get().(*itanium)
	defer itaniums.Put(f)
	*f = itanium{
		cursor:   cursor{text: name, pos: 2, end: len(name)},
		style:    style,
		nodes:    append(f.nodes[:0], cppNode{}),
		lists:    f.lists[:0],
		open:     f.open[:0],
		referred: f.referred[:0],
		inner:    f.inner[:0],
		out:      dst,
		start:    len(dst),
		left:     *left,
	}
	top := f.whole(short)
	if !f.failed {
		f.print(top)
	}
	out, text := f.out, f.out[f.start:]
	failed, long := f.failed, f.long
	*left = f.left
	f.text, f.out = nil, nil
	switch {
	case failed:
		return dst, false, false
	case long || len(text) >= maxOutput:
		return dst, true, false
	case len(text) == 0 || bytes.Contains(text, []byte(", >")) || bytes.Contains(text, []byte(", void)")):
		return dst, false, false
	}
	return out, true, true
}

// isUnresolved says whether there may be a name in a name that is not resolved,
// which renumbered is for.
func isUnresolved(name []byte) bool {
	for {
		i := bytes.Index(name, []byte("sr"))
		if i < 0 || i+2 >= len(name) {
			return false
		}
		if name = name[i+2:]; isDigit(name[0]) {
			return true
		}
	}
}

func (f *itanium) fail() ref {
	f.failed, f.pos = true, f.end
	return 0
}

// add adds a node with kids in the order in which packs are looked for.
func (f *itanium) add(n cppNode, kids ...ref) ref {
	for _, k := range kids {
		kid := &f.nodes[k]
		n.flags |= kid.flags &^ (isLocal | isUnheard)
		if n.pack == 0 {
			n.pack = kid.pack
		} else if kid.pack != 0 {
			n.flags |= hasPacks
		}
	}
	f.nodes = append(f.nodes, n)
	return ref(len(f.nodes) - 1)
}

// addList adds a node with the kids that are open since a place as its list.
func (f *itanium) addList(n cppNode, from int, kids ...ref) ref {
	n.at, n.n = int32(len(f.lists)), int32(len(f.open)-from)
	for _, k := range kids {
		n.flags |= f.nodes[k].flags &^ (isLocal | isUnheard)
		n.pack = f.nodes[k].pack
	}
	f.lists = append(f.lists, f.open[from:]...)
	f.open = f.open[:from]
	return f.add(n, f.lists[n.at:]...)
}

// addOpaque adds a node in which no packs are looked for.
func (f *itanium) addOpaque(n cppNode, kids ...ref) ref {
	id := f.add(n, kids...)
	f.hide(id)
	return id
}

func (f *itanium) hide(id ref) {
	if n := &f.nodes[id]; n.pack != 0 {
		n.pack = 0
		n.flags |= hasPacks
	}
}

func (f *itanium) list(n *cppNode) []ref { return f.lists[n.at : n.at+n.n] }

func (f *itanium) refer(n ref) { f.referred = append(f.referred, cppReferred{n, f.template}) }

func (f *itanium) kind(n ref) cppKind { return f.nodes[n].kind }

// expect takes a letter that must be there.
func (f *itanium) expect(c byte) {
	if !f.nextIf(c) {
		f.fail()
	}
}

// deeper says whether it may go one level deeper; who was let in, leaves.
func (f *itanium) deeper() bool {
	if f.depth++; f.depth > maxItaniumDepth {
		f.fail()
	}
	return !f.failed
}

func (f *itanium) leave() { f.depth-- }

// compact reads a number that is one more than what is there, if anything is.
func (f *itanium) compact() int {
	n := 0
	if f.peek() != '_' {
		if n = f.natural() + 1; n == 0 {
			f.fail()
		}
	}
	f.expect('_')
	return n
}

// number reads a number that nobody wants to know.
func (f *itanium) number() {
	f.nextIf('n')
	if f.natural() < 0 {
		f.fail()
	}
}

// sequence reads the number of what is referred to, zero if only its end is there.
func (f *itanium) sequence() int {
	if f.nextIf('_') {
		return 0
	}
	for id := 0; id < len(f.text); {
		switch c := f.next(); {
		case isDigit(c):
			id = id*36 + int(c-'0')
		case isUpper(c):
			id = id*36 + int(c-'A') + 10
		case c == '_':
			return id + 1
		default:
			f.fail()
			return 0
		}
	}
	f.fail()
	return 0
}

// reference reads what is referred to, behind the S.
func (f *itanium) reference() ref {
	id := f.sequence()
	if id >= len(f.referred) {
		return f.fail()
	}
	return f.rebound(f.referred[id])
}

// rebound is what is referred to with its parameters meant as the library means
// them at another place: there they are those of the innermost template, or of
// the lambda that is being read.
func (f *itanium) rebound(r cppReferred) ref {
	flags := f.nodes[r.node].flags
	same := flags&hasAuto == 0 && f.template == r.template
	if f.lambda > 0 {
		same = flags&hasParameter == 0
	}
	switch {
	case flags&(hasParameter|hasAuto) == 0:
		return r.node
	case flags&hasBound != 0 || f.casts > 0 || f.lambda == 0 && f.templates == 0:
		return f.fail()
	case same:
		return r.node
	}
	n := f.copied(r.node)
	for _, seen := range f.inner {
		f.nodes[seen].busy = 0
	}
	f.inner = f.inner[:0]
	return n
}

// copied copies the part of a tree that has parameters. What is in it twice the
// library copies once, which is left to it.
func (f *itanium) copied(id ref) ref {
	n := f.nodes[id]
	if n.flags&(hasParameter|hasAuto) == 0 {
		return id
	}
	if n.kind == cppParameter || n.kind == cppAuto {
		return f.parameterOf(int(n.num))
	}
	if n.busy > 0 || n.kind == cppTyped || n.kind == cppClosure || len(f.nodes) > maxCopies*len(f.text) || !f.deeper() {
		return f.fail()
	}
	f.nodes[id].busy = 1
	f.inner = append(f.inner, id)
	n.flags &= isLocal | isUnheard
	n.pack = 0
	switch n.a = f.copied(n.a); n.kind {
	case cppExpansion:
		id = f.expansion(n.a)
	case cppTemplate, cppFunction, cppPack:
		from := len(f.open)
		for _, x := range f.list(&n) {
			x = f.copied(x)
			f.open = append(f.open, x)
		}
		id = f.addList(n, from, n.a)
	case cppTagged, cppDefault:
		n.b = f.copied(n.b)
		id = f.addOpaque(n, n.a, n.b)
	default:
		n.b = f.copied(n.b)
		id = f.add(n, n.a, n.b)
	}
	f.leave()
	return id
}

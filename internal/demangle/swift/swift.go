// Package swift makes names of Swift 4.0 and later readable:
// https://github.com/swiftlang/swift/blob/main/docs/ABI/Mangling.rst
package swift

import (
	"bytes"
	"sync"

	"symbolon/internal/demangle/core"
)

// swiftMaxDepth bounds how deep a name may be nested when it is written.
const swiftMaxDepth = 256

// swiftPrefixes are what Swift names begin with. Those with _T0 (Swift 4.0)
// have the labels of parameters inside of the types.
var swiftPrefixes = [...]string{"$s", "_$s", "$S", "_$S", "$e", "_$e", "@__swiftmacro_", "_T0"}

// ref is the index of a node in the tree of a name. Zero is no node: what gets
// it as a child fails too, so that only few places have to look.
type ref = core.Ref

// span is a piece of an arena.
type span struct{ at, end int32 }

type swiftNode struct {
	kind swiftKind
	num  int32 // an index, flags or a row of a table, as the kind says
	text span  // of swift.text
	kids span  // of swift.kids
}

// swift reads one name into a tree and writes the tree. A mangled name is a
// program for a stack: an operator takes what it needs from the stack and puts
// its result there. Most nodes are phrases: text in which a dollar and a digit
// stand for a child. A phrase may have other forms for the short styles, each
// behind a bar. Everything lives in arenas that are used again.
type swift struct {
	core.Cursor      // its text is the name, and after it the text that is not in it
	old         bool // labels are inside of types
	nodes       []swiftNode
	kids        []ref
	stack       []ref
	subs        []ref
	words       []span
	left        int // steps: nodes, references and letters of words that are repeated, visits

	out         []byte
	limit       int // bytes of out
	style       core.Style
	called      bool // functions have their parameters also in a short style
	depth       int
	labels      ref  // of the parameters that are written next
	specialized bool // "specialized" is written once for a name
	failed      bool
}

var swifts = sync.Pool{New: func() any { return new(swift) }}

// Append appends the readable form of a Swift name, or says that it is
// none.
func Append(dst, name []byte, style core.Style, left *int) ([]byte, bool) {
	start := 0
	for _, prefix := range swiftPrefixes {
		if len(name) > len(prefix) && string(name[:len(prefix)]) == prefix {
			start = len(prefix)
		}
	}
	if start == 0 {
		return dst, false
	}
	called := style == core.Called
	switch {
	case called:
		style = core.NoParams
	case style > core.Simple:
		style = core.Full
	}
	s := swifts.Get().(*swift)
	defer swifts.Put(s)
	s.Text = append(s.Text[:0], name...)
	s.Pos, s.End, s.old = start, len(name), bytes.HasPrefix(name, []byte("_T0"))
	s.nodes = append(s.nodes[:0], swiftNode{})
	s.kids, s.stack, s.subs, s.words = s.kids[:0], s.stack[:0], s.subs[:0], s.words[:0]
	s.left = *left
	defer func() { *left = s.left }()
	top := s.global()
	if top == 0 {
		return dst, false
	}
	s.out, s.limit, s.style, s.called = dst, len(dst)+core.MaxText, style, called
	s.depth, s.labels, s.specialized, s.failed = 0, 0, false, false
	s.print(top, false)
	out := s.out
	s.out = nil
	return out, !s.failed && len(out) > len(dst) && len(out) <= s.limit
}

// global reads the whole name. What says something about the function stands
// behind it in the name and is written before it. Anything else that is left
// on the stack is a sign that the name is none.
func (s *swift) global() ref {
	for s.Pos < s.End {
		n := s.operator()
		if n == 0 || !s.take(1) {
			return 0
		}
		s.stack = append(s.stack, n)
	}
	suffix := s.popIf(kSuffix)
	var got []ref
	for s.top() == kAttribute {
		got = append(got, s.pop())
	}
	if len(s.stack) > 1 || len(s.stack) == 0 && len(got) == 0 {
		return 0
	}
	got = append(append(got, s.stack...), suffix)
	return s.some(kAll, 0, got...)
}

// take says whether there are so many steps left, and takes them.
func (s *swift) take(steps int) bool {
	if steps > s.left {
		return false
	}
	s.left -= steps
	return true
}

// node adds a node to the tree.
func (s *swift) node(n swiftNode) ref {
	if !s.take(1) {
		return 0
	}
	s.nodes = append(s.nodes, n)
	return ref(len(s.nodes) - 1)
}

// some makes a node of which children may be missing.
func (s *swift) some(kind swiftKind, num int, kids ...ref) ref {
	at := int32(len(s.kids))
	s.kids = append(s.kids, kids...)
	return s.node(swiftNode{kind: kind, num: int32(num), kids: span{at, int32(len(s.kids))}})
}

// add makes a node of which each child must be there.
func (s *swift) add(kind swiftKind, num int, kids ...ref) ref {
	for _, k := range kids {
		if k == 0 {
			return 0
		}
	}
	return s.some(kind, num, kids...)
}

// loose makes a node with a text, of which children may be missing.
func (s *swift) loose(kind swiftKind, text string, kids ...ref) ref {
	n := s.some(kind, 0, kids...)
	if n != 0 {
		s.nodes[n].text = s.put(text)
	}
	return n
}

// phrase makes a node with a text, of which each child must be there.
func (s *swift) phrase(kind swiftKind, text string, kids ...ref) ref {
	n := s.add(kind, 0, kids...)
	if n != 0 {
		s.nodes[n].text = s.put(text)
	}
	return n
}

// typed makes a phrase that is a type.
func (s *swift) typed(text string, kids ...ref) ref {
	return s.wrap(s.phrase(kPhrase, text, kids...))
}

// wrap makes a node a type.
func (s *swift) wrap(n ref) ref { return s.add(kType, 0, n) }

// put keeps a text.
func (s *swift) put(text string) span {
	at := int32(len(s.Text))
	s.Text = append(s.Text, text...)
	return span{at, int32(len(s.Text))}
}

func (s *swift) kind(n ref) swiftKind { return s.nodes[n].kind }
func (s *swift) num(n ref) int        { return int(s.nodes[n].num) }
func (s *swift) slice(x span) []byte  { return s.Text[x.at:x.end] }
func (s *swift) name(n ref) []byte    { return s.slice(s.nodes[n].text) }
func (s *swift) list(n ref) []ref     { return s.kids[s.nodes[n].kids.at:s.nodes[n].kids.end] }

// kid is child i of n, zero if there is none.
func (s *swift) kid(n ref, i int) ref {
	if l := s.list(n); i < len(l) {
		return l[i]
	}
	return 0
}

// inner is what a type wraps.
func (s *swift) inner(n ref) ref {
	if s.kind(n) == kType {
		return s.kid(n, 0)
	}
	return n
}

// top is the kind of the node on top of the stack.
func (s *swift) top() swiftKind {
	if len(s.stack) == 0 {
		return kNone
	}
	return s.kind(s.stack[len(s.stack)-1])
}

func (s *swift) pop() ref {
	if len(s.stack) == 0 {
		return 0
	}
	n := s.stack[len(s.stack)-1]
	s.stack = s.stack[:len(s.stack)-1]
	return n
}

// popAny takes the top of the stack if its kind is from first to last.
func (s *swift) popAny(first, last swiftKind) ref {
	if k := s.top(); k >= first && k <= last {
		return s.pop()
	}
	return 0
}

func (s *swift) popIf(kind swiftKind) ref { return s.popAny(kind, kind) }
func (s *swift) popType() ref             { return s.popIf(kType) }
func (s *swift) popName() ref             { return s.popAny(kIdentifier, kRelatedName) }

// popEntity takes a declaration, out of the type that it may be wrapped in.
func (s *swift) popEntity() ref { return s.popInner(lastContext) }

// popNominal takes a type with a name, which can have arguments.
func (s *swift) popNominal() ref { return s.popInner(kOtherType) }

func (s *swift) popInner(last swiftKind) ref {
	n := s.inner(s.popAny(kType, last))
	if k := s.kind(n); k < firstContext || k > last {
		return 0
	}
	return n
}

// popModule takes a module. Its name is read as an identifier.
func (s *swift) popModule() ref {
	if n := s.popIf(kIdentifier); n != 0 {
		return s.node(swiftNode{kind: kModule, text: s.nodes[n].text})
	}
	return s.popIf(kModule)
}

// popContext takes what something is declared in.
func (s *swift) popContext() ref {
	if n := s.popModule(); n != 0 {
		return n
	}
	return s.popEntity()
}

// popProtocol takes a protocol, which is written without its operator where
// nothing else can stand.
func (s *swift) popProtocol() ref {
	if n := s.popType(); n != 0 {
		if s.kind(s.inner(n)) != kProtocol {
			return 0
		}
		return n
	}
	name := s.popName()
	return s.wrap(s.add(kProtocol, 0, s.popContext(), name))
}

// gather takes nodes until one that a marker says is the first, or none if
// there is an empty list, and makes a list of them.
func (s *swift) gather(kind swiftKind, one func() ref) ref {
	if s.popIf(kEmptyList) != 0 {
		return s.some(kind, 0)
	}
	var buffer [16]ref
	got := buffer[:0]
	for first := false; !first; {
		first = s.popIf(kFirst) != 0
		n := one()
		if n == 0 {
			return 0
		}
		got = append(got, n)
	}
	return s.reversed(kind, got)
}

// reversed makes a node of children that were taken from the stack, the last
// one first.
func (s *swift) reversed(kind swiftKind, got []ref) ref {
	at := int32(len(s.kids))
	for i := len(got) - 1; i >= 0; i-- {
		s.kids = append(s.kids, got[i])
	}
	return s.node(swiftNode{kind: kind, kids: span{at, int32(len(s.kids))}})
}

// types takes the types on top of the stack.
func (s *swift) types() ref {
	var buffer [16]ref
	got := buffer[:0]
	for n := s.popType(); n != 0; n = s.popType() {
		got = append(got, n)
	}
	return s.reversed(kList, got)
}

// substitute remembers a node, which may be referred to from now on.
func (s *swift) substitute(n ref) ref {
	if n != 0 {
		s.subs = append(s.subs, n)
	}
	return n
}

// Package swift demangles names of Swift 4.0 and later,
// https://github.com/swiftlang/swift/blob/main/docs/ABI/Mangling.rst, and of the mangling
// before it, see old.go.
package swift

import (
	"bytes"
	"slices"
	"sync"

	"symbolon/internal/demangle/core"
)

// maxDepth bounds how deep a name may be nested when it is written.
const maxDepth = 256

// prefixes are those of Swift names. Names with _T0 (Swift 4.0) have the labels
// of parameters inside of the types, as those with _T (Swift 1 to 3).
var prefixes = [...]string{"$s", "_$s", "$S", "_$S", "$e", "_$e", "@__swiftmacro_", oldPrefix, "_T0"}

const oldPrefix = "_T"

// ref is the index of a node in the tree of a name. Zero is not a node: a parent
// that gets it fails too, so that only few places check.
type ref = core.Ref

// span is a piece of an arena.
type span struct{ at, end int32 }

type node struct {
	kind kind
	num  int32 // an index, flags or a row of a table, by kind
	text span  // of swift.text
	kids span  // of swift.kids
}

// demangler reads one name into a tree and writes the tree. A mangled name is a
// program for a stack: an operator pops its operands and pushes its result. Most
// nodes are phrases: text in which a dollar and a digit are replaced by a child.
// A phrase may have other forms for the short styles, each after a bar.
type demangler struct {
	core.Cursor // its text is the name, and after it the text that is not in it
	core.Budget // of nodes, references, repeated letters of words, and visits
	core.Writer
	core.Tree[node]
	hasOldLabels bool // labels are inside of types
	stack        []ref
	subs         []ref
	words        []span

	style         core.Style
	isCalled      bool // functions have their parameters also in a short style
	labels        ref  // of the parameters that are written next
	isSpecialized bool // "specialized" is written once for a name
}

var demanglers = sync.Pool{New: func() any { return new(demangler) }}

// Append appends the readable form of a Swift name and reports whether it is one.
func Append(dst, name []byte, style core.Style, left *int) ([]byte, bool) {
	start := 0
	for _, prefix := range prefixes {
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
	s := demanglers.Get().(*demangler)
	defer demanglers.Put(s)
	s.Text = append(s.Text[:0], name...)
	s.Pos, s.End, s.hasOldLabels = start, len(name), bytes.HasPrefix(name, []byte(oldPrefix))
	s.Tree.Reset()
	s.stack, s.subs, s.words = s.stack[:0], s.subs[:0], s.words[:0]
	s.Budget = core.Budget{Steps: *left}
	defer func() { *left = s.Steps }()
	var top ref
	if start == len(oldPrefix) && s.hasOldLabels {
		top = s.parseOldGlobal()
	} else {
		top = s.parseGlobal()
	}
	if top == 0 {
		return dst, false
	}
	s.Writer = core.NewWriter(dst)
	s.style, s.isCalled = style, called
	s.Depth, s.labels, s.isSpecialized = 0, 0, false
	s.print(top, false)
	out, ok := s.Out, !s.Failed && !s.IsFull() && len(s.Written()) > 0
	s.Out = nil
	return out, ok
}

// parseGlobal reads the whole name. Attributes of the function come after it and
// are written before it. A name that leaves anything else on the stack is not
// valid.
func (s *demangler) parseGlobal() ref {
	for s.Pos < s.End {
		n := s.parseOperator()
		if n == 0 || !s.Spend(1) {
			return 0
		}
		s.stack = append(s.stack, n)
	}
	suffix := s.popIf(kSuffix)
	var got []ref
	for s.topKind() == kAttribute {
		got = append(got, s.pop())
	}
	if len(s.stack) > 1 || len(s.stack) == 0 && len(got) == 0 {
		return 0
	}
	got = append(append(got, s.stack...), suffix)
	return s.addOptional(kAll, 0, got...)
}

// addNode adds a node to the tree.
func (s *demangler) addNode(n node) ref {
	if !s.Spend(1) {
		return 0
	}
	s.Nodes = append(s.Nodes, n)
	return ref(len(s.Nodes) - 1)
}

// addOptional makes a node whose children may be missing.
func (s *demangler) addOptional(kind kind, num int, kids ...ref) ref {
	at := int32(len(s.Lists))
	s.Lists = append(s.Lists, kids...)
	return s.addNode(node{kind: kind, num: int32(num), kids: span{at, int32(len(s.Lists))}})
}

// add makes a node whose children must all exist.
func (s *demangler) add(kind kind, num int, kids ...ref) ref {
	if slices.Contains(kids, 0) {
		return 0
	}
	return s.addOptional(kind, num, kids...)
}

// addText makes a node with a text, whose children may be missing.
func (s *demangler) addText(kind kind, text string, kids ...ref) ref {
	n := s.addOptional(kind, 0, kids...)
	if n != 0 {
		s.Nodes[n].text = s.store(text)
	}
	return n
}

// addPhrase makes a node with a text, whose children must all exist.
func (s *demangler) addPhrase(kind kind, text string, kids ...ref) ref {
	n := s.add(kind, 0, kids...)
	if n != 0 {
		s.Nodes[n].text = s.store(text)
	}
	return n
}

// addTypePhrase makes a phrase that is a type.
func (s *demangler) addTypePhrase(text string, kids ...ref) ref {
	return s.wrapType(s.addPhrase(kPhrase, text, kids...))
}

// wrapType makes a node a type.
func (s *demangler) wrapType(n ref) ref { return s.add(kType, 0, n) }

// store keeps a text.
func (s *demangler) store(text string) span {
	at := int32(len(s.Text))
	s.Text = append(s.Text, text...)
	return span{at, int32(len(s.Text))}
}

func (s *demangler) kind(n ref) kind     { return s.Nodes[n].kind }
func (s *demangler) num(n ref) int       { return int(s.Nodes[n].num) }
func (s *demangler) slice(x span) []byte { return s.Text[x.at:x.end] }
func (s *demangler) name(n ref) []byte   { return s.slice(s.Nodes[n].text) }
func (s *demangler) list(n ref) []ref    { return s.Lists[s.Nodes[n].kids.at:s.Nodes[n].kids.end] }

// child returns child i of n, zero if it is missing.
func (s *demangler) child(n ref, i int) ref {
	if l := s.list(n); i < len(l) {
		return l[i]
	}
	return 0
}

// unwrap returns the node that a type wraps.
func (s *demangler) unwrap(n ref) ref {
	if s.kind(n) == kType {
		return s.child(n, 0)
	}
	return n
}

// topKind returns the kind of the node on top of the stack.
func (s *demangler) topKind() kind {
	if len(s.stack) == 0 {
		return kNone
	}
	return s.kind(s.stack[len(s.stack)-1])
}

func (s *demangler) pop() ref {
	if len(s.stack) == 0 {
		return 0
	}
	n := s.stack[len(s.stack)-1]
	s.stack = s.stack[:len(s.stack)-1]
	return n
}

// popAny takes the top of the stack if its kind is from first to last.
func (s *demangler) popAny(first, last kind) ref {
	if k := s.topKind(); k >= first && k <= last {
		return s.pop()
	}
	return 0
}

func (s *demangler) popIf(kind kind) ref { return s.popAny(kind, kind) }
func (s *demangler) popType() ref        { return s.popIf(kType) }
func (s *demangler) popName() ref        { return s.popAny(kIdentifier, kRelatedName) }

// popEntity takes a declaration, out of the type that it may be wrapped in.
func (s *demangler) popEntity() ref { return s.popInner(lastContext) }

// popNominal takes a type with a name, which can have arguments.
func (s *demangler) popNominal() ref { return s.popInner(kOtherType) }

func (s *demangler) popInner(last kind) ref {
	n := s.unwrap(s.popAny(kType, last))
	if k := s.kind(n); k < firstContext || k > last {
		return 0
	}
	return n
}

// popModule takes a module. Its name is read as an identifier.
func (s *demangler) popModule() ref {
	if n := s.popIf(kIdentifier); n != 0 {
		return s.addNode(node{kind: kModule, text: s.Nodes[n].text})
	}
	return s.popIf(kModule)
}

// popContext pops the context of a declaration.
func (s *demangler) popContext() ref {
	if n := s.popModule(); n != 0 {
		return n
	}
	return s.popEntity()
}

// popProtocol pops a protocol, which has no operator where only protocols are
// allowed.
func (s *demangler) popProtocol() ref {
	if n := s.popType(); n != 0 {
		if s.kind(s.unwrap(n)) != kProtocol {
			return 0
		}
		return n
	}
	name := s.popName()
	return s.wrapType(s.add(kProtocol, 0, s.popContext(), name))
}

// popList pops nodes up to the one that a marker declares the first, or none for
// an empty list, and adds a list of them.
func (s *demangler) popList(kind kind, one func() ref) ref {
	if s.popIf(kEmptyList) != 0 {
		return s.addOptional(kind, 0)
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
	return s.addReversed(kind, got)
}

// addReversed makes a node of children that were taken from the stack, the last
// one first.
func (s *demangler) addReversed(kind kind, got []ref) ref {
	at := int32(len(s.Lists))
	for i := len(got) - 1; i >= 0; i-- {
		s.Lists = append(s.Lists, got[i])
	}
	return s.addNode(node{kind: kind, kids: span{at, int32(len(s.Lists))}})
}

// parseTypes takes the types on top of the stack.
func (s *demangler) parseTypes() ref {
	var buffer [16]ref
	got := buffer[:0]
	for n := s.popType(); n != 0; n = s.popType() {
		got = append(got, n)
	}
	return s.addReversed(kList, got)
}

// addSubstitution remembers a node, which may be referred to from now on.
func (s *demangler) addSubstitution(n ref) ref {
	if n != 0 {
		s.subs = append(s.subs, n)
	}
	return n
}

// Package msvc demangles names of Microsoft's C++ compiler, and of clang in the same
// mangling. There is no specification; msvc.go has the supported grammar.
package msvc

import (
	"bytes"
	"sync"

	"symbolon/internal/demangle/core"
)

// The mangling of MSVC, as far as it is needed to read the files here. Other letters are
// listed in tables.
//
//	name       ? symbol encoding, with ?? where the symbol is an operator
//	symbol     piece, then the pieces it is in, innermost first, then @
//	piece      text @ | digit: an earlier piece | ?$ template | ?A… @ unnamed
//	           namespace | ? number ? name: inside of a function | ?? name:
//	           of a function | ?Q scoped name: of an interface
//	template   ?$ piece arguments @, with numbering of its own
//	encoding   0-4 type qualifiers: a variable | A-Z $… function
//	function   qualifiers of this, convention, result (@: none), parameters, Z
//	           or _E for noexcept
//	parameters X: none | types and digits (earlier types of more than one
//	           letter), then @, or Z if more can follow
//	number     0-9: one more than that | letters A-P, hexadecimal, then @; ?
//	           before it negates
//
// A name is read into nodes that refer to each other, and written from them:
// C++ writes types around a declared name, the mangled name has them before it.

const (
	// msvcMaxDepth bounds how deep types and names are nested when they are
	// read.
	maxDepth = 128
)

// kind is the meaning of a node. The comments name the fields in use.
type kind uint8

const (
	// Pieces of names.
	mText       kind = iota + 1 // a word, or the letters from..to of the name
	mTemplate                   // first: piece; second: list of arguments
	mLocal                      // first: symbol; number: which scope of it, if code is not isWhole
	mInterface                  // first: name
	mStructor                   // word: before the name of the class
	mConversion                 // first: type
	mInit                       // word: its action; first: symbol or name
	mScope                      // first: piece; second: the scope it is in

	// Types.
	mTag      // word: class, struct, union, enum or nothing; first: name
	mPointer  // word: sign; first: type; second: class of a member
	mArray    // first: type; second: list of numbers
	mFunction // first: result; second: list of parameters; code: convention
	mNumber   // number
	mOffset   // number, of 32 bits
	mList     // first: item; second: rest

	// Symbols.
	mCallable   // first: name; second: function; third: offsets; code: class
	mVariable   // first: name; second: type; code: class
	mTable      // first: name; second: list of names of bases
	mVcall      // first: name; number: offset; code: convention
	mDescriptor // first: type; word: its part; code: between both
	mLiteral    // from..to: letters; number: length; code: width

	// Arguments that are neither a type nor a number.
	mAddress // first: symbol; third: offsets; word: sign
	mValue   // first: type; second: list of values; third: name of a field
	mFloat   // number: its bits; code: how many
)

// Qualifiers of types, and of the object a function is called for.
const (
	qConst uint16 = 1 << iota
	qVolatile
	qRestrict
	qUnaligned
	qNoexcept
	qLvalue
	qRvalue
	qVariadic
)

// instead is the code of a text that is not written: its word is.
const isReplaced = 1

// isWhole is the code of a scope that is a whole function.
const isWhole = 1

type ref = core.Ref

// A node is a part of a name.
type node struct {
	kind                 kind
	code                 byte
	quals                uint16
	from, to             uint16
	first, second, third ref
	word                 string
	number               uint64
	negative             bool
}

// backrefs are the names and types that a digit can refer to.
type backrefs struct {
	names, types         [10]ref
	nameCount, typeCount int
}

// demangler reads a name into a tree and writes the tree.
type demangler struct {
	core.Cursor
	core.Budget
	core.Writer
	core.Tree[node]
	style       core.Style
	hasKeywords bool // conventions and numbers are written in the compiler's words
	isLocal     bool // the name is local to a function
	backrefs    backrefs
}

// demanglers keeps the memory of nodes.
var demanglers = sync.Pool{New: func() any { return new(demangler) }}

// Append appends the readable form of a name of MSVC, or of the type that
// a name of run-time type information describes.
func Append(dst, name []byte, style core.Style, left *int) ([]byte, bool) {
	if style == core.Called {
		style = core.Full // has no types of results either
	}
	if hashed := hashedLength(name); hashed > 0 {
		return append(dst, name[:hashed]...), len(name) > hashed
	}
	if name[0] != '?' && !bytes.HasPrefix(name, []byte(".?")) || bytes.ContainsFunc(name, isControl) {
		return dst, false
	}
	m := demanglers.Get().(*demangler)
	defer demanglers.Put(m)
	n := m.reset(dst, name, style, style == core.LLVM)
	if m.isLocal && style == core.Full {
		n = m.reset(dst, name, style, true)
	}
	if m.Failed {
		m.Text, m.Out = nil, nil
		return dst, false
	}
	m.Steps = *left
	m.printSymbol(n, atTop)
	*left = m.Steps
	if style == core.Full && m.Pos < m.End {
		m.Out = append(append(append(m.Out, " ("...), name[m.Pos:]...), ')')
	}
	out, ok := m.Out, !m.Failed && !m.IsFull()
	m.Text, m.Out = nil, nil
	return out, ok
}

// reset reads a name into nodes. hasKeywords has the compiler's words for
// conventions and numbers written, as other tools do for names that are local to
// a function.
func (m *demangler) reset(dst, name []byte, style core.Style, words bool) ref {
	*m = demangler{
		Cursor:      core.Cursor{Text: name, End: len(name)},
		Writer:      core.NewWriter(dst),
		Tree:        m.Tree,
		style:       style,
		hasKeywords: words,
	}
	m.Reset()
	return m.parse()
}

// hashedLength returns the length of a name that the compiler replaced by its
// hash because it was too long, zero for others. The rest only repeats it.
func hashedLength(name []byte) int {
	const hashed = len("??@") + 32 + len("@")
	if len(name) < hashed || !bytes.HasPrefix(name, []byte("??@")) || name[hashed-1] != '@' || !core.IsHash(name[3:hashed-1]) {
		return 0
	}
	return hashed
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// parse reads the whole name. Compilers put suffixes after the symbols of clones.
func (m *demangler) parse() ref {
	if m.Accept('.') {
		n := m.Add(node{kind: mDescriptor, first: m.parseResult(), word: "`RTTI Type Descriptor Name'"})
		if m.Pos < m.End {
			m.fail()
		}
		return n
	}
	n := m.parseSymbol()
	if c := m.Peek(); m.Pos < m.End && c != '.' && c != '$' {
		m.fail()
	}
	return n
}

// fail ends the work with an error. Nothing is left to read then.
func (m *demangler) fail() ref {
	m.Failed = true
	m.Pos = m.End
	return 0
}

// expect reads a text that must come next.
func (m *demangler) expect(text string) {
	if !m.AcceptString(text) {
		m.fail()
	}
}

// enter begins a level of recursion. Each call needs a call of Leave.
func (m *demangler) enter() bool {
	if !m.Enter(maxDepth) {
		m.fail()
	}
	return !m.Failed
}

// parseNumber reads a number.
func (m *demangler) parseNumber() (n uint64, negative bool) {
	negative = m.Accept('?')
	if c := m.Peek(); core.IsDigit(c) {
		m.Pos++
		return uint64(c-'0') + 1, negative
	}
	for at := m.Pos; ; {
		c := m.Next()
		if c == '@' {
			return n, negative
		}
		if c < 'A' || c > 'P' || m.Pos > at+16 {
			m.fail()
			return 0, false
		}
		n = n<<4 | uint64(c-'A')
	}
}

func (m *demangler) addNumber(kind kind) ref {
	n, negative := m.parseNumber()
	return m.Add(node{kind: kind, number: n, negative: negative})
}

// A list is a list of nodes that grows.
type list struct{ head, tail ref }

func (m *demangler) appendTo(l *list, item ref) {
	cell := m.Add(node{kind: mList, first: item})
	if l.head == 0 {
		l.head = cell
	} else {
		m.Nodes[l.tail].second = cell
	}
	l.tail = cell
}

// parseOffsets reads so many numbers.
func (m *demangler) parseOffsets(count int, kind kind) ref {
	var list list
	for range count {
		m.appendTo(&list, m.addNumber(kind))
	}
	return list.head
}

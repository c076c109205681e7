// Package msvc makes names of Microsoft's C++ compiler readable, and what clang
// writes in the same mangling. There is no specification; the grammar that is
// read is in msvc.go.
package msvc

import (
	"bytes"
	"sync"

	"symbolon/internal/demangle/core"
)

// The mangling of MSVC, as far as it has to be known to read the files here.
// Where nothing else is said, letters stand for what the tables say.
//
//	name       ? symbol encoding, with ?? where the symbol is an operator
//	symbol     piece, then the pieces it is in, innermost first, then @
//	piece      text @ | digit: an earlier piece | ?$ template | ?A… @ unnamed
//	           namespace | ? number ? name: inside of a function
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
// what C++ writes around a declared name stands before it in the mangled one.

const (
	// msvcMaxDepth bounds how deep types and names are nested when they are
	// read.
	msvcMaxDepth = 128
)

// msvcKind is what a node is. The comments say what its parts are.
type msvcKind uint8

const (
	// Pieces of names.
	mText       msvcKind = iota + 1 // a word, or what stands in the name from..to
	mTemplate                       // first: piece; second: list of arguments
	mLocal                          // first: symbol; number: which scope of it
	mStructor                       // word: what stands before the name of the class
	mConversion                     // first: type
	mInit                           // word: what it does; first: symbol or name
	mScope                          // first: piece; second: the scope it is in

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
	mDescriptor // first: type; word: what of it; code: what is between
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
const instead = 1

type ref = core.Ref

// msvcNode is a part of a name.
type msvcNode struct {
	kind                 msvcKind
	code                 byte
	quals                uint16
	from, to             uint16
	first, second, third ref
	word                 string
	number               uint64
	negative             bool
}

// msvcKnown is what a digit can refer to.
type msvcKnown struct {
	names, types         [10]ref
	nameCount, typeCount int
}

// msvc reads a name and writes it.
type msvc struct {
	core.Cursor
	style  core.Style
	words  bool       // conventions and numbers are written in the compiler's words
	local  bool       // it is local to a function
	nodes  []msvcNode // the first one is nothing
	known  msvcKnown
	depth  int
	left   int // nodes that may be written
	failed bool
	limit  int
	out    []byte
}

// msvcs keeps the memory of nodes.
var msvcs = sync.Pool{New: func() any { return new(msvc) }}

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
	m := msvcs.Get().(*msvc)
	defer msvcs.Put(m)
	n := m.read(dst, name, style, style == core.LLVM)
	if m.local && style == core.Full {
		n = m.read(dst, name, style, true)
	}
	if m.failed {
		m.Text, m.out = nil, nil
		return dst, false
	}
	m.left = *left
	m.printSymbol(n, atTop)
	*left = m.left
	if style == core.Full && m.Pos < m.End {
		m.out = append(append(append(m.out, " ("...), name[m.Pos:]...), ')')
	}
	out, ok := m.out, !m.failed && len(m.out) <= m.limit
	m.Text, m.out = nil, nil
	return out, ok
}

// read reads a name. With words the compiler's words for conventions and numbers
// are written: those who tell of what is local to functions leave them in.
func (m *msvc) read(dst, name []byte, style core.Style, words bool) ref {
	*m = msvc{
		Cursor: core.Cursor{Text: name, End: len(name)},
		style:  style,
		words:  words,
		nodes:  append(m.nodes[:0], msvcNode{}),
		limit:  len(dst) + core.MaxText,
		out:    dst,
	}
	return m.start()
}

// hashedLength is how much of a name the compiler made of a hash because the
// name was too long. What stands behind it only repeats that.
func hashedLength(name []byte) int {
	const hashed = len("??@") + 32 + len("@")
	if len(name) < hashed || !bytes.HasPrefix(name, []byte("??@")) || name[hashed-1] != '@' || !core.IsHash(name[3:hashed-1]) {
		return 0
	}
	return hashed
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// start reads all. Behind a symbol there may be what compilers put behind the
// names of clones.
func (m *msvc) start() ref {
	if m.Accept('.') {
		n := m.add(msvcNode{kind: mDescriptor, first: m.result(), word: "`RTTI Type Descriptor Name'"})
		if m.Pos < m.End {
			m.fail()
		}
		return n
	}
	n := m.symbol()
	if c := m.Peek(); m.Pos < m.End && c != '.' && c != '$' {
		m.fail()
	}
	return n
}

// fail gives up. Nothing is left to read then.
func (m *msvc) fail() ref {
	m.failed = true
	m.Pos = m.End
	return 0
}

func (m *msvc) add(n msvcNode) ref {
	m.nodes = append(m.nodes, n)
	return ref(len(m.nodes) - 1)
}

// ahead says whether this comes next, skip takes it then.
func (m *msvc) ahead(text string) bool {
	return m.End-m.Pos >= len(text) && string(m.Text[m.Pos:m.Pos+len(text)]) == text
}

func (m *msvc) skip(text string) bool {
	if !m.ahead(text) {
		return false
	}
	m.Pos += len(text)
	return true
}

// want takes what has to come next.
func (m *msvc) want(text string) {
	if !m.skip(text) {
		m.fail()
	}
}

// enter counts the depth. Each is followed by leave.
func (m *msvc) enter() bool {
	if m.depth++; m.depth > msvcMaxDepth {
		m.fail()
	}
	return !m.failed
}

func (m *msvc) leave() { m.depth-- }

// numeral reads a number.
func (m *msvc) numeral() (n uint64, negative bool) {
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

func (m *msvc) number(kind msvcKind) ref {
	n, negative := m.numeral()
	return m.add(msvcNode{kind: kind, number: n, negative: negative})
}

// msvcList is a list that grows.
type msvcList struct{ head, tail ref }

func (m *msvc) grow(l *msvcList, item ref) {
	cell := m.add(msvcNode{kind: mList, first: item})
	if l.head == 0 {
		l.head = cell
	} else {
		m.nodes[l.tail].second = cell
	}
	l.tail = cell
}

// offsets reads so many numbers.
func (m *msvc) offsets(count int, kind msvcKind) ref {
	var list msvcList
	for range count {
		m.grow(&list, m.number(kind))
	}
	return list.head
}

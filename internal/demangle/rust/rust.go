// Package rust makes names of both manglings of Rust readable: of v0,
// https://rust-lang.github.io/rfcs/2603-rust-symbol-name-mangling-v0.html, and
// of the legacy one, which looks like C++.
package rust

import (
	"bytes"
	"math"
	"strconv"
	"sync"
	"unicode/utf8"

	"symbolon/internal/demangle/core"
)

const (
	// rustMaxDepth bounds how deep a name may be nested.
	rustMaxDepth = 200
	// rustMaxBound bounds the lifetimes that one type brings.
	rustMaxBound = 64
)

// rust reads a name of the newer mangling (v0) and writes it at the same time:
// the parts stand in the order in which they are read. References lead back to
// where a part was read first. Crates are written without their hashes and
// numbers without their types.
type rust struct {
	core.Cursor
	out    []byte
	limit  int
	quiet  int // parts that are only read
	depth  int
	left   int    // bytes that references may lead back to
	bound  uint64 // lifetimes in scope
	simple bool
	failed bool
}

var rusts = sync.Pool{New: func() any { return new(rust) }}

// Append appends the readable form of a Rust v0 name, or says that it is
// none.
func Append(dst, name []byte, style core.Style, left *int) ([]byte, bool) {
	body, ok := bytes.CutPrefix(name, []byte("_R"))
	if !ok {
		body, ok = bytes.CutPrefix(name, []byte("__R"))
	}
	end := bytes.IndexByte(body, '.')
	if end < 0 {
		end = len(body)
	}
	after, fine := rustSuffix(body[end:])
	if body = body[:end]; !ok || !fine || len(body) == 0 || !core.IsUpper(body[0]) || !areWords(body) {
		return dst, false
	}
	r := rusts.Get().(*rust)
	defer rusts.Put(r)
	*r = rust{Cursor: core.Cursor{Text: body, End: len(body)}, out: dst, limit: len(dst) + core.MaxText, left: *left, simple: style == core.Simple}
	r.path(true)
	if core.IsUpper(r.Peek()) {
		r.quiet++ // the crate that made the instance
		r.path(false)
	}
	*left = r.left
	out := r.out
	ok = !r.failed && r.Pos == r.End && len(out) > len(dst)
	*r = rust{}
	if !ok {
		return dst, false
	}
	return append(out, after...), true
}

// areWords says whether a text has nothing but letters of words in ASCII.
func areWords(text []byte) bool {
	for _, c := range text {
		if !isWord(c) || c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// llvmMark begins the suffix of names that LLVM made visible to other modules.
const llvmMark = ".llvm."

// rustSuffix is what of the text behind a name is written: not what LLVM added
// to tell copies apart.
func rustSuffix(after []byte) ([]byte, bool) {
	if i := bytes.Index(after, []byte(llvmMark)); i >= 0 && core.IsHash(after[i+len(llvmMark):]) {
		after = after[:i]
	}
	return after, printable(after) && (len(after) == 0 || after[0] == '.')
}

func (r *rust) say(text string) {
	if r.quiet == 0 && !r.failed {
		r.out = append(r.out, text...)
		r.failed = len(r.out) > r.limit
	}
}

// part reads a part that may hold others.
func (r *rust) part(read func()) {
	if r.depth++; r.depth > rustMaxDepth {
		r.failed = true
	}
	if !r.failed {
		read()
	}
	r.depth--
}

// base62 reads a number that ends with an underscore.
func (r *rust) base62() uint64 {
	const digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	if r.Accept('_') {
		return 0
	}
	for n := uint64(0); ; {
		c := r.Next()
		if c == '_' {
			return n + 1
		}
		digit := bytes.IndexByte([]byte(digits), c)
		if digit < 0 || n > math.MaxUint64/62-2 {
			r.failed = true
			return 0
		}
		n = n*62 + uint64(digit)
	}
}

// optional reads a number behind a letter, zero if the letter is not there.
func (r *rust) optional(letter byte) uint64 {
	if !r.Accept(letter) {
		return 0
	}
	return r.base62() + 1
}

// identifier reads a name, which may be encoded.
func (r *rust) identifier() []byte {
	encoded := r.Accept('u')
	n := 0
	if !r.Accept('0') {
		n = r.Natural()
	}
	r.Accept('_')
	if n < 0 || n > r.End-r.Pos {
		r.failed = true
		return nil
	}
	r.Pos += n
	name := r.Text[r.Pos-n : r.Pos]
	if encoded && r.quiet == 0 && !r.failed {
		out, ok := core.AppendPunycode(nil, name, false)
		r.failed = !ok
		return out
	}
	return name
}

// backref follows a reference to a part that was read before.
func (r *rust) backref(read func()) {
	at := r.Pos - 1
	to := r.base62()
	if to >= uint64(at) {
		r.failed = true
	}
	if r.failed || r.quiet > 0 {
		return
	}
	saved := r.Pos
	r.Pos = int(to)
	r.part(read)
	if r.left -= r.Pos - int(to); r.left < 0 {
		r.failed = true
	}
	r.Pos = saved
}

// list reads parts up to an E, with something between, and counts them.
func (r *rust) list(between string, read func()) (n int) {
	for ; !r.failed && !r.Accept('E'); n++ {
		if n > 0 {
			r.say(between)
		}
		read()
	}
	return n
}

// path reads the path of an item. Generic arguments of a path to a value begin
// with a double colon.
func (r *rust) path(value bool) { r.part(func() { r.item(value) }) }

func (r *rust) item(value bool) {
	switch c := r.Next(); c {
	case 'C':
		r.optional('s')
		r.say(string(r.identifier()))
	case 'N':
		space := r.Next()
		r.path(value)
		r.member(space)
	case 'M', 'X':
		r.optional('s')
		r.quiet++
		r.path(false)
		r.quiet--
		r.qualified(c == 'X')
	case 'Y':
		r.qualified(true)
	case 'I':
		r.path(value)
		if r.simple {
			r.quiet++
			defer func() { r.quiet-- }()
		}
		if value {
			r.say("::")
		}
		r.say("<")
		r.list(", ", r.argument)
		r.say(">")
	case 'B':
		r.backref(func() { r.path(value) })
	default:
		r.failed = true
	}
}

// member reads a name inside of a path. What has no name in the source, as a
// closure, has a number.
func (r *rust) member(space byte) {
	number := r.optional('s')
	name := string(r.identifier())
	switch {
	case core.IsUpper(space):
		kind := string(space)
		switch space {
		case 'C':
			kind = "closure"
		case 'S':
			kind = "shim"
		}
		if name != "" {
			kind += ":" + name
		}
		r.say("::{" + kind + "#" + strconv.FormatUint(number, 10) + "}")
	case !core.IsLower(space):
		r.failed = true
	case name != "":
		r.say("::" + name)
	}
}

// qualified reads a type, perhaps as a trait, that a path begins with.
func (r *rust) qualified(trait bool) {
	r.say("<")
	r.typ()
	if trait {
		r.say(" as ")
		r.path(false)
	}
	r.say(">")
}

// argument reads a generic argument.
func (r *rust) argument() {
	switch {
	case r.Accept('L'):
		r.lifetime(r.base62())
	case r.Accept('K'):
		r.constant(false)
	default:
		r.typ()
	}
}

// lifetime writes a lifetime, which is counted from the innermost. Zero is one
// that is not said.
func (r *rust) lifetime(n uint64) {
	switch i := r.bound - n; {
	case r.quiet > 0:
	case n == 0:
		r.say("'_")
	case n > r.bound:
		r.failed = true
	case i < 26:
		r.say("'" + string(rune('a'+i)))
	default:
		r.say("'_" + strconv.FormatUint(i, 10))
	}
}

// binder reads the lifetimes that a type brings, and what has them in scope.
func (r *rust) binder(read func()) {
	n := r.optional('G')
	if n > rustMaxBound {
		r.failed = true
	}
	if n == 0 || r.failed || r.quiet > 0 {
		read()
		return
	}
	r.say("for<")
	for i := range n {
		if i > 0 {
			r.say(", ")
		}
		r.bound++
		r.lifetime(1)
	}
	r.say("> ")
	read()
	r.bound -= n
}

// printable says whether a text is plain ASCII without blanks.
func printable(text []byte) bool {
	for _, c := range text {
		if c <= ' ' || c >= 0x7f {
			return false
		}
	}
	return true
}

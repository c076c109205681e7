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
	// maxDepth bounds how deep a name may be nested.
	maxDepth = 200
	// maxLifetimes bounds the lifetimes that one type binds.
	maxLifetimes = 64
)

// demangler reads a name of the newer mangling (v0) and writes it at the same time:
// the parts are written in the order in which they are read. References lead
// back to the place where a part was read first. Crates are written without
// their hashes and numbers without their types.
type demangler struct {
	core.Cursor
	core.Budget // of bytes that references lead back to
	core.Writer
	quiet     int    // parts that are only read
	lifetimes uint64 // in scope
	isSimple  bool
}

var demanglers = sync.Pool{New: func() any { return new(demangler) }}

// Append appends the readable form of a Rust v0 name and reports whether it is
// one.
func Append(dst, name []byte, style core.Style, left *int) ([]byte, bool) {
	body, ok := bytes.CutPrefix(name, []byte("_R"))
	if !ok {
		body, ok = bytes.CutPrefix(name, []byte("__R"))
	}
	end := bytes.IndexByte(body, '.')
	if end < 0 {
		end = len(body)
	}
	after, fine := trimSuffix(body[end:])
	if body = body[:end]; !ok || !fine || len(body) == 0 || !core.IsUpper(body[0]) || !isIdentifier(body) {
		return dst, false
	}
	r := demanglers.Get().(*demangler)
	defer demanglers.Put(r)
	*r = demangler{Cursor: core.Cursor{Text: body, End: len(body)}, Budget: core.Budget{Steps: *left}, Writer: core.NewWriter(dst), isSimple: style == core.Simple}
	r.readPath(true)
	if core.IsUpper(r.Peek()) {
		r.quiet++ // the crate that made the instance
		r.readPath(false)
	}
	*left = r.Steps
	out := r.Out
	ok = !r.Failed && r.Pos == r.End && len(out) > len(dst)
	*r = demangler{}
	if !ok {
		return dst, false
	}
	return append(out, after...), true
}

// isIdentifier reports whether a text has ASCII letters, digits and underscores
// only.
func isIdentifier(text []byte) bool {
	for _, c := range text {
		if !isWord(c) || c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// llvmMark begins the suffix of names that LLVM made visible to other modules.
const llvmMark = ".llvm."

// trimSuffix removes the suffix that LLVM adds to distinguish copies.
func trimSuffix(after []byte) ([]byte, bool) {
	if i := bytes.Index(after, []byte(llvmMark)); i >= 0 && core.IsHash(after[i+len(llvmMark):]) {
		after = after[:i]
	}
	return after, printable(after) && (len(after) == 0 || after[0] == '.')
}

func (r *demangler) print(text string) {
	if r.quiet == 0 && !r.Failed {
		r.AppendString(text)
		r.Failed = r.IsFull()
	}
}

// nest reads a part that may hold others.
func (r *demangler) nest(read func()) {
	if r.Enter(maxDepth) {
		read()
	}
	r.Leave()
}

// readBase62 reads a number that ends with an underscore.
func (r *demangler) readBase62() uint64 {
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
			r.Failed = true
			return 0
		}
		n = n*62 + uint64(digit)
	}
}

// readOptional reads a number after a letter, zero without the letter.
func (r *demangler) readOptional(letter byte) uint64 {
	if !r.Accept(letter) {
		return 0
	}
	return r.readBase62() + 1
}

// readIdentifier reads a name, which may be encoded.
func (r *demangler) readIdentifier() []byte {
	encoded := r.Accept('u')
	n := 0
	if !r.Accept('0') {
		n = r.Natural()
	}
	r.Accept('_')
	if n < 0 || n > r.End-r.Pos {
		r.Failed = true
		return nil
	}
	r.Pos += n
	name := r.Text[r.Pos-n : r.Pos]
	if encoded && r.quiet == 0 && !r.Failed {
		out, ok := core.AppendPunycode(nil, name, false)
		r.Failed = !ok
		return out
	}
	return name
}

// followBackref follows a reference to a part that was read before.
func (r *demangler) followBackref(read func()) {
	at := r.Pos - 1
	to := r.readBase62()
	if to >= uint64(at) {
		r.Failed = true
	}
	if r.Failed || r.quiet > 0 {
		return
	}
	saved := r.Pos
	r.Pos = int(to)
	r.nest(read)
	if r.Steps -= r.Pos - int(to); r.Steps < 0 {
		r.Failed = true
	}
	r.Pos = saved
}

// readList reads parts up to an E, with something between, and counts them.
func (r *demangler) readList(between string, read func()) (n int) {
	for ; !r.Failed && !r.Accept('E'); n++ {
		if n > 0 {
			r.print(between)
		}
		read()
	}
	return n
}

// readPath reads the path of an item. Generic arguments of a path to a value begin
// with a double colon.
func (r *demangler) readPath(value bool) { r.nest(func() { r.readItem(value) }) }

func (r *demangler) readItem(value bool) {
	switch c := r.Next(); c {
	case 'C':
		r.readOptional('s')
		r.print(string(r.readIdentifier()))
	case 'N':
		space := r.Next()
		r.readPath(value)
		r.readMember(space)
	case 'M', 'X':
		r.readOptional('s')
		r.quiet++
		r.readPath(false)
		r.quiet--
		r.readQualified(c == 'X')
	case 'Y':
		r.readQualified(true)
	case 'I':
		r.readPath(value)
		if r.isSimple {
			r.quiet++
			defer func() { r.quiet-- }()
		}
		if value {
			r.print("::")
		}
		r.print("<")
		r.readList(", ", r.readArgument)
		r.print(">")
	case 'B':
		r.followBackref(func() { r.readPath(value) })
	default:
		r.Failed = true
	}
}

// readMember reads a name inside of a path. Elements without a name in the source,
// such as closures, have a number.
func (r *demangler) readMember(space byte) {
	number := r.readOptional('s')
	name := string(r.readIdentifier())
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
		r.print("::{" + kind + "#" + strconv.FormatUint(number, 10) + "}")
	case !core.IsLower(space):
		r.Failed = true
	case name != "":
		r.print("::" + name)
	}
}

// readQualified reads a type, perhaps as a trait, that a path begins with.
func (r *demangler) readQualified(trait bool) {
	r.print("<")
	r.readType()
	if trait {
		r.print(" as ")
		r.readPath(false)
	}
	r.print(">")
}

// readArgument reads a generic argument.
func (r *demangler) readArgument() {
	switch {
	case r.Accept('L'):
		r.printLifetime(r.readBase62())
	case r.Accept('K'):
		r.readConstant(false)
	default:
		r.readType()
	}
}

// printLifetime writes a lifetime, counted from the innermost. Zero is erased.
func (r *demangler) printLifetime(n uint64) {
	switch i := r.lifetimes - n; {
	case r.quiet > 0:
	case n == 0:
		r.print("'_")
	case n > r.lifetimes:
		r.Failed = true
	case i < 26:
		r.print("'" + string(rune('a'+i)))
	default:
		r.print("'_" + strconv.FormatUint(i, 10))
	}
}

// readBinder reads the lifetimes that a type binds, and the type.
func (r *demangler) readBinder(read func()) {
	n := r.readOptional('G')
	if n > maxLifetimes {
		r.Failed = true
	}
	if n == 0 || r.Failed || r.quiet > 0 {
		read()
		return
	}
	r.print("for<")
	for i := range n {
		if i > 0 {
			r.print(", ")
		}
		r.lifetimes++
		r.printLifetime(1)
	}
	r.print("> ")
	read()
	r.lifetimes -= n
}

// printable reports whether a text is plain ASCII without blanks.
func printable(text []byte) bool {
	for _, c := range text {
		if c <= ' ' || c >= 0x7f {
			return false
		}
	}
	return true
}

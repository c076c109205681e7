// Package demangle turns mangled names into readable ones: of C++ (Itanium and
// MSVC), Rust (legacy and v0), Swift, Go and OCaml. Objective-C
// names are readable already, except for classes of Swift in them. Decorated names of C on Windows are not changed:
// plain names can look like them.
//
// A name is only changed if it has a prefix that no plain name has: a bare "f" is never
// taken for the type float. Names that cannot be read stay as they are. If the debug
// information states the language, only its mangling is tried.
//
// In full, a function of MSVC has the form of Itanium and PDB names, without
// result, access and convention: ns::C::f(int, char const*) const. A variable has
// its type. The scope of a local name is written with its result and in the
// compiler's words (__cdecl, __int64), as other tools write it; elsewhere integers
// have the names of <stdint.h>, and classes have no keyword. The style LLVM is
// that of llvm-symbolizer.
//
// Deviations met in the wild: names with clone suffixes (.cold, .isra.0) and
// LLVM's hashes (.llvm.123); block invocations; an underscore too many (Mach-O)
// or too few (Windows); C++ names with a hash after a dollar; MSVC names that
// were cut and replaced by a hash, texts in them without the zero at the end,
// unnamed namespaces that clang does not count; legacy Rust names inside of C++
// tables.
//
// Functions are safe for concurrent use. The work on one name is bounded in
// proportion to its length, see core.Steps, and its text by 16 KiB. A name that
// exceeds a bound stays as it is: one of 373,577 names of LLVM and of Rust's
// compiler.
package demangle

import (
	"bytes"
	"regexp"
	"strings"

	"symbolon/internal/demangle/core"
	"symbolon/internal/demangle/itanium"
	"symbolon/internal/demangle/msvc"
	"symbolon/internal/demangle/rust"
	"symbolon/internal/demangle/swift"
)

const (
	// maxInput bounds the time for one name, which can grow with the square of
	// its length.
	maxInput = 8 << 10
)

// Style selects the parts of a name that its readable form has.
type Style = core.Style

const (
	Full     = core.Full     // all that is in the name: void ns::f<int>(int)
	NoParams = core.NoParams // the qualified name: ns::f<int>
	Simple   = core.Simple   // without template and generic arguments too: ns::f
	LLVM     = core.LLVM     // Full, with C++ spelled as LLVM's tools do
	Called   = core.Called   // the function without its result: ns::f<int>(int)
	Bare     = core.Bare     // Full without the arguments of templates: void ns::f(int)
)

// Lang is a source language, as far as it matters for names.
type Lang uint8

const (
	AnyLang   Lang = iota // unknown: recognized by the name
	PlainLang             // one that does not mangle names: C, Objective-C, assembler
	CPP                   // Objective-C++ too
	Rust
	Swift
	Go
	OCaml
)

// Name returns the readable form of a mangled name, and every other name unchanged. The
// language is recognized by the form of the name.
func Name(name string, style Style) string { return NameIn(AnyLang, name, style) }

// DecodePunycode decodes a name in Punycode, see core.DecodePunycode.
func DecodePunycode(name string) (text string, ok bool) { return core.DecodePunycode(name) }

// NameIn is Name for a name of a known language. Names in the mangling of another
// language are not changed, so a C function whose name looks mangled keeps it.
func NameIn(lang Lang, name string, style Style) string {
	if !Candidate(name) {
		return name
	}
	left := core.Steps(len(name))
	return nameIn(lang, name, style, &left)
}

func nameIn(lang Lang, name string, style Style, left *int) string {
	var buffer [512]byte
	out, ok := appendIn(buffer[:0], lang, []byte(name), style, left)
	if !ok || len(out) == 0 {
		return name
	}
	return string(out)
}

// Append appends the result of Name.
func Append(dst, name []byte, style Style) []byte {
	left := core.Steps(len(name))
	if out, ok := appendIn(dst, AnyLang, name, style, &left); ok && len(out) > len(dst) {
		return out
	}
	return append(dst, name...)
}

// Candidate reports whether a name may be mangled, at first sight. Most are not.
func Candidate[T string | []byte](name T) bool {
	if len(name) < 3 || len(name) > maxInput {
		return false
	}
	switch name[0] {
	case '_', '$', '@', '?':
		return true
	case 'c':
		if string(name[:3]) == "cam" {
			return true
		}
	case '.':
		if name[1] == '?' {
			return true
		}
	case '-', '+':
		if name[1] == '[' && name[2] == '_' {
			return true
		}
	}
	return strings.IndexByte(string(name), '%') >= 0
}

// Work bounds the work on many names. Each name adds more than the average one
// needs, so only names made to be costly use it up. The zero value is ready;
// it belongs to one goroutine.
type Work struct{ spent int }

const (
	workInAdvance = 1 << 24 // steps, about a second
	workPerName   = 128
)

// Name is Name until the work is used up. Then names are not changed, and ok is false.
func (w *Work) Name(name string, style Style) (readable string, ok bool) {
	if !Candidate(name) {
		return name, true
	}
	if w.spent -= workPerName; w.spent > workInAdvance {
		return name, false
	}
	left := core.Steps(len(name))
	w.spent += left
	readable = nameIn(AnyLang, name, style, &left)
	w.spent -= left
	return readable, true
}

// reader appends the readable form of a name in one mangling and takes the work
// from steps. If it reports false, its other result is not used.
type reader func(dst, name []byte, style Style, left *int) ([]byte, bool)

// readers are the ways to read the names of a language, in the order in which
// they are tried. A plain language has only that of Objective-C.
var readers = [...][]reader{
	AnyLang:   {rust.Append, rust.AppendLegacy, itanium.Append, swift.Append, msvc.Append, appendOCaml, appendObjC, appendGo},
	PlainLang: {appendObjC},
	CPP:       {itanium.Append, msvc.Append, appendObjC},
	Rust:      {rust.Append, rust.AppendLegacy},
	Swift:     {swift.Append, appendObjC},
	Go:        {appendGo},
	OCaml:     {appendOCaml},
}

func appendIn(dst []byte, lang Lang, name []byte, style Style, left *int) ([]byte, bool) {
	if len(name) < 3 || len(name) > maxInput || int(lang) >= len(readers) {
		return dst, false
	}
	for _, read := range readers[lang] {
		if out, ok := read(dst, name, style, left); ok {
			return out, true
		}
	}
	return dst, false
}

// appendObjC reads the class of a method of Objective-C if it is one of Swift, in
// any style with its module: -[_TtC3foo3bar run].
func appendObjC(dst, name []byte, _ Style, left *int) ([]byte, bool) {
	const start = len("-[")
	if c := name[0]; c != '-' && c != '+' || !bytes.HasPrefix(name[1:], []byte("[_Tt")) {
		return dst, false
	}
	end := bytes.IndexAny(name, " (.")
	if end < 0 || name[end] == '.' {
		return dst, false
	}
	out, ok := swift.Append(append(dst, name[:start]...), name[start:end], Full, left)
	return append(out, name[end:]...), ok
}

// escape returns the letter that is written at i as a sign and two digits.
func escape(name []byte, i int, sign byte) (c byte, ok bool) {
	if i+2 >= len(name) || name[i] != sign {
		return 0, false
	}
	high, low := core.HexDigit(name[i+1]), core.HexDigit(name[i+2])
	return byte(high<<4 | low), high >= 0 && low >= 0
}

// appendGo undoes the escapes in the import path of a Go name. The compiler
// writes dots of the last part of a path as %2e.
func appendGo(dst, name []byte, _ Style, _ *int) ([]byte, bool) {
	out := dst
	for i := 0; i < len(name); i++ {
		if c, ok := escape(name, i, '%'); ok && (c == '.' || c == '%' || c == '"' || c >= 0x7f) {
			out = append(out, c)
			i += 2
		} else {
			out = append(out, name[i])
		}
	}
	return out, len(out)-len(dst) < len(name)
}

// ocaml is the form of a name of OCaml: module, function, number. Constants have a module
// and a number only, camlA__B__12, which ocamlData matches in the name without the number.
var (
	ocaml     = regexp.MustCompile(`^caml([A-Z]\w*?(?:__|\.).+)_[0-9]+$`)
	ocamlData = regexp.MustCompile(`__[A-Z](?:[^_]|_[^_])*_$`)
)

// appendOCaml reads camlModule__name_123 and the newer camlModule.name_123. A
// module inside of another one has two underscores before it as well.
func appendOCaml(dst, name []byte, _ Style, _ *int) ([]byte, bool) {
	found := ocaml.FindSubmatch(name)
	if found == nil || ocamlData.Match(found[1]) {
		return dst, false
	}
	body := found[1]
	for i := 0; i < len(body); i++ {
		if c, ok := escape(body, i, '$'); ok {
			dst = append(dst, c)
			i += 2
		} else if i+2 < len(body) && string(body[i:i+2]) == "__" && body[i+2] != '_' {
			dst = append(dst, '.')
			i++
		} else {
			dst = append(dst, body[i])
		}
	}
	return dst, true
}

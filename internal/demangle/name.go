// Package demangle turns mangled names of C++ (Itanium) and Rust (legacy and
// v0) into readable ones. The reading is done by a library; here are the
// styles, the choice of what is a mangled name at all, and the bounds.
//
// A name is only touched if it has a prefix that no plain name has: a bare "f"
// is never taken for the type float. What cannot be read stays as it is.
//
// Everything is safe for concurrent use. The work for one name is bounded by
// its length, by the length of its text, and by counts of what makes the
// library's work grow without bound: a name that passes a bound stays as it is,
// which of 46,795 exports of large libraries happens to 11.
package demangle

import (
	"regexp"
	"strings"

	lib "github.com/ianlancetaylor/demangle"
)

const (
	// maxInput bounds the time for one name, which can grow with the square of
	// its length.
	maxInput = 8 << 10
	// maxOutputBits bounds the text of one name: 16 KiB. The library cuts what
	// is longer.
	maxOutputBits = 14
	// maxReferences bounds the references to earlier parts in a name with
	// template parameters, which the library resolves by copying: two of them
	// can double the work.
	maxReferences = 24
	// maxPacks and maxPackInput bound names with pack expansions, whose work
	// grows with the square of the pack and with each expansion.
	maxPacks     = 8
	maxPackInput = 2 << 10
)

var (
	parameter = regexp.MustCompile(`T[0-9A-Z]*_`)
	reference = regexp.MustCompile(`S[0-9A-Z]*_`)
)

// Style says how much of a name is wanted.
type Style uint8

const (
	Full     Style = iota // all that the name says: void ns::f<int>(int)
	NoParams              // the qualified name: ns::f<int>
	Simple                // without template and generic arguments too: ns::f
)

// prefixes are what mangled names begin with: of C++ and Rust, with the
// underscores that some systems put before, and of blocks.
var prefixes = [...]string{"_Z", "__Z", "___Z", "____Z", "_R", "__R"}

// Name is the readable form of a mangled name, and every other name as it is.
func Name(name string, style Style) string {
	if len(name) < 3 || name[0] != '_' || len(name) > maxInput {
		return name
	}
	for _, prefix := range prefixes {
		if strings.HasPrefix(name, prefix) && !explodes(name) {
			return read(name, style)
		}
	}
	return name
}

// explodes says whether the library might work on a name for very long.
func explodes(name string) bool {
	if n := strings.Count(name, "Dp"); n > maxPacks || n > 0 && len(name) > maxPackInput {
		return true
	}
	return len(name) > 2*maxReferences && parameter.MatchString(name) &&
		len(reference.FindAllStringIndex(name, maxReferences+1)) > maxReferences
}

func read(name string, style Style) string {
	options := []lib.Option{lib.MaxLength(maxOutputBits)}
	switch style {
	case NoParams:
		options = append(options, lib.NoParams, lib.NoEnclosingParams)
	case Simple:
		options = append(options, lib.NoParams, lib.NoEnclosingParams, lib.NoTemplateParams)
	}
	plain := name
	if strings.HasPrefix(name, "__") && !strings.HasPrefix(name, "___Z") {
		plain = name[1:]
	}
	if strings.HasPrefix(name, "____Z") {
		plain = name[1:] // the library knows blocks by three underscores
	}
	text, err := lib.ToString(plain, options...)
	if err != nil || text == "" || len(text) >= 1<<maxOutputBits {
		return name
	}
	return text
}

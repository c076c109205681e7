package standin

import (
	"regexp"
	"strings"

	"symbolon/internal/demangle"
)

// variant matches the suffixes of compilers for parts and variants of functions.
var variant = regexp.MustCompile(`(\.(isra|part|constprop|cold|lto_priv|localalias|llvm)(\.[0-9]+)?)+$`)

// isMangled reports whether a name is a mangled one of C++ or Rust.
func isMangled(name string) bool {
	return strings.HasPrefix(name, "_Z") || strings.HasPrefix(name, "_R") || strings.HasPrefix(name, "?")
}

// numbered matches a name of C with the number of a copy, and possibly more, not one of Go.
var numbered = regexp.MustCompile(`^([\w$]+)\.[0-9]+(\..*)?$`)

// withoutNumber returns a name without that number.
func withoutNumber(name string) string { return numbered.ReplaceAllString(name, "$1") }

// lastPart returns a name without its scopes.
func lastPart(name string) string {
	from, depth := 0, 0
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case depth == 0 && i == from && (strings.HasPrefix(name[i:], "operator") || (c == '-' || c == '+') && strings.HasPrefix(name[i+1:], "[")): // -[Class name::]
			return name[i:]
		case c == '<' || c == '(' || c == '{':
			depth++
		case c == '>' || c == ')' || c == '}':
			depth = max(0, depth-1)
		case depth == 0 && c == ':' && strings.HasPrefix(name[i:], "::"):
			i++
			from = i + 1
		}
	}
	return name[from:]
}

// shortName returns a mangled name without its scopes and parameters.
func shortName(name string) string {
	if !isMangled(name) {
		return withoutNumber(name)
	}
	return abiTag.ReplaceAllString(lastPart(demangle.Name(name, demangle.NoParams)), "")
}

var abiTag = regexp.MustCompile(`\[abi:[^\]]*\]`)

// llvmMarks matches the marks of parts and variants after a readable name.
var llvmMarks = regexp.MustCompile(`( (\[clone |\()\.[^ \])]*(\]|\)))+$`)

// llvmSpelling returns a readable name as LLVM 14 spells it: a<b<c> >, f() (.isra.0.cold).
func llvmSpelling(name string) string {
	marks := ""
	if at := llvmMarks.FindStringIndex(name); at != nil {
		marks = " (" + strings.NewReplacer(" [clone ", "", "]", "", " (", "", ")", "").Replace(name[at[0]:]) + ")"
		name = name[:at[0]]
	}
	if !strings.Contains(name, ">>") {
		return name + marks
	}
	var b strings.Builder
	for i := range len(name) {
		b.WriteByte(name[i])
		if strings.HasPrefix(name[i:], ">>") && !strings.HasSuffix(name[:i], "operator") {
			b.WriteByte(' ')
		}
	}
	return b.String() + marks
}

// baseName returns the part of a path after the last slash.
func baseName(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// withoutParameters returns the name of a function before its list of parameters.
func withoutParameters(name string) string {
	at := strings.LastIndexByte(name, ')')
	if at < 0 || strings.HasPrefix(name, "?") {
		return name
	}
	depth := 0
	for i := at; i >= 0; i-- {
		switch name[i] {
		case ')':
			depth++
		case '(':
			if depth--; depth == 0 {
				if i == 0 || strings.HasSuffix(name[:i], "operator") {
					return name
				}
				return name[:i]
			}
		}
	}
	return name
}

// plainC returns a name of C without its decoration on 32-bit Windows: _f, _f@4,
// @f@4 and f@@4 are f.
func plainC(name string) string {
	rest := name
	if i := strings.LastIndexByte(name, '@'); i > 0 && isVersion(name[i+1:]) {
		rest = name[:i]
		if plain, ok := strings.CutSuffix(rest, "@"); ok {
			return plain
		}
	}
	if len(rest) > 0 && (rest[0] == '_' || rest[0] == '@') {
		return rest[1:]
	}
	return rest
}

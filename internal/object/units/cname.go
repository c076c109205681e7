package units

import "bytes"

// PlainC takes the decoration of C on Windows from a name that the linker sees, in
// place: of f@@8 everywhere, of _f@8 and @f@8 on 32-bit x86, where each other
// name has an underscore; not before exported ones. The definition of a weak symbol
// has the name of that symbol.
func PlainC(name []byte, x86, exported bool) []byte {
	name = withoutWeak(name)
	switch rest, at := WithoutSize(name); {
	case at == 2:
		return rest
	case at == 1 && x86 && (rest[0] == '_' || rest[0] == '@'):
		return rest[1:]
	}
	if x86 && !exported && len(name) > 1 && name[0] == '_' {
		return name[1:]
	}
	return name
}

// withoutWeak returns f for the names of the definition of a weak symbol f of MinGW:
// .weak.f.default and .weak.f.default.UNIQUE of clang, .weak.f.UNIQUE of GCC.
func withoutWeak(name []byte) []byte {
	rest, ok := bytes.CutPrefix(name, []byte(".weak."))
	if !ok {
		return name
	}
	at := bytes.Index(rest, []byte(".default"))
	if at < 0 {
		at = bytes.LastIndexByte(rest, '.')
	}
	if at <= 0 {
		return name
	}
	return rest[:at]
}

// PlainBare removes the decoration of C from an exported name of 32-bit x86 whose
// underscore a linker for MinGW has removed: f@8, @f@8. It exports f@@8 as well as _f@@8
// as f@@8; gnu means that it was GNU's linker, which fails for f@@8.
func PlainBare(name []byte, gnu bool) []byte {
	switch rest, at := WithoutSize(name); {
	case at == 1 && rest[0] == '@':
		return rest[1:]
	case at == 2 && gnu:
		return append([]byte{'_'}, rest...)
	case at > 0:
		return rest
	}
	return name
}

// WithoutSize takes the size of parameters from a name, and returns the number
// of at signs before it, 0 if the name has no size.
func WithoutSize(name []byte) (rest []byte, at int) {
	const maxDigits = 6
	if len(name) < 3 || name[0] == '?' {
		return name, 0
	}
	end := len(name)
	for end > max(1, len(name)-maxDigits) && name[end-1]-'0' < 10 {
		end--
	}
	switch {
	case end < 2 || end == 2 && (name[0] == '@' || name[0] == '_') || end == len(name) || name[end-1] != '@':
		return name, 0
	case name[end-2] == '@':
		return name[:end-2], 2
	}
	return name[:end-1], 1
}

// IsDecoratedC reports whether a linkage name in debug information is a name of C
// with its decoration. GCC writes it without the underscore before each name,
// Clang with it, so the decoration cannot be taken off without a doubt. Mangled
// names of C++ can have a size too.
func IsDecoratedC(linkage []byte, x86 bool) bool {
	rest, at := WithoutSize(linkage)
	return (at == 2 || at == 1 && x86) && !IsMangled(rest)
}

// PlainCPP takes the decoration of C from a mangled name of C++ in debug
// information, in place.
func PlainCPP(name []byte, x86 bool) []byte {
	rest, at := WithoutSize(name)
	if at == 0 || at == 1 && !x86 || !IsMangled(rest) {
		return name
	}
	if bytes.HasPrefix(rest, []byte("__Z")) {
		rest = rest[1:]
	}
	return rest
}

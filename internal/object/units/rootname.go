package units

import (
	"bytes"
	"strconv"

	"symbolon/internal/sym"
)

// rootName returns the name of a function: the one in the debug information, unless a
// symbol at its entry has more: the kind of copy; the mangled name, where the debug
// information has no linkage name; the name of an exported function, which Apple keeps,
// where that in the debug information is hidden. In WebAssembly it is the one in the name
// section. list has the symbols at the entry, and room is memory.
func (g *Image) rootName(t sym.Text, list []Symbol, room []byte) sym.Text {
	switch {
	case len(list) == 0:
		return t
	case g.traits.Renamed:
		return list[0].text()
	case uint64(t)&15 == KindNamed:
		return t
	}
	name := g.AppendText(room[:0], t)
	if len(name) == 0 {
		return list[0].text()
	}
	mangled, isHidden := IsMangled(name), bytes.HasPrefix(name, []byte(HiddenMark))
	best := t
	for i := range list {
		s := list[i].text()
		text := g.AppendText(name[len(name):], s)
		switch {
		case string(text) == string(name):
			return t
		case len(text) > len(name) && text[len(name)] == '.' && string(text[:len(name)]) == string(name):
			if suffix := text[len(name):]; !isPart(suffix) && (g.in.Written || !isNumber(suffix)) {
				best = s
			}
		case best == t && isHidden && !bytes.HasPrefix(text, []byte(HiddenMark)):
			best = s
		case best == t && !mangled && IsMangled(text) && mangles(text, name), best == t && decorates(text, name):
			best = s
		}
	}
	return best
}

// IsMangled reports whether a name is one of C++, Rust or Swift as the linker
// sees it.
func IsMangled(name []byte) bool {
	for _, prefix := range [...]string{"_Z", "_R", "__Z", "$s", "_$s", "$S", "_$S", "_T0"} {
		if bytes.HasPrefix(name, []byte(prefix)) {
			return true
		}
	}
	return false
}

// isPart reports whether a suffix of a name marks a piece of the function (of clang) or
// its calling convention (of Go), and not a copy.
func isPart(suffix []byte) bool {
	return bytes.HasPrefix(suffix, []byte(".__part.")) || bytes.HasPrefix(suffix, []byte(".abi"))
}

// isNumber reports whether a suffix is a number alone. Compilers add one to distinguish
// equal names.
func isNumber(suffix []byte) bool {
	return len(bytes.Trim(suffix, ".0123456789")) == 0
}

// mangles reports whether a mangled name can belong to a plain one: it contains the last
// part of the plain name, unless that is an operator.
func mangles(mangled, name []byte) bool {
	if bytes.HasSuffix(name, []byte("<lambda>")) { // a constructor or destructor, as GCC names it
		return bytes.Contains(mangled, []byte("Ul"))
	}
	if i := bytes.IndexByte(name, '<'); i > 0 {
		name = name[:i]
	}
	if i := bytes.LastIndex(name, []byte("::")); i >= 0 {
		name = name[i+2:]
	}
	if bytes.HasPrefix(name, []byte("operator")) {
		return true // which has no name when it is mangled
	}
	name = bytes.TrimPrefix(name, []byte("~"))
	for {
		at := bytes.Index(mangled, name)
		if at < 0 || len(name) == 0 {
			return false
		}
		// Its length comes before it, in Rust sometimes with an underscore between.
		before := bytes.TrimSuffix(mangled[:at], []byte("_"))
		if bytes.HasSuffix(before, strconv.AppendInt(nil, int64(len(name)), 10)) {
			return true
		}
		mangled = mangled[at+1:]
	}
}

// decorates reports whether a name, as MSVC's linker sees it, can be the decorated form
// of a plain name without arguments: it begins with the last part of its name.
func decorates(decorated, name []byte) bool {
	decorated, ok := bytes.CutPrefix(decorated, []byte("?"))
	if !ok {
		return false
	}
	if i := bytes.IndexByte(name, '<'); i > 0 {
		name = name[:i]
	}
	if i := bytes.LastIndex(name, []byte("::")); i >= 0 {
		name = name[i+2:]
	}
	if special, ok := bytes.CutPrefix(decorated, []byte("?")); ok {
		if decorated, ok = bytes.CutPrefix(special, []byte("$")); !ok {
			return true // a constructor or an operator, which has no name
		}
	}
	rest, ok := bytes.CutPrefix(decorated, name)
	return ok && len(rest) > 0 && rest[0] == '@'
}

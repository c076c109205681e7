package source

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"symbolon/internal/ident"
)

// The layouts and casings that a Layout may name.
const (
	Native = "native"

	Default   = "default"
	Lowercase = "lowercase"
	Uppercase = "uppercase"
)

// maxName is the longest name in bytes that becomes a part of a path, as in
// every file system.
const maxName = 255

// Breakpad names the places of the Breakpad file of m, in the order in which
// they should be asked: the one with the debug id as the asker wrote it, then
// the one with the canonical id. There is none without a debug file and a
// debug id, or if the name of the debug file cannot be a part of a path.
//
// The paths are slash-separated and not escaped.
func (l Layout) Breakpad(m ident.Module) []string {
	if !usable(m.DebugFile) || m.Type == ident.TypeWasm || m.Type == ident.TypeDotnet {
		return nil
	}
	ids := make([]string, 0, 2)
	if identifies(m.DebugIDText) {
		ids = append(ids, m.DebugIDText)
	}
	if !m.DebugID.IsZero() {
		ids = append(ids, m.DebugID.Breakpad())
	}
	var paths []string
	for _, id := range ids {
		path := l.cased(m.DebugFile + "/" + id + "/" + ident.SymName(m.DebugFile))
		if len(paths) == 0 || paths[0] != path {
			paths = append(paths, path)
		}
	}
	return paths
}

// Place is where a file of one kind might be.
type Place struct{ Kind, Path string }

// The kinds of files that are not Breakpad's.
const (
	ELFCode   = "elf_code"
	ELFDebug  = "elf_debug"
	MachDebug = "mach_debug"
	PDB       = "pdb"
	PE        = "pe"
)

// Others names the places of files for m that are not Breakpad's: beside where
// the Breakpad file would be, under the name of the debug file itself; and where
// build ids and UUIDs lead to. Files of Windows may be packed into cabinets,
// whose names end in an underscore.
func (l Layout) Others(m ident.Module) []Place {
	var places []Place
	add := func(kind, path string) { places = append(places, Place{kind, l.cased(path)}) }
	if m.Type == ident.TypePE || hasSuffixFold(m.DebugFile, ".pdb") {
		windows := func(kind, name, id string) {
			path := name + "/" + id + "/" + name
			add(kind, path)
			add(kind, path[:len(path)-1]+"_")
		}
		if usable(m.DebugFile) && !m.DebugID.IsZero() {
			windows(PDB, m.DebugFile, m.DebugID.Breakpad())
		}
		if id := m.CodeID.String(); usable(m.CodeFile) && identifies(id) {
			windows(PE, m.CodeFile, id)
		}
		return places
	}
	if usable(m.DebugFile) && !m.DebugID.IsZero() {
		path := m.DebugFile + "/" + m.DebugID.Breakpad() + "/" + m.DebugFile
		add(ELFDebug, path+".debug")
		add(ELFDebug, path+".dbg")
		add(ELFCode, path)
	}
	if id := m.CodeID.String(); len(id) > 2 && identifies(id) && m.Type != ident.TypeMachO && m.Type != ident.TypePE {
		add(ELFDebug, id[:2]+"/"+id[2:]+".debug")
		add(ELFCode, id[:2]+"/"+id[2:])
	}
	if u := strings.ToUpper(m.DebugID.Breakpad()); m.DebugID.Age() == 0 && !m.DebugID.IsZero() && (m.Type == ident.TypeMachO || m.Type == ident.TypeUnknown) && len(u) > 32 {
		add(MachDebug, u[:4]+"/"+u[4:8]+"/"+u[8:12]+"/"+u[12:16]+"/"+u[16:20]+"/"+u[20:32])
	}
	return places
}

func hasSuffixFold(name, suffix string) bool {
	return len(name) >= len(suffix) && strings.EqualFold(name[len(name)-len(suffix):], suffix)
}

// TwoTier is a path in a store whose root has a file named Index2: below a
// folder with the first two letters of the path.
func TwoTier(path string) string {
	_, size := utf8.DecodeRuneInString(path)
	if size < len(path) && path[size] != '/' && path[size] != '.' {
		_, second := utf8.DecodeRuneInString(path[size:])
		size += second
	}
	return path[:size] + "/" + path
}

// Index2 says that a store has two tiers.
const Index2 = "index2.txt"

// Caseless tells whether the names of files of a kind are the same whatever the
// case of their letters: those of Windows are.
func Caseless(kind string) bool { return kind == PDB || kind == PE }

// usable tells whether a name can be one segment of a path.
func usable(name string) bool {
	return name != "" && name != "." && name != ".." && len(name) <= maxName && utf8.ValidString(name) &&
		!strings.ContainsAny(name, `/\`) && !strings.ContainsFunc(name, unicode.IsControl)
}

// identifies tells whether an id as somebody wrote it can be one segment of a
// path: hexadecimal digits, and not only zeros, which all modules without an
// identifier share.
func identifies(id string) bool {
	return len(id) <= maxName && strings.Trim(id, "0") != "" && strings.Trim(id, "0123456789abcdefABCDEF") == ""
}

// cased maps the letters of ASCII as the layout says.
func (l Layout) cased(path string) string {
	from, to := byte('A'), byte('a')
	switch l.Casing {
	case Lowercase:
	case Uppercase:
		from, to = to, from
	default:
		return path
	}
	b := []byte(path)
	for i, c := range b {
		if c >= from && c < from+26 {
			b[i] = c - from + to
		}
	}
	return string(b)
}

// EscapePath is a slash-separated path as it stands in a URL. All but letters,
// digits and "-._~" is escaped: servers do not agree about the rest, "+"
// foremost.
func EscapePath(path string) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(path) {
		switch c := path[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-._~/", c) >= 0:
			b.WriteByte(c)
		default:
			b.WriteByte('%')
			b.WriteByte(digits[c>>4])
			b.WriteByte(digits[c&15])
		}
	}
	return b.String()
}

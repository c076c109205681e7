package source

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"symbolon/internal/ident"
)

// The layouts and casings that a Layout may name.
const (
	Native       = "native"
	Symstore     = "symstore"
	TwoTiers     = "symstore_index2"
	SSQP         = "ssqp"
	Debuginfod   = "debuginfod"
	Unified      = "unified"
	SlashSymbols = "slashsymbols"
	Elastic      = "elastic"

	Default   = "default"
	Lowercase = "lowercase"
	Uppercase = "uppercase"
)

// layout is a layout with its name and its function from modules to paths.
type layout struct {
	name  string
	paths func(m ident.Module, kind string) []string
}

var layouts = [...]layout{
	{Native, native},
	{Symstore, func(m ident.Module, kind string) []string { return list(symstore(m, kind)) }},
	{TwoTiers, func(m ident.Module, kind string) []string { return list(TwoTier(symstore(m, kind))) }},
	{SSQP, func(m ident.Module, kind string) []string { return list(ssqp(m, kind)) }},
	{Debuginfod, func(m ident.Module, kind string) []string { return list(debuginfod(m, kind)) }},
	{Unified, func(m ident.Module, kind string) []string { return list(unified(m, kind)) }},
	{SlashSymbols, slashsymbols},
	{Elastic, func(m ident.Module, kind string) []string { return list(elastic(m, kind)) }},
}

// Layouts returns the names of all layouts.
func Layouts() (names []string) {
	for _, l := range layouts {
		names = append(names, l.name)
	}
	return names
}

// Paths returns the paths of the file of this kind for m, in order of preference;
// none if m lacks the identifiers or names. Files of Windows may be packed in
// cabinets, whose names end with an underscore instead of the last letter.
//
// The paths are slash-separated and not escaped.
func (l Layout) Paths(m ident.Module, kind string) []string {
	var paths []string
	name := cmp.Or(l.Type, Native)
	for _, known := range layouts {
		if known.name == name {
			paths = known.paths(m, kind)
		}
	}
	for i, p := range paths {
		paths[i] = l.cased(p)
	}
	paths = slices.Compact(paths)
	if kind == PE || kind == PDB {
		for _, p := range paths {
			_, last := utf8.DecodeLastRuneInString(p)
			paths = append(paths, p[:len(p)-last]+"_")
		}
	}
	return paths
}

// list returns a list of the path, or an empty one.
func list(path string) []string {
	if path == "" {
		return nil
	}
	return []string{path}
}

// native returns the paths of the layouts of the platforms: Breakpad, symbol
// servers for Windows, build ids and UUIDs in pieces.
func native(m ident.Module, kind string) []string {
	switch kind {
	case ELFCode, WasmCode:
		return list(strings.TrimSuffix(buildIDPath(m.CodeID), "/"))
	case ELFDebug, WasmDebug:
		return list(suffixed(buildIDPath(m.CodeID), ".debug"))
	case MachDebug:
		return list(uuidPath(m))
	case MachCode:
		return list(suffixed(uuidPath(m), ".app"))
	case PDB, PortablePDB:
		return list(pdbPath(m))
	case PE:
		return list(pePath(m))
	case Breakpad:
		return breakpad(m)
	case Beside:
		return beside(m)
	case SourceBundle:
		return bundles(m)
	}
	return nil
}

// breakpad returns the paths of Breakpad files: with the debug id as in the
// request, then with the canonical id.
func breakpad(m ident.Module) []string {
	name := segment(m.DebugFile)
	if name == "" || m.Type == ident.TypeWasm {
		return nil
	}
	ids := make([]string, 0, 2)
	if identifies(m.DebugIDText) {
		ids = append(ids, m.DebugIDText)
	}
	if !m.DebugID.IsZero() && (len(ids) == 0 || ids[0] != m.DebugID.Breakpad()) {
		ids = append(ids, m.DebugID.Breakpad())
	}
	for i, id := range ids {
		ids[i] = name + "/" + id + "/" + ident.SymName(name)
	}
	return ids
}

// beside returns the paths of companions next to the path of the Breakpad file.
func beside(m ident.Module) []string {
	name := segment(m.DebugFile)
	if name == "" || m.DebugID.IsZero() {
		return nil
	}
	path := name + "/" + m.DebugID.Breakpad() + "/" + name
	return []string{path + ".debug", path + ".dbg"}
}

// bundles returns the paths of source bundles: next to the file of the platform,
// and next to the Breakpad file.
func bundles(m ident.Module) []string {
	const extension = ".src.zip"
	var first string
	switch m.Type {
	case ident.TypePE, ident.TypeDotnet:
		first = withoutExtension(pdbPath(m))
	case ident.TypeMachO:
		first = uuidPath(m)
	case ident.TypeELF, ident.TypeWasm:
		first = buildIDPath(m.CodeID)
	}
	if first == "" {
		return nil
	}
	paths := list(suffixed(first, extension))
	for _, p := range breakpad(m) {
		if p = strings.TrimSuffix(p, ".sym") + extension; len(paths) == 0 || paths[0] != p {
			paths = append(paths, p)
		}
	}
	return paths
}

// symstore returns the path in the layout of symbol servers for Windows, with the
// keys for other platforms of Microsoft's SSQP.
func symstore(m ident.Module, kind string) string {
	switch kind {
	case PE:
		return pePath(m)
	case PDB, PortablePDB:
		return pdbPath(m)
	case ELFCode:
		return keyed(segment(m.CodeFile), "elf-buildid-", m.CodeID.String())
	case ELFDebug:
		return keyed("_.debug", "elf-buildid-sym-", m.CodeID.String())
	case MachCode:
		return keyed(segment(m.CodeFile), "mach-uuid-", strings.ToLower(machUUID(m)))
	case MachDebug:
		return keyed("_.dwarf", "mach-uuid-sym-", strings.ToLower(machUUID(m)))
	case SourceBundle:
		if m.Type == ident.TypePE {
			return suffixed(withoutExtension(pdbPath(m)), ".src.zip")
		}
	}
	return ""
}

// ssqp returns the path of symstore in lower case, except the ages of PDBs.
func ssqp(m ident.Module, kind string) string {
	m.CodeFile, m.DebugFile = strings.ToLower(m.CodeFile), strings.ToLower(m.DebugFile)
	switch kind {
	case PE:
		return strings.ToLower(pePath(m))
	case PDB, PortablePDB, SourceBundle:
		name, uuid, age := pdbParts(m)
		if name == "" || kind == SourceBundle && m.Type != ident.TypePE {
			return ""
		}
		path := name + "/" + strings.ToLower(uuid) + strings.ToUpper(age) + "/" + name
		if kind == SourceBundle {
			path = withoutExtension(path) + ".src.zip"
		}
		return path
	}
	return symstore(m, kind)
}

func debuginfod(m ident.Module, kind string) string {
	id := m.CodeID.String()
	switch {
	case id == "":
	case kind == ELFCode:
		return id + "/executable"
	case kind == ELFDebug:
		return id + "/debuginfo"
	}
	return ""
}

// unifiedNames are the names of files in the layout with a folder for each
// binary.
var unifiedNames = map[string]string{
	ELFCode: "executable", MachCode: "executable", PE: "executable", WasmCode: "executable",
	ELFDebug: "debuginfo", MachDebug: "debuginfo", PDB: "debuginfo", PortablePDB: "debuginfo", WasmDebug: "debuginfo",
	Breakpad: "breakpad", SourceBundle: "sourcebundle", UUIDMap: "uuidmap", BCSymbolMap: "bcsymbolmap", IL2CPP: "il2cpp",
}

func unified(m ident.Module, kind string) string {
	name := unifiedNames[kind]
	var id string
	switch kind {
	case Breakpad, SourceBundle, IL2CPP:
		id = unifiedID(m, natives[m.Type])
	default:
		id = unifiedID(m, kind)
	}
	switch {
	case name == "" || id == "":
		return ""
	case len(id) <= 2:
		return id + "/" + name
	}
	return id[:2] + "/" + id[2:] + "/" + name
}

// natives are the kinds by whose rule the other files of a type are identified.
var natives = map[ident.Type]string{
	ident.TypeELF: ELFCode, ident.TypeMachO: MachCode, ident.TypePE: PE, ident.TypeDotnet: PE, ident.TypeWasm: WasmCode,
}

// unifiedID returns the id under which a file of a kind is stored.
func unifiedID(m ident.Module, kind string) string {
	switch kind {
	case PE, PDB, PortablePDB:
		if m.DebugID.IsZero() {
			return ""
		}
		return strings.ToLower(m.DebugID.Breakpad())
	case ELFCode, ELFDebug:
		return m.CodeID.String()
	case MachCode, MachDebug, WasmCode, WasmDebug, UUIDMap, BCSymbolMap:
		if id := m.CodeID.String(); id != "" || m.DebugID.IsZero() {
			return id
		}
		return strings.ToLower(uuidText(m.DebugID))
	}
	return ""
}

// slashsymbols returns the paths in the layout of PlayStation's tools, which has
// one file for a binary, whatever its kind.
func slashsymbols(m ident.Module, kind string) []string {
	name, id := segment(m.CodeFile), m.CodeID.String()
	if name == "" || id == "" || kind == Beside {
		return nil
	}
	lower, upper := name+"/"+id+"/symbols", name+"/"+strings.ToUpper(id)+"/symbols"
	if lower == upper {
		return []string{lower}
	}
	return []string{upper, lower}
}

// buildIDPath returns the path with the first two digits as a folder.
func buildIDPath(id ident.CodeID) string {
	text := id.String()
	switch {
	case len(text) < 2 || len(text) > ident.MaxFileName:
		return ""
	case len(text) == 2:
		return text + "/"
	}
	return text[:2] + "/" + text[2:]
}

// uuidPath returns the UUID of a Mach-O file in pieces of four digits.
func uuidPath(m ident.Module) string {
	u := machUUID(m)
	if u == "" {
		return ""
	}
	return u[:4] + "/" + u[4:8] + "/" + u[8:12] + "/" + u[12:16] + "/" + u[16:20] + "/" + u[20:]
}

// machUUID returns the UUID of a Mach-O file in upper case: its code id, or
// otherwise its debug id.
func machUUID(m ident.Module) string {
	if !m.CodeID.IsZero() {
		if _, ok := m.CodeID.UUID(); !ok {
			return ""
		}
		return strings.ToUpper(m.CodeID.String())
	}
	if m.DebugID.IsZero() {
		return ""
	}
	return uuidText(m.DebugID)
}

// uuidText returns the UUID of a debug id in upper case.
func uuidText(id ident.DebugID) string {
	return ident.NewDebugID(id.UUID(), 0).Breakpad()[:32]
}

// pdbPath returns NAME/UUIDage/NAME, with the UUID in upper and the age in lower
// case. The age of a portable PDB is not part of its identity.
func pdbPath(m ident.Module) string {
	name, uuid, age := pdbParts(m)
	if name == "" {
		return ""
	}
	return name + "/" + uuid + age + "/" + name
}

// pdbParts returns the name of a PDB, its UUID in upper and its age in lower case;
// the name is empty if one of them is missing.
func pdbParts(m ident.Module) (name, uuid, age string) {
	if m.DebugID.IsZero() {
		return "", "", ""
	}
	number := m.DebugID.Age()
	if m.Type == ident.TypeDotnet {
		number = 0xffffffff
	}
	text := ident.NewDebugID(m.DebugID.UUID(), number).Breakpad()
	return segment(m.DebugFile), text[:32], text[32:]
}

// pePath returns NAME/TIMESTAMPsize/NAME.
func pePath(m ident.Module) string {
	name, id := segment(m.CodeFile), m.CodeID.String()
	if name == "" || len(id) < 9 || len(id) > ident.MaxFileName {
		return ""
	}
	return name + "/" + strings.ToUpper(id[:8]) + id[8:] + "/" + name
}

func keyed(name, prefix, id string) string {
	if name == "" || id == "" || len(prefix)+len(id) > ident.MaxFileName {
		return ""
	}
	return name + "/" + prefix + id + "/" + name
}

// suffixed adds a suffix to a path that is not empty.
func suffixed(path, suffix string) string {
	if path == "" {
		return ""
	}
	return path + suffix
}

// withoutExtension returns a path without its last extension.
func withoutExtension(path string) string {
	if i := strings.LastIndexByte(path, '.'); i > strings.LastIndexByte(path, '/')+1 {
		return path[:i]
	}
	return path
}

// TwoTier returns a path in a store whose root has a file named Index2: in a
// folder with the first two letters of the path. It returns "" if these are dots.
func TwoTier(path string) string {
	if path == "" {
		return ""
	}
	_, size := utf8.DecodeRuneInString(path)
	if size < len(path) && path[size] != '/' && path[size] != '.' {
		_, second := utf8.DecodeRuneInString(path[size:])
		size += second
	}
	if first := path[:size]; first == "." || first == ".." {
		return ""
	}
	return path[:size] + "/" + path
}

// Index2 is the name of the file that marks a store with two tiers.
const Index2 = "index2.txt"

// Caseless reports whether the case of the names of files of a kind is ignored,
// as on Windows.
func Caseless(kind string) bool { return kind == PDB || kind == PE }

// segment returns the last part of a path of any platform, if it is a valid
// segment of a path, or "".
func segment(file string) string {
	name := ident.FileName(file)
	if ident.CheckFileName(name) != nil {
		return ""
	}
	return name
}

// identifies reports whether an id of a request can be a segment of a path: hex
// digits, and not only zeros, which all modules without an identifier have.
func identifies(id string) bool {
	return len(id) <= ident.MaxFileName && strings.Trim(id, "0") != "" && strings.Trim(id, "0123456789abcdefABCDEF") == ""
}

// cased changes the case of ASCII letters as configured.
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

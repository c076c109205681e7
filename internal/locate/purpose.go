package locate

import (
	"strings"

	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/object"
	"symbolon/internal/source"
)

// Purpose is the use of a file.
type Purpose uint8

const (
	SymFirst Purpose = iota // functions and lines: the first .sym in the order of the sources, or else another format
	Debug                   // functions and lines, or else names of functions
	Symbols                 // names of functions
	Unwind                  // rules for unwinding stacks
	Sources                 // source files
	Pads                    // frames of return addresses
)

var purposes = [...]string{"sym-first", "debug", "symbols", "unwind", "sources", "returnpads"}

func (p Purpose) String() string { return purposes[p] }

// ParsePurpose parses the name of a purpose.
func ParsePurpose(name string) (Purpose, bool) {
	for p, known := range purposes {
		if name == known {
			return Purpose(p), true
		}
	}
	return 0, false
}

// allKinds are the kinds of file for a module of unknown type.
var allKinds = []string{
	source.PDB, source.MachDebug, source.ELFDebug, source.PE, source.MachCode, source.ELFCode, source.WasmCode,
	source.WasmDebug, source.Breakpad, source.SourceBundle, source.PortablePDB, source.Symbfile,
}

// kindsByType has the kinds of file to ask for by the type of the module. Programs
// of one platform may have companions of another.
var kindsByType = map[ident.Type][]string{
	ident.TypeMachO:   {source.MachCode, source.Breakpad, source.MachDebug, source.PDB, source.ELFDebug},
	ident.TypePE:      {source.PE, source.Breakpad, source.MachDebug, source.PDB, source.ELFDebug},
	ident.TypeELF:     {source.ELFCode, source.Breakpad, source.MachDebug, source.PDB, source.ELFDebug, source.Symbfile},
	ident.TypeWasm:    {source.WasmCode, source.WasmDebug},
	ident.TypeDotnet:  {source.PortablePDB, source.PDB},
	ident.TypeUnknown: allKinds,
}

// kinds returns the kinds of file to ask for.
func kinds(m ident.Module, p Purpose) []string {
	switch {
	case p == Pads:
		return []string{source.ReturnPads}
	case p == Sources:
		return []string{source.SourceBundle, source.PortablePDB, source.ELFDebug, source.WasmDebug}
	case p != SymFirst:
		return kindsByType[m.Type]
	case m.Type == ident.TypePE || len(m.DebugFile) > 4 && strings.EqualFold(m.DebugFile[len(m.DebugFile)-4:], ".pdb"):
		return []string{source.PDB, source.PE}
	}
	return []string{source.Beside, source.PDB, source.ELFDebug, source.ELFCode, source.MachDebug, source.Symbfile}
}

// usable has the features by purpose, best first. A file must have one of them.
var usable = [...][]object.Features{
	SymFirst: {object.HasDebug, object.HasSymbols},
	Debug:    {object.HasDebug, object.HasSymbols},
	Symbols:  {object.HasDebug | object.HasSymbols},
	Unwind:   {object.HasUnwind},
	Sources:  {object.HasSources},
	Pads:     {object.HasDebug},
}

// lastRank is the rank of files that are only usable if the file that they link to is
// found.
const lastRank = 90

// rank returns the rank of a file for a purpose, zero being the best, and whether it
// is usable at all. Features count first, then the class of the file.
func (meta *Meta) rank(p Purpose) (int, bool) {
	for i, f := range usable[p] {
		if meta.Features&f != 0 {
			return i*10 + meta.precedence(p), true
		}
	}
	if meta.link() != nil && usesParts(p) {
		return lastRank, true
	}
	return 0, false
}

// HasPart reports whether a file, of a type and with features as in an object.Info,
// has a part of its binary.
func HasPart(p source.Part, kind string, f object.Features) bool {
	switch p {
	case source.DebugPart:
		return f&object.HasDebug != 0 || kind == "dbg"
	case source.CodePart:
		return kind != "dbg"
	}
	return true
}

// usesParts reports whether answers for a purpose depend on the parts of a file.
func usesParts(p Purpose) bool { return p == SymFirst || p == Debug || p == Symbols }

// unsuitable returns a fault if the best file cannot be used for m.
func (meta *Meta) unsuitable(m ident.Module) error {
	if m.Type == ident.TypeDotnet && meta.Kind == source.PDB {
		return fault.New(fault.Unsupported, "", "Only portable PDB files can be used for .NET symbolication")
	}
	return nil
}

// precedence orders files with the same features: companions, which are made for
// debugging, then code, then files translated from either. For unwinding code is
// first, except for 32-bit PE files, whose unwind information is in the PDB.
func (meta *Meta) precedence(p Purpose) int {
	order := []string{companion, code, source.Breakpad}
	if p == Unwind && (meta.Module.Type != ident.TypePE || meta.Module.Arch != ident.ArchX86) {
		order = []string{code, companion, source.Breakpad}
	}
	for i, class := range order {
		if class == meta.class() {
			return i
		}
	}
	return len(order)
}

// The classes of files besides Breakpad and symbfile.
const (
	companion = "companion"
	code      = "code"
)

func (meta *Meta) class() string {
	switch {
	case meta.Kind == source.Breakpad, meta.Kind == source.Symbfile:
		return meta.Kind
	case meta.Kind == source.PDB || meta.Kind == source.PortablePDB || meta.Type == "dbg":
		return companion
	}
	return code
}

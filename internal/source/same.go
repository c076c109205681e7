package source

import (
	"strings"

	"symbolon/internal/ident"
)

// IsSame reports whether a file of a format with the identifiers of has is the one of
// m. One equal identifier is enough. The debug id of an ELF file may have been derived
// from its build id in either byte order. A file without identifiers matches.
func IsSame(has ident.Module, kind string, m ident.Module) bool {
	codes := !has.CodeID.IsZero() && !m.CodeID.IsZero()
	if codes && has.CodeID == m.CodeID {
		return true
	}
	if m.DebugID.IsZero() {
		return !codes
	}
	if has.DebugID.IsZero() {
		return !codes
	}
	if has.DebugID == m.DebugID {
		return true
	}
	uuids := has.DebugID.UUID() == m.DebugID.UUID()
	switch {
	case m.Type == ident.TypeDotnet, kind == PortablePDB: // servers keep them below the age ffffffff
		return uuids
	case kind == PDB: // of PDBs that differ only in age, servers keep the newest
		return uuids && has.DebugID.Age() >= m.DebugID.Age()
	case kind == "elf":
		return has.DebugID.Swapped() == m.DebugID
	case kind == IL2CPP:
		return uuids || has.DebugID.Swapped().UUID() == m.DebugID.UUID()
	}
	return false
}

// IsNamed reports whether a file of a kind may be that of m by its name: two programs of
// Windows may have the same timestamp and size, and those that are linked without a
// timestamp often do.
func IsNamed(kind, name string, m ident.Module) bool {
	return kind != PE || !m.DebugID.IsZero() || m.CodeFile == "" || strings.EqualFold(ident.FileName(name), ident.FileName(m.CodeFile))
}

package ident

// Module is what an asker knows about a loaded binary: any of its fields may
// be missing.
type Module struct {
	Type          Type
	Arch          Arch
	CodeFile      string
	CodeID        CodeID
	DebugFile     string
	DebugID       DebugID
	DebugIDText   string // the debug id as the asker spelled it; empty: canonical
	DebugChecksum string // of a portable PDB, for servers that want to see it
	FileID        FileID // of the binary that runs; addresses are those of the file then, not relative ones
}

// Type is the family of a module's native format.
type Type uint8

const (
	TypeUnknown Type = iota
	TypeELF
	TypeMachO
	TypePE
	TypeDotnet
	TypeWasm
)

var typeNames = [...]string{"unknown", "elf", "macho", "pe", "pe_dotnet", "wasm"}

// ParseType is the Type of a name as Sentry spells it; TypeUnknown for every
// other text.
func ParseType(name string) Type {
	for t, n := range typeNames {
		if n == name {
			return Type(t)
		}
	}
	return TypeUnknown
}

func (t Type) String() string {
	if int(t) < len(typeNames) {
		return typeNames[t]
	}
	return quoteUint("type", uint8(t))
}

// Derive is the module with the identifiers that follow from those it has. An
// identifier that is there stays as it is, and nothing is guessed: without a
// Type, and for PE, whose two identifiers have nothing to do with each other,
// nothing follows.
//
//	Mach-O  code id and debug id are the same UUID
//	ELF     the debug id is the beginning of the build id, turned around for
//	        little-endian machines; there is no way back
//	wasm    the debug id is the beginning of the build id as it stands
func (m Module) Derive() Module {
	switch {
	case m.DebugID.IsZero():
		m.DebugID = m.debugIDOfCode()
	case m.CodeID.IsZero() && m.Type == TypeMachO && !m.DebugID.pdb20:
		m.CodeID = UUIDCodeID(m.DebugID.uuid)
	}
	return m
}

// LacksBuildID tells whether m may be a binary with a build id of which the debug
// id alone is known.
func (m Module) LacksBuildID() bool {
	return (m.Type == TypeUnknown || m.Type == TypeELF || m.Type == TypeWasm) &&
		m.CodeID.IsZero() && !m.DebugID.IsZero() && !m.DebugID.pdb20 && m.DebugID.age == 0
}

func (m Module) debugIDOfCode() DebugID {
	switch m.Type {
	case TypeMachO:
		if uuid, ok := m.CodeID.UUID(); ok {
			return NewDebugID(uuid, 0)
		}
	case TypeELF:
		// Half a byte is not what a build id ends in.
		if len(m.CodeID)%2 == 0 {
			return BuildID(m.CodeID).DebugID(m.Arch.BigEndian())
		}
	case TypeWasm:
		// Only the beginning is used, so digits behind it may be anything.
		if len(m.CodeID) >= 32 {
			uuid, _ := m.CodeID[:32].UUID()
			return NewDebugID(uuid, 0)
		}
	}
	return DebugID{}
}

package ident

// Module identifies a loaded binary, as far as a client knows it. Any field may be empty.
type Module struct {
	Type          Type
	Arch          Arch
	CodeFile      string
	CodeID        CodeID
	DebugFile     string
	DebugID       DebugID
	DebugIDText   string // the debug id as the client spelled it; empty: canonical
	DebugChecksum string // of a portable PDB, for servers that require it
	FileID        FileID // of the running binary; its addresses are addresses of the file then, not relative ones
}

// Type is the native format of a module.
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

// ParseType returns the Type of a name in Sentry's spelling, TypeUnknown for
// all other texts.
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

// Derive returns m with the identifiers that follow from its other ones. It
// overwrites none and guesses none: nothing follows without a Type, nor for PE,
// whose two identifiers are independent.
//
//	Mach-O  code id and debug id are the same UUID
//	ELF     the debug id is the start of the build id, byte-swapped on
//	        little-endian machines; the reverse is not possible
//	wasm    the debug id is the start of the build id, not swapped
func (m Module) Derive() Module {
	switch {
	case m.DebugID.IsZero():
		m.DebugID = m.debugIDOfCode()
	case m.CodeID.IsZero() && m.Type == TypeMachO && !m.DebugID.pdb20:
		m.CodeID = UUIDCodeID(m.DebugID.uuid)
	}
	return m
}

// LacksBuildID reports whether m may be a binary with a build id, but has only
// the debug id.
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
		// A build id has an even number of digits.
		if len(m.CodeID)%2 == 0 {
			return BuildID(m.CodeID).DebugID(m.Arch.BigEndian())
		}
	case TypeWasm:
		// Only the start is used, so any digits may follow.
		if len(m.CodeID) >= 32 {
			uuid, _ := m.CodeID[:32].UUID()
			return NewDebugID(uuid, 0)
		}
	}
	return DebugID{}
}

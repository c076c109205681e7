package locate

import (
	"time"

	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/object"
	"symbolon/internal/source"
)

// Meta describes a file. It is stored, and remains when the file is closed.
type Meta struct {
	Module   ident.Module // as stated in the file
	Kind     string
	Type     string // the type of the object: "dbg", "exe", …
	Features object.Features
	VCS      string   `json:",omitempty"` // of its source server
	Damage   string   `json:",omitempty"` // the first part that cannot be read
	Hidden   bool     `json:",omitempty"` // it has hidden names
	Names    [32]byte `json:",omitzero"`  // SHA-256 of the list of these names; zero: not known
	Size     int64
	// Validator identifies this state of the file, if the source has validators.
	// Checked is when the source was last asked for the file, and Retry is when
	// to ask again if that failed.
	Validator string    `json:",omitempty"`
	Checked   time.Time `json:",omitzero"`
	Retry     time.Time `json:",omitzero"`
	Hash      [32]byte  // SHA-256 of the content; zero until its table is built
}

// pick returns the object of a file that m asks for, or else the first one.
func pick(f *object.File, m ident.Module) *object.Object {
	for _, o := range f.Objects() {
		if isSame(o.Info().Module, o.Info().Kind, m) {
			return o
		}
	}
	return f.Objects()[0]
}

func metaOf(o *object.Object, size int64) Meta {
	info := o.Info()
	meta := Meta{Module: info.Module, Kind: info.Kind, Type: info.Type, Features: info.Features, VCS: info.SourceServer, Size: size}
	if len(info.Damage) > 0 {
		meta.Damage = info.Damage[0].Kind
		if len(info.Damage[0].Places) > 0 {
			meta.Damage += ": " + info.Damage[0].Places[0]
		}
	}
	return meta
}

// check returns a fault if the file is not the one that m asks for, or unusable.
// Opening a .sym file has checked its records.
func (meta *Meta) check(m ident.Module) *fault.Error {
	if meta.Features == 0 && meta.Damage != "" && meta.Kind != source.Breakpad {
		return fault.New(fault.Malformed, "", "unusable file: %s", meta.Damage)
	}
	if isSame(meta.Module, meta.Kind, m) {
		return nil
	}
	return fault.New(fault.Malformed, "", "%s: asked for %s, the file says %s", fault.Mismatch, idText(m), idText(meta.Module))
}

func idText(m ident.Module) string {
	if m.DebugID.IsZero() && !m.CodeID.IsZero() {
		return m.CodeID.String()
	}
	return m.DebugID.Breakpad()
}

// isSame reports whether a file with the identifiers of has is the one of m. One
// equal identifier is enough. The debug id of an ELF file may have been derived
// from its build id in either byte order. A file without identifiers matches.
func isSame(has ident.Module, kind string, m ident.Module) bool {
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
	case m.Type == ident.TypeDotnet, kind == source.PortablePDB: // servers keep them below the age ffffffff
		return uuids
	case kind == source.PDB: // of PDBs that differ only in age, servers keep the newest
		return uuids && has.DebugID.Age() >= m.DebugID.Age()
	case kind == "elf":
		return has.DebugID.Swapped() == m.DebugID
	case kind == source.IL2CPP:
		return uuids || has.DebugID.Swapped().UUID() == m.DebugID.UUID()
	}
	return false
}

// Tried is one attempt of the trail of a lookup. The attempts are in the order of the
// candidates, and explain why a file was chosen or no file was found.
type Tried struct {
	Source   string
	Kind     string
	Location string
	Attempt  source.Attempt  // zero if the source was not asked
	Parse    time.Duration   // opening the file
	Cached   bool            // the outcome was remembered
	Expires  time.Time       // when the fault expires, if it is remembered
	Fault    *fault.Error    // nil: the file is usable
	Features object.Features // of a usable file
	VCS      string          // of its source server, if any
	Chosen   bool
}

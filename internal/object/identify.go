package object

import (
	"bytes"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/format/breakpad"
	"symbolon/internal/format/elf"
	"symbolon/internal/format/macho"
	"symbolon/internal/format/pdb"
	"symbolon/internal/format/pe"
	"symbolon/internal/format/ppdb"
	"symbolon/internal/format/wasm"
	"symbolon/internal/ident"
)

// identifyHead is how much of a Breakpad file is read for its MODULE and INFO
// records.
const identifyHead = 4 << 10

// Identify returns the format of a debug file and the identifiers of the
// binaries that it describes. It reads headers only, and unpacks nothing: a
// packed file, an archive, and a file of any other kind are Unsupported.
func Identify(src bin.Source) (kind string, list []ident.Module, err error) {
	head, err := bin.Read(src, 0, int(min(src.Size(), identifyHead)))
	if err != nil {
		return "", nil, err
	}
	k := sniff(head)
	one := func(m ident.Module, err error) (string, []ident.Module, error) {
		return kindNames[k], []ident.Module{m}, err
	}
	switch k {
	case kindBreakpad:
		return one(identifyBreakpad(head))
	case kindELF:
		f, err := elf.OpenHeaders(src)
		if err != nil {
			return "", nil, err
		}
		return one(elfModule(f), nil)
	case kindMachO:
		slices, err := macho.Slices(src)
		for _, s := range slices {
			if f, err := macho.Open(src, s); err == nil {
				list = append(list, machoModule(f))
			}
		}
		return kindNames[k], list, err
	case kindPE:
		f, err := pe.Open(src)
		if err != nil {
			return "", nil, err
		}
		return one(peModule(f), nil)
	case kindWasm:
		f, err := wasm.Open(src)
		if err != nil {
			return "", nil, err
		}
		return one(wasmModule(f), nil)
	case kindPDB:
		f, err := pdb.Open(src)
		if err != nil {
			return "", nil, err
		}
		return one(pdbModule(f), nil)
	case kindPortable:
		f, err := ppdb.Open(src)
		if err != nil {
			return "", nil, err
		}
		return one(portableModule(f), nil)
	}
	return "", nil, fault.New(fault.Unsupported, "debug file", "no identifiers can be read from it")
}

// identifyBreakpad reads the identifiers of a Breakpad file from its first lines.
func identifyBreakpad(head []byte) (ident.Module, error) {
	var s breakpad.Scanner
	_, _ = s.Write(head[:bytes.LastIndexByte(head, '\n')+1]) // never fails
	ix, err := s.Finish()
	if err != nil {
		return ident.Module{}, err
	}
	id, err := parseID(ix.Module.ID)
	if err != nil {
		return ident.Module{}, err
	}
	return (&symbolFile{ix: ix}).describe(id).Module, nil
}

func elfModule(f *elf.File) ident.Module {
	m := ident.Module{Type: ident.TypeELF, Arch: f.Arch()}
	if raw := f.BuildID(); len(raw) > 0 {
		id := ident.NewBuildID(raw)
		m.CodeID, m.DebugID = id.CodeID(), id.DebugID(m.Arch.BigEndian())
	} else if text, ok := f.TextID(); ok {
		m.DebugID = ident.NewBuildID(text[:]).DebugID(m.Arch.BigEndian())
	}
	return m
}

func machoModule(f *macho.File) ident.Module {
	m := ident.Module{Type: ident.TypeMachO, Arch: f.Arch()}
	if f.HasUUID {
		m.DebugID, m.CodeID = ident.NewDebugID(f.UUID, 0), ident.UUIDCodeID(f.UUID)
	}
	return m
}

func peModule(f *pe.File) ident.Module {
	m := ident.Module{Type: ident.TypePE, Arch: f.Arch(), CodeID: f.CodeID()}
	if f.HasPDB {
		m.DebugID, m.DebugFile = f.PDB.ID, f.PDB.Name()
	}
	return m
}

func wasmModule(f *wasm.File) ident.Module {
	m := ident.Module{Type: ident.TypeWasm, Arch: f.Arch()}
	if whole, _ := f.BuildID(); len(whole) > 0 {
		id := ident.NewBuildID(whole)
		m.CodeID = id.CodeID()
		m.DebugID = id.DebugID(true) // the bytes as they stand
	}
	return m
}

func pdbModule(f *pdb.File) ident.Module {
	return ident.Module{Type: ident.TypePE, Arch: ident.MachineArch(f.Machine), DebugID: ident.NewGUID(f.GUID, f.Age)}
}

func portableModule(f *ppdb.File) ident.Module {
	return ident.Module{Type: ident.TypeDotnet, DebugID: ident.NewGUID(f.GUID, f.Stamp)}
}

package debugfile

import (
	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/format/elf"
	"symbolon/internal/format/macho"
	"symbolon/internal/format/pdb"
	"symbolon/internal/format/pe"
	"symbolon/internal/format/ppdb"
	"symbolon/internal/format/wasm"
	"symbolon/internal/ident"
	"symbolon/internal/object"
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
		return one(object.IdentifyBreakpad(head))
	case kindELF:
		f, err := elf.OpenHeaders(src)
		if err != nil {
			return "", nil, err
		}
		return one(object.ELFModule(f), nil)
	case kindMachO:
		slices, err := macho.Slices(src)
		for _, s := range slices {
			if f, err := macho.Open(src, s); err == nil {
				list = append(list, object.MachOModule(f))
			}
		}
		return kindNames[k], list, err
	case kindPE:
		f, err := pe.Open(src)
		if err != nil {
			return "", nil, err
		}
		return one(object.PEModule(f), nil)
	case kindWasm:
		f, err := wasm.Open(src)
		if err != nil {
			return "", nil, err
		}
		return one(object.WASMModule(f), nil)
	case kindPDB:
		f, err := pdb.Open(src)
		if err != nil {
			return "", nil, err
		}
		return one(object.PDBModule(f), nil)
	case kindPortable:
		f, err := ppdb.Open(src)
		if err != nil {
			return "", nil, err
		}
		return one(object.PortableModule(f), nil)
	}
	return "", nil, fault.New(fault.Unsupported, "debug file", "no identifiers can be read from it")
}

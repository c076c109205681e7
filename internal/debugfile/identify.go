package debugfile

import (
	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/object/breakpad"
	"symbolon/internal/object/image"
	"symbolon/internal/object/pdb"
	"symbolon/internal/object/ppdb"
)

// identifiers are the functions that read identifiers, by format.
var identifiers = [kindCab + 1]func(bin.Source) ([]ident.Module, error){
	kindBreakpad: breakpad.Identify,
	kindELF:      image.IdentifyELF,
	kindMachO:    image.IdentifyMachO,
	kindPE:       image.IdentifyPE,
	kindWasm:     image.IdentifyWASM,
	kindPDB:      pdb.Identify,
	kindPortable: ppdb.Identify,
}

// Identify returns the format of a debug file and the identifiers of the
// binaries that it describes. It reads headers only, and unpacks nothing: a
// packed file, an archive, and a file of any other kind are Unsupported.
func Identify(src bin.Source) (kind string, list []ident.Module, err error) {
	head, err := bin.Read(src, 0, int(min(src.Size(), headSize)))
	if err != nil {
		return "", nil, err
	}
	k := sniff(head)
	if identifiers[k] == nil {
		return "", nil, fault.New(fault.Unsupported, "debug file", "no identifiers can be read from it")
	}
	list, err = identifiers[k](src)
	return kindNames[k], list, err
}

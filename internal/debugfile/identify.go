package debugfile

import (
	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/object"
	"symbolon/internal/object/breakpad"
	"symbolon/internal/object/ppdb"
)

// identifiers are the functions that read identifiers, by format.
var identifiers = [kindCab + 1]func(bin.Source) ([]ident.Module, error){
	kindBreakpad: breakpad.Identify,
	kindELF:      object.IdentifyELF,
	kindMachO:    object.IdentifyMachO,
	kindPE:       object.IdentifyPE,
	kindWasm:     object.IdentifyWASM,
	kindPDB:      object.IdentifyPDB,
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

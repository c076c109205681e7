package debugfile

import (
	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/object"
	"symbolon/internal/object/breakpad"
	"symbolon/internal/object/bundle"
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
	kindBundle:   bundle.Identify,
}

// Identify returns the format of a debug file and the identifiers of the
// binaries that it describes. It reads headers only, and of a bundle of sources its
// manifest: a packed file, an archive, and a file of any other kind are Unsupported.
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

// describers are the functions that describe a file by its headers, by format. Other
// files are opened.
var describers = map[kind]func(bin.Source) ([]object.Info, error){
	kindBreakpad: breakpad.Describe,
	kindELF:      image.DescribeELF,
	kindMachO:    image.DescribeMachO,
	kindPE:       image.DescribePE,
	kindWasm:     image.DescribeWASM,
	kindPDB:      pdb.Describe,
}

// Describe returns the format of a debug file and its objects. Unlike Open it unpacks
// nothing, keeps no records, and reads only headers where they suffice, so the features
// follow from the sections that exist. A packed file and an archive are Unsupported.
func Describe(src bin.Source) (kind string, list []object.Info, err error) {
	defer object.RecoverFault(&err)()
	head, err := bin.Read(src, 0, int(min(src.Size(), headSize)))
	if err != nil {
		return "", nil, err
	}
	k := sniff(head)
	if describe := describers[k]; describe != nil {
		list, err = describe(src)
		return kindNames[k], list, err
	}
	if k >= kindGzip {
		return kindNames[k], nil, fault.New(fault.Unsupported, kindNames[k], "the file is packed, or an archive")
	}
	f, err := Open(src, object.Options{})
	if err != nil {
		return kindNames[k], nil, err
	}
	for _, o := range f.Objects() {
		list = append(list, o.Info())
	}
	return f.Kind(), list, nil
}

// CheckWhole returns an error for an ELF file that ends before a part that its headers
// declare, as one that is still being linked. In other formats programs may declare more
// than their files have.
func CheckWhole(src bin.Source) error {
	head, err := bin.Read(src, 0, int(min(src.Size(), headSize)))
	if err != nil || sniff(head) != kindELF {
		return err
	}
	return image.CheckWholeELF(src)
}

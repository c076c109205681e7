package pprof

import (
	"math"
	"strings"

	"symbolon/internal/filter"
	"symbolon/internal/filter/wire"
	"symbolon/internal/ident"
)

// Tags of a Profile.
const (
	tagSampleType = 1<<3 | wire.Bytes
	tagMapping    = 3<<3 | wire.Bytes
	tagLocation   = 4<<3 | wire.Bytes
	tagFunction   = 5<<3 | wire.Bytes
	tagString     = 6<<3 | wire.Bytes
	tagPeriodType = 11<<3 | wire.Bytes
	tagComments   = 13<<3 | wire.Bytes

	lastNumber = 15 // of the fields that are defined
)

// Tags of a Mapping, and the numbers of its flags.
const (
	tagMappingID    = 1<<3 | wire.Varint
	tagMappingStart = 2<<3 | wire.Varint
	tagMappingLimit = 3<<3 | wire.Varint
	tagFileOffset   = 4<<3 | wire.Varint
	tagMappingFile  = 5<<3 | wire.Varint
	tagBuildID      = 6<<3 | wire.Varint

	numHasFunctions = 7
	numHasInlines   = 10
)

// Tags of a Location, and the numbers of the fields that names change.
const (
	tagLocationMapping = 2<<3 | wire.Varint
	tagAddress         = 3<<3 | wire.Varint

	numLine   = 4
	numFolded = 5
)

// tagFunctionID is the tag of the id of a Function.
const tagFunctionID = 1<<3 | wire.Varint

var layout = Layout{Function: 5, String: 6, ID: 1, Name: 2, Line: numLine}

// mapping is a Mapping of the profile.
type mapping struct {
	start, limit, offset uint64
	file, buildID        uint64 // indices of strings
	module               int32  // index in the query; unseen, unknown
	flags                uint8  // bit i: the flag with the number numHasFunctions+i
	found                uint8  // the flags that names add
}

const (
	unseen  = -2
	unknown = -1
)

// readMapping decodes a Mapping. It returns the id 0, which no location can
// have, for one that is damaged.
func readMapping(msg []byte) (m mapping, id uint64) {
	m.module = unseen
	r := wire.NewReader(msg)
	for r.Next() {
		switch r.Tag {
		case tagMappingID:
			id = r.Value
		case tagMappingStart:
			m.start = r.Value
		case tagMappingLimit:
			m.limit = r.Value
		case tagFileOffset:
			m.offset = r.Value
		case tagMappingFile:
			m.file = r.Value
		case tagBuildID:
			m.buildID = r.Value
		default:
			if i := r.Tag.Num() - numHasFunctions; i >= 0 && i <= numHasInlines-numHasFunctions && r.Value != 0 {
				m.flags |= 1 << i
			}
		}
	}
	if r.Err() != nil {
		return mapping{module: unknown}, 0
	}
	return m, id
}

// location is a Location of the profile.
type location struct {
	mapping, address uint64
	hasLine          bool
}

// readLocation decodes a Location. It returns false for one that is damaged.
func readLocation(msg []byte) (l location, ok bool) {
	r := wire.NewReader(msg)
	for r.Next() {
		switch r.Tag {
		case tagLocationMapping:
			l.mapping = r.Value
		case tagAddress:
			l.address = r.Value
		case numLine<<3 | wire.Bytes:
			l.hasLine = true
		}
	}
	return l, r.Err() == nil
}

// module returns the module of a mapping with the identifiers in its build id. Writers
// put the build id of an ELF file there, the UUID of a Mach-O file, or texts that do not
// identify a build, such as the path and time of a Windows program.
func module(file, buildID string) ident.Module {
	m := ident.Module{CodeFile: file, Type: typeOf(file)}
	text := strings.Trim(buildID, ` "'`)
	if id, err := ident.ParseBuildID(text); err == nil {
		m.CodeID = id.CodeID()
	} else if id, err := ident.ParseDebugID(text); err == nil {
		m.DebugID = id
		if m.Type == ident.TypeUnknown && len(text) == len("01234567-89ab-cdef-0123-456789abcdef") {
			m.Type = ident.TypeMachO
		}
	}
	return m.Derive()
}

// typeOf returns the format of a file of Windows or macOS.
func typeOf(file string) ident.Type {
	name := strings.ToLower(file)
	switch {
	case strings.HasSuffix(name, ".exe"), strings.HasSuffix(name, ".dll"):
		return ident.TypePE
	case strings.HasSuffix(name, ".dylib"), strings.Contains(name, "/contents/macos/"), strings.Contains(name, ".framework/"):
		return ident.TypeMachO
	}
	return ident.TypeUnknown
}

// path returns the path of the file of the mapping. texts has the strings of the profile.
func (m *mapping) path(texts map[uint64]string) string {
	return strings.TrimSuffix(texts[m.file], " (deleted)")
}

// place returns where an address of the mapping is in its module. Images of
// Windows and macOS are counted from their start, kernels by the addresses
// that they run at, and ELF files by the offset that the mapping begins at. A
// mapping of everything from zero is made by writers whose addresses are as linked.
func (m *mapping) place(t ident.Type, isKernel bool, address uint64) (filter.Space, uint64) {
	switch {
	case isKernel:
		return filter.Fixed, address
	case m.start == 0 && m.offset == 0 && (m.limit == 0 || m.limit == math.MaxUint64):
		return filter.Linked, address
	case t == ident.TypePE, t == ident.TypeDotnet, t == ident.TypeMachO:
		return filter.Relative, address - m.start + m.offset
	}
	return filter.Offset, address - m.start + m.offset
}

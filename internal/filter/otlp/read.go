package otlp

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"

	"symbolon/internal/fault"
	"symbolon/internal/filter"
	"symbolon/internal/filter/pprof"
	"symbolon/internal/filter/wire"
	"symbolon/internal/ident"
)

// numDictionary is the number of the dictionary in a message.
const numDictionary = 2

// Numbers of the tables of a dictionary.
const (
	numMappings   = 1
	numLocations  = 2
	numFunctions  = 3
	numStrings    = 5
	numAttributes = 6
)

// Numbers of the attributes of a mapping and of a location, and of the lines of the
// latter.
const (
	numMappingAttributes  = 5
	numLocationAttributes = 4
	numLines              = 3
)

var layout = pprof.Layout{Function: numFunctions, String: numStrings, Name: 1, Line: numLines}

// shape is the types of the fields of a message, from number 1 on; n is a list of
// numbers, which may be packed. Fields with higher numbers are not known.
type shape struct{ name, types string }

var (
	messageShape    = shape{"message", "22"}
	dictionaryShape = shape{"dictionary", "2222222"}
	elementShapes   = [...]shape{
		numMappings: {"mapping_table", "0000n"}, numLocations: {"location_table", "002n"},
		numFunctions: {"function_table", "0000"}, numAttributes: {"attribute_table", "020"},
	}
)

// check returns an error unless a message has the shape.
func (s shape) check(msg []byte) error {
	r := wire.NewReader(msg)
	for r.Next() {
		i, kind := r.Tag.Num()-1, r.Tag&7
		if i < len(s.types) && byte(kind)+'0' != s.types[i] && (s.types[i] != 'n' || kind != wire.Varint && kind != wire.Bytes) {
			return fault.New(fault.Unsupported, "OTLP profiles", "field %d in the %s has another type than in version 1.10", i+1, s.name)
		}
	}
	return r.Err()
}

// tables are the tables of a message.
type tables struct {
	dictionary []byte
	start, end int // of the field with it, in the message
	mappings   []mapping
	strings    []uint32 // the places of the elements in the dictionary
	attributes []attribute
	functions  int // number of them
	uses       int // of attributes, by mappings and locations
}

// attribute is a KeyValueAndUnit of the dictionary.
type attribute struct {
	key   uint32 // index of a string
	value uint32 // the place of the field with the text in the dictionary; zero: none
}

// mapping is a Mapping of the dictionary.
type mapping struct {
	msg                  []byte
	start, limit, offset uint64
	file                 uint64 // index of a string
	module               int32  // index in the query; unseen, unknown
}

const (
	unseen  = -2
	unknown = -1
)

// read reads the tables of a message.
func (t *tables) read(data []byte) error {
	if err := messageShape.check(data); err != nil {
		return err
	}
	for r := wire.NewReader(data); r.Next(); {
		if r.Tag.Num() != numDictionary {
			continue
		}
		if t.end > 0 {
			return tooMany("dictionary", 1)
		}
		t.dictionary, t.start, t.end = r.Bytes, r.Start, r.End
	}
	if len(t.dictionary) > math.MaxInt32 {
		return tooMany("bytes in the dictionary", math.MaxInt32)
	}
	if err := dictionaryShape.check(t.dictionary); err != nil {
		return err
	}
	for r := wire.NewReader(t.dictionary); r.Next(); {
		if err := t.add(&r); err != nil {
			return err
		}
	}
	return nil
}

// add adds the element of a table.
func (t *tables) add(r *wire.Reader) error {
	table := r.Tag.Num()
	if table < len(elementShapes) && elementShapes[table].types != "" {
		if err := elementShapes[table].check(r.Bytes); err != nil {
			return err
		}
	}
	switch table {
	case numMappings:
		if len(t.mappings) == maxMappings {
			return tooMany("mappings", maxMappings)
		}
		t.mappings = append(t.mappings, newMapping(r.Bytes))
	case numFunctions:
		t.functions++
	case numStrings:
		t.strings = append(t.strings, uint32(r.Start))
	case numAttributes:
		t.attributes = append(t.attributes, newAttribute(r))
	}
	if len(t.strings)+len(t.attributes) > maxElements {
		return tooMany("strings and attributes", maxElements)
	}
	return nil
}

func newMapping(msg []byte) mapping {
	m := mapping{msg: msg, module: unseen}
	for r := wire.NewReader(msg); r.Next(); {
		switch r.Tag.Num() {
		case 1:
			m.start = r.Value
		case 2:
			m.limit = r.Value
		case 3:
			m.offset = r.Value
		case 4:
			m.file = r.Value
		}
	}
	return m
}

// newAttribute returns the attribute in a field of the dictionary.
func newAttribute(field *wire.Reader) (a attribute) {
	at := field.End - len(field.Bytes)
	for r := wire.NewReader(field.Bytes); r.Next(); {
		switch r.Tag.Num() {
		case 1:
			a.key = uint32(min(r.Value, math.MaxUint32))
		case 2:
			for v := wire.NewReader(r.Bytes); v.Next(); {
				if v.Tag == 1<<3|wire.Bytes || v.Tag == 8<<3|wire.Varint {
					a.value = uint32(at + r.End - len(r.Bytes) + v.Start)
				}
			}
		}
	}
	return a
}

// text returns a string; nil if the table is shorter, or if the string is too long.
func (t *tables) text(i uint64) []byte {
	if i >= uint64(len(t.strings)) {
		return nil
	}
	r := wire.NewReader(t.dictionary[t.strings[i]:])
	r.Next()
	return shortText(r.Bytes)
}

// shortText returns a text; nil if it is too long, as many elements can refer to it.
func shortText(text []byte) []byte {
	if len(text) > maxText {
		return nil
	}
	return text
}

// eachAttribute calls use with the attributes of an element, whose indices are in the
// field with a number. It stops when the message has too many.
func (t *tables) eachAttribute(msg []byte, num int, use func(key, value []byte)) {
	for r := wire.NewReader(msg); r.Next() && t.uses <= maxElements; {
		if r.Tag.Num() != num {
			continue
		}
		if r.Tag&7 == wire.Varint {
			use(t.attribute(r.Value))
		}
		for i := range wire.Numbers(r.Bytes) {
			if t.uses > maxElements {
				return
			}
			use(t.attribute(i))
		}
	}
}

// attribute returns an attribute that is a text.
func (t *tables) attribute(i uint64) (key, value []byte) {
	t.uses++
	if i >= uint64(len(t.attributes)) {
		return nil, nil
	}
	a := t.attributes[i]
	key = t.text(uint64(a.key))
	if a.value == 0 {
		return key, nil
	}
	r := wire.NewReader(t.dictionary[a.value:])
	if r.Next(); r.Tag&7 == wire.Varint {
		return key, t.text(r.Value)
	}
	return key, shortText(r.Bytes)
}

// identify returns the identifiers of the file of a mapping.
func (t *tables) identify(m *mapping) (mod ident.Module) {
	var gnuID, goID, fileID []byte
	t.eachAttribute(m.msg, numMappingAttributes, func(key, value []byte) {
		switch string(key) {
		case "process.executable.build_id.gnu":
			gnuID = value
		case "process.executable.build_id.go":
			goID = value
		case "process.executable.build_id.htlhash", "process.executable.build_id.profiling":
			fileID = value
		}
	})
	if id, err := ident.ParseBuildID(string(gnuID)); err == nil {
		mod.CodeID = id.CodeID()
	}
	if id, err := ident.ParseFileID(string(fileID)); err == nil {
		mod.FileID = id
	}
	if mod.CodeID.IsZero() && len(goID) > 0 {
		mod.CodeID = linkedID(goID)
	}
	return mod
}

// linkedID returns the GNU build id of a program with a Go build id. The linker hashes
// the latter before its last part, which the hash of the program replaces, is known:
// that is the first part once more until then.
func linkedID(goID []byte) ident.CodeID {
	first, _, _ := bytes.Cut(goID, []byte{'/'})
	sum := sha256.Sum256(slices.Concat(goID[:bytes.LastIndexByte(goID, '/')+1], first))
	sum[0] ^= 0xff // as the package cmd/internal/hash of Go
	return ident.NewBuildID(sum[:20]).CodeID()
}

// kernel is the type of frames in a kernel.
const kernel = "kernel"

// frameType returns the type of the frame of a location; empty if it has none.
func (t *tables) frameType(msg []byte) (text []byte) {
	t.eachAttribute(msg, numLocationAttributes, func(key, value []byte) {
		if string(key) == "profile.frame.type" {
			text = value
		}
	})
	return text
}

// lowestImage is the lowest address of the images of programs that are not relocated, of
// most linkers. In others, the address of a part differs by some pages from its offset.
const lowestImage = 1 << 20

// place returns where an address is in the module of its mapping.
func (m *mapping) place(addr uint64, isKernel bool) (filter.Space, uint64) {
	switch {
	case isKernel && addr>>63 == 0:
		return filter.Relative, addr
	case isKernel:
		return filter.Fixed, addr
	case m.start < 1<<32 && m.start-m.offset >= lowestImage && m.start >= m.offset:
		return filter.Fixed, addr
	case m.start < 1<<32:
		return filter.Linked, addr
	}
	return filter.Offset, addr - m.start + m.offset
}

// Is reports whether the beginning of a file is a message with profiles: a resource of
// it has a scope, and that has a profile. Traces and logs of the protocol resemble it,
// but have no dictionary: they are copied.
func Is(head []byte) bool {
	for _, num := range []wire.Tag{1, 2, 2} {
		r := wire.NewReader(head)
		for r.Next() && r.Tag != num<<3|wire.Bytes {
			if r.Tag&7 != wire.Bytes || r.Tag.Num() > 3 {
				return false
			}
		}
		rest := head[r.Start:]
		tag, n := binary.Uvarint(rest)
		size, k := binary.Uvarint(rest[max(n, 0):])
		if tag != uint64(num<<3|wire.Bytes) || k <= 0 {
			return false
		}
		head = rest[n+k:]
		head = head[:min(uint64(len(head)), size)] // its end may be missing
	}
	return true
}

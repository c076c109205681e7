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
	lastTable     = 7
)

// Numbers of the attributes of a mapping and of a location, and of the lines of the
// latter.
const (
	numMappingAttributes  = 5
	numLocationAttributes = 4
	numLines              = 3
)

var layout = pprof.Layout{Function: numFunctions, String: numStrings, Name: 1, Line: numLines}

// shapes has the types of the fields of the elements of a table, from number 1 on; n is
// a list of numbers, which may be packed. Fields with higher numbers are not known.
var shapes = [lastTable + 1]string{
	numMappings: "0000n", numLocations: "002n", numFunctions: "0000", numAttributes: "020",
}

// check returns an error unless an element of a table has the fields that it should.
func check(table int, msg []byte) error {
	shape := shapes[table]
	r := wire.NewReader(msg)
	for r.Next() {
		if i := r.Tag.Num() - 1; i < len(shape) && byte(r.Tag&7)+'0' != shape[i] && (shape[i] != 'n' || r.Tag&7 != wire.Varint && r.Tag&7 != wire.Bytes) {
			return badLayout("field %d of table %d of the dictionary", i+1, table)
		}
	}
	return r.Err()
}

func badLayout(format string, args ...any) error {
	return fault.New(fault.Unsupported, "OTLP profiles", format+" has another type than in version 1.10", args...)
}

// tables are the tables of a message.
type tables struct {
	dictionary          []byte
	start, end          int // of the field with it, in the message
	mappings            []mapping
	strings, attributes []uint32 // the places of the elements in the dictionary
	functions           int      // number of them
}

// mapping is a Mapping of the dictionary.
type mapping struct {
	msg          []byte
	start, limit uint64
	module       int32 // index in the query; unseen, unknown
}

const (
	unseen  = -2
	unknown = -1
)

// read reads the tables of a message.
func (t *tables) read(data []byte) error {
	r := wire.NewReader(data)
	for r.Next() {
		switch {
		case r.Tag.Num() > numDictionary:
		case r.Tag&7 != wire.Bytes:
			return badLayout("field %d", r.Tag.Num())
		case r.Tag.Num() == numDictionary && t.end > 0:
			return fault.New(fault.Unsupported, "OTLP profiles", "more than one dictionary")
		case r.Tag.Num() == numDictionary:
			t.dictionary, t.start, t.end = r.Bytes, r.Start, r.End
		}
	}
	if r.Err() != nil {
		return r.Err()
	}
	if len(t.dictionary) > math.MaxInt32 {
		return tooMany("bytes in the dictionary", math.MaxInt32)
	}
	r = wire.NewReader(t.dictionary)
	for r.Next() {
		if err := t.add(&r); err != nil {
			return err
		}
	}
	return r.Err()
}

// add adds the element of a table.
func (t *tables) add(r *wire.Reader) error {
	table := r.Tag.Num()
	if table > lastTable {
		return nil
	}
	if r.Tag&7 != wire.Bytes {
		return badLayout("table %d of the dictionary", table)
	}
	if shapes[table] != "" {
		if err := check(table, r.Bytes); err != nil {
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
		t.attributes = append(t.attributes, uint32(r.Start))
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
		}
	}
	return m
}

// element returns an element of a table; nil if the table is shorter.
func (t *tables) element(places []uint32, i uint64) []byte {
	if i >= uint64(len(places)) {
		return nil
	}
	r := wire.NewReader(t.dictionary[places[i]:])
	r.Next()
	return r.Bytes
}

// eachAttribute calls use with the attributes of an element, whose indices are in the
// field with a number.
func (t *tables) eachAttribute(msg []byte, num int, use func(key, value []byte)) {
	for r := wire.NewReader(msg); r.Next(); {
		if r.Tag.Num() != num {
			continue
		}
		if r.Tag&7 == wire.Varint {
			use(t.attribute(r.Value))
		}
		for i := range wire.Numbers(r.Bytes) {
			use(t.attribute(i))
		}
	}
}

// attribute returns an attribute that is a text.
func (t *tables) attribute(i uint64) (key, value []byte) {
	for r := wire.NewReader(t.element(t.attributes, i)); r.Next(); {
		switch r.Tag.Num() {
		case 1:
			key = t.element(t.strings, r.Value)
		case 2:
			for v := wire.NewReader(r.Bytes); v.Next(); {
				switch v.Tag {
				case 1<<3 | wire.Bytes:
					value = v.Bytes
				case 8<<3 | wire.Varint:
					value = t.element(t.strings, v.Value)
				}
			}
		}
	}
	return key, value
}

// identify returns the file name of a mapping, and the identifiers of the file.
func (t *tables) identify(m *mapping) (file string, mod ident.Module) {
	for r := wire.NewReader(m.msg); r.Next(); {
		if r.Tag.Num() == 4 {
			file = string(t.element(t.strings, r.Value))
		}
	}
	var goID []byte
	t.eachAttribute(m.msg, numMappingAttributes, func(key, value []byte) {
		switch string(key) {
		case "process.executable.build_id.gnu":
			if id, err := ident.ParseBuildID(string(value)); err == nil {
				mod.CodeID = id.CodeID()
			}
		case "process.executable.build_id.go":
			goID = value
		case "process.executable.build_id.htlhash", "process.executable.build_id.profiling":
			if id, err := ident.ParseFileID(string(value)); err == nil {
				mod.FileID = id
			}
		}
	})
	if mod.CodeID.IsZero() && len(goID) > 0 {
		mod.CodeID = linkedID(goID)
	}
	return file, mod
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

// location is a Location of the dictionary.
type location struct {
	mapping, address  uint64
	hasLine, isKernel bool
}

func newLocation(msg []byte) (l location) {
	for r := wire.NewReader(msg); r.Next(); {
		switch r.Tag.Num() {
		case 1:
			l.mapping = r.Value
		case 2:
			l.address = r.Value
		case numLines:
			l.hasLine = true
		}
	}
	return l
}

// frameType returns the type of the frame of a location; empty if it has none.
func (t *tables) frameType(msg []byte) (text []byte) {
	t.eachAttribute(msg, numLocationAttributes, func(key, value []byte) {
		if string(key) == "profile.frame.type" {
			text = value
		}
	})
	return text
}

// place returns where the address of a location is in the module of its mapping.
func (m *mapping) place(l *location) (filter.Space, uint64) {
	switch {
	case l.isKernel && l.address>>63 == 0:
		return filter.Relative, l.address
	case l.isKernel, m.start < 1<<32:
		return filter.Linked, l.address
	}
	offset := uint64(0)
	for r := wire.NewReader(m.msg); r.Next(); {
		if r.Tag.Num() == 3 {
			offset = r.Value
		}
	}
	return filter.Offset, l.address - m.start + offset
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

package pdb

import (
	"bytes"
	"encoding/binary"
)

// Options of classes.
const (
	classForward = 0x80
	classScoped  = 0x100
	classUnique  = 0x200
)

// class is a class, structure or union.
type class struct {
	options      uint16
	size         uint64
	name, unique []byte
}

// readClass reads a record of a class. The size precedes the name, at an offset
// that depends on the kind of record; the unique name follows the name.
func readClass(r record) (c class, ok bool) {
	at := 16
	if r.kind == leafUnion {
		at = 8
	}
	if len(r.data) < at+2 {
		return c, false
	}
	c.options = binary.LittleEndian.Uint16(r.data[2:])
	size, n := numeric(r.data[at:])
	c.size = size
	rest := r.data[at+n:]
	c.name = nameOf(rest, false)
	if c.options&classUnique != 0 {
		c.unique = nameOf(rest[min(len(c.name)+1, len(rest)):], false)
	}
	return c, true
}

// key returns the name that determines the bucket of all records of a class:
// the mangled one for classes in a function, whose plain names are not unique.
func (c class) key() []byte {
	if c.options&classScoped != 0 && c.options&classUnique != 0 {
		return c.unique
	}
	return c.name
}

// definedSize returns the size of a class that is only declared, 0 if the file
// does not define it. Declaration and definition have the same key, and
// therefore the same bucket: only records of that bucket are read.
func (s *speller) definedSize(declared class) uint64 {
	t := s.f.types
	if t.buckets == 0 || t.loadHashes == nil {
		return 0
	}
	bucket := hashName(declared.key()) % t.buckets
	hashes := t.loadHashes()
	name := bytes.Clone(declared.key()) // the buffer of the record is reused
	for i := 0; i+4 <= len(hashes) && !s.bad; i += 4 {
		if binary.LittleEndian.Uint32(hashes[i:]) != bucket {
			continue
		}
		r, ok := s.open(t, t.begin+uint32(i/4))
		if !ok || r.kind != leafClass && r.kind != leafStruct && r.kind != leafInterface && r.kind != leafUnion {
			continue
		}
		if c, ok := readClass(r); ok && c.options&classForward == 0 && bytes.Equal(c.key(), name) {
			return c.size
		}
	}
	return 0
}

// hashName returns the hash of a name that determines its bucket: the XOR of
// its little-endian words, made case-insensitive by setting bit 5 of each byte.
func hashName(name []byte) (h uint32) {
	for ; len(name) >= 4; name = name[4:] {
		h ^= binary.LittleEndian.Uint32(name)
	}
	if len(name) >= 2 {
		h ^= uint32(binary.LittleEndian.Uint16(name))
		name = name[2:]
	}
	if len(name) == 1 {
		h ^= uint32(name[0])
	}
	h |= 0x20202020
	h ^= h >> 11
	return h ^ h>>16
}

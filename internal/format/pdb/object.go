package pdb

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"symbolon/internal/bin"
)

// Object has the sections of an object file with CodeView. Relocations were
// applied so that all code is in section 1, whose offsets are addresses.
type Object struct {
	Machine uint16
	// Symbols are the contents of the sections .debug$S after each other, as
	// returned by TrimSymbols and padded to 4 bytes.
	Symbols []byte
	Types   []byte  // of .debug$T
	Code    []Range // of the sections
}

// Numbers of types.
const (
	firstType       = 0x1000
	leafPrecompiled = 0x1509
	leafTypeServer  = 0x1515
)

// TrimSymbols moves the parts of a section .debug$S to its start, and returns them
// without those that are damaged.
func TrimSymbols(section []byte) ([]byte, error) {
	if len(section) < symbolsHead {
		return nil, bin.ErrShort
	}
	if version := binary.LittleEndian.Uint32(section); version != symbolsVersion {
		return nil, fmt.Errorf("unsupported version %d", version)
	}
	section = section[:copy(section, section[symbolsHead:])]
	end := 0
	err := parts(section, func(_ uint32, at int, part []byte) bool {
		end = at + len(part)
		return true
	})
	return section[:end], err
}

// OpenObject returns the debug information of an object file, which has one
// module. Damage is listed in Problems.
func OpenObject(o Object) *File {
	f := &File{
		Machine: o.Machine, object: true, msf: inMemory(o.Symbols),
		Modules: []Module{{sections: int64(len(o.Symbols))}}, code: o.Code,
		sections: []section{{size: math.MaxUint32, flags: flagCode}},
	}
	_ = parts(o.Symbols, func(kind uint32, _ int, part []byte) bool { // damaged ones were trimmed
		if kind == partStrings && len(part) > 0 {
			f.names = inMemory(part).stream(0)
		}
		return kind != partStrings
	})
	f.types = &table{}
	f.readTypes(o.Types)
	f.items = f.types
	return f
}

// inMemory returns a container whose only stream has the number 0.
func inMemory(data []byte) *container {
	shift := bits.Len(uint(len(data)))
	return &container{
		src: bin.Bytes(data), whole: data, blockSize: 1 << shift, shift: shift,
		directory: make([]byte, 4), streams: []span{{size: int64(len(data))}},
	}
}

// readTypes finds the types of an object, which are also its items. The first
// record may refer to another file that has them.
func (f *File) readTypes(data []byte) {
	const place = ".debug$T"
	if len(data) < symbolsHead {
		return
	}
	if version := binary.LittleEndian.Uint32(data); version != symbolsVersion {
		f.Problems.Add(place, 0, "unsupported version %d", version)
		return
	}
	size := int64(len(data) - symbolsHead)
	t := &table{
		s: inMemory(data).stream(0), begin: firstType, end: firstType + uint32(size/4), // a record has at least 4 bytes
		base: symbolsHead, size: size,
	}
	var room []byte
	r, _ := t.record(firstType, &room)
	const inServer, inObject = 20, 12 // the offsets of names
	switch {
	case r.kind == leafTypeServer && len(r.data) >= inServer:
		f.TypeFile = &TypeFile{[16]byte(r.data), binary.LittleEndian.Uint32(r.data[16:]), string(nameOf(r.data[inServer:], false))}
	case r.kind == leafPrecompiled && len(r.data) >= inObject:
		f.TypeFile = &TypeFile{Path: string(nameOf(r.data[inObject:], false))}
	default:
		f.types = t
		end := symbolsHead
		for r := range records(data, end) {
			end = r.end()
		}
		if len(bytes.Trim(data[end:], "\x00")) > 0 {
			f.Problems.Add(place, int64(end), "invalid record: the types after it are unknown")
		}
	}
}

// TypeFile is the file that has the types of an object: a PDB, or, without a
// GUID, the object of a precompiled header.
type TypeFile struct {
	GUID [16]byte
	Age  uint32
	Path string
}

// SetTypes sets the types of the PDB to which an object refers. It reports whether p is
// that one.
func (f *File) SetTypes(p *File) bool {
	if f.TypeFile == nil || f.TypeFile.GUID != p.GUID {
		return false
	}
	f.types, f.items = p.types, p.items
	return true
}

// hasPlace reports whether the code of an object contains the start of a procedure.
func (f *File) hasPlace(p procedure) bool {
	i, found := slices.BinarySearchFunc(f.code, p.off, func(r Range, off uint32) int { return cmp.Compare(r.Start, off) })
	return p.section == 1 && (found || i > 0 && p.off < f.code[i-1].End)
}

// hasCodeInParts reports whether an object has a procedure.
func (f *File) hasCodeInParts() (has bool) {
	all := f.msf.whole
	_ = parts(all, func(kind uint32, at int, part []byte) bool {
		if kind == partSymbols {
			_, has = hasProcedure(all[:at+len(part)], at)
		}
		return !has
	})
	return has
}

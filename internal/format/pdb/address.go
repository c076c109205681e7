package pdb

import (
	"encoding/binary"
	"math"
	"sort"
)

// Sections are numbered from 1. Addresses in the file consist of a section and an offset
// in it; those of the binary are relative to its base.
//
// A tool that moved code after linking adds a map from the linked addresses to
// those of the binary (omap), and the reverse map. Each is a sorted list of
// {from, to}; an entry extends to the next from, and a to of 0 means that the
// code was removed.
const omapSize = 8

// Range is a range of addresses of the binary that is contiguous before and
// after code was moved.
type Range struct {
	Start, End uint32
	From       uint32 // distance of Start from the first requested address, before code was moved
}

// original returns an address before code was moved.
func (f *File) original(sect uint16, off uint32) (uint32, bool) {
	if sect == 0 || int(sect) > len(f.sections) {
		return 0, false
	}
	s := f.sections[sect-1]
	addr := s.addr + off
	return addr, addr >= s.addr
}

// Addr returns the address in the binary of an offset in a section.
func (f *File) Addr(sect uint16, off uint32) (uint32, bool) {
	addr, ok := f.original(sect, off)
	if !ok || !f.omap {
		return addr, ok
	}
	i := omapAt(f.toBinary, addr)
	if i < 0 {
		return 0, false
	}
	return omapTo(f.toBinary, i, addr)
}

// Ranges appends the ranges of the binary with the size bytes from an offset in
// a section on. It is a single range unless code was moved.
func (f *File) Ranges(dst []Range, sect uint16, off, size uint32) []Range {
	addr, ok := f.original(sect, off)
	if !ok {
		return dst
	}
	return f.moved(dst, addr, size)
}

// maxPieces limits the ranges into which code may be split.
const maxPieces = 1 << 10

// moved appends the ranges to which the size bytes from an address on were
// moved.
func (f *File) moved(dst []Range, addr, size uint32) []Range {
	first, end := addr, addr+min(size, math.MaxUint32-addr)
	if !f.omap {
		return append(dst, Range{addr, end, 0})
	}
	for i, n := omapAt(f.toBinary, addr), 0; addr < end && n < maxPieces; i, n = i+1, n+1 {
		until := end
		if (i+2)*omapSize <= len(f.toBinary) {
			until = min(until, omapFrom(f.toBinary, i+1))
		}
		if until <= addr {
			return dst // the map is not sorted
		}
		if to, ok := omapTo(f.toBinary, i, addr); ok && i >= 0 {
			dst = append(dst, Range{to, to + min(until-addr, math.MaxUint32-to), addr - first})
		}
		addr = until
	}
	return dst
}

// place returns the section and offset of an address of the binary.
func (f *File) place(addr uint32) (sect uint16, off uint32, ok bool) {
	if f.omap {
		i := omapAt(f.toSource, addr)
		if i < 0 {
			return 0, 0, false
		}
		if addr, ok = omapTo(f.toSource, i, addr); !ok {
			return 0, 0, false
		}
	}
	for i, s := range f.sections {
		if addr >= s.addr && addr-s.addr < s.size {
			return uint16(i + 1), addr - s.addr, true
		}
	}
	return 0, 0, false
}

// SectionEnd returns the end of the section of the binary that contains addr,
// or the largest address.
func (f *File) SectionEnd(addr uint32) uint32 {
	for _, s := range f.codes {
		if addr >= s.addr && addr-s.addr < s.size {
			return s.addr + min(s.size, math.MaxUint32-s.addr)
		}
	}
	return math.MaxUint32
}

// isCode reports whether a section contains code.
func (f *File) isCode(sect uint16) bool {
	return sect > 0 && int(sect) <= len(f.sections) && f.sections[sect-1].flags&(flagCode|flagExecute) != 0
}

// omapAt returns the last entry that begins at or before addr, or -1.
func omapAt(m []byte, addr uint32) int {
	return sort.Search(len(m)/omapSize, func(i int) bool { return omapFrom(m, i) > addr }) - 1
}

func omapFrom(m []byte, i int) uint32 { return binary.LittleEndian.Uint32(m[i*omapSize:]) }

// omapTo returns the address to which entry i maps addr. ok is false for entry
// -1 and for removed code.
func omapTo(m []byte, i int, addr uint32) (uint32, bool) {
	if i < 0 {
		return 0, false
	}
	to := binary.LittleEndian.Uint32(m[i*omapSize+4:])
	if to == 0 {
		return 0, false
	}
	return to + (addr - omapFrom(m, i)), true
}

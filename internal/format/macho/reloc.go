package macho

import (
	"bytes"
	"encoding/binary"
)

// Relocate applies the relocations of a section of an object file to data, its
// bytes, and returns a copy if that changes anything. Relocations that refer to
// a section are already applied in the file: only those that refer to symbols
// add or subtract a value. A scattered relocation, which has the highest bit of
// its address set, refers to a section.
//
// Big-endian files, which are for PowerPC, are not changed.
func (f *File) Relocate(s *Section, data []byte) []byte {
	if f.FileType != fileTypeObject || f.Order != binary.LittleEndian {
		return data
	}
	clone := f.Clone
	if clone == nil {
		clone = bytes.Clone
	}
	table, _ := f.bytes(int64(s.Reloff), int64(s.Nreloc)*8)
	copied := false
	for ; len(table) >= 8; table = table[8:] {
		at, info := f.Order.Uint32(table), f.Order.Uint32(table[4:])
		value, ok := f.relocation(info)
		width := uint64(1) << (info >> 25 & 3)
		if !ok || value == 0 || width < 4 || uint64(at)+width > uint64(len(data)) {
			continue
		}
		if !copied {
			if data, copied = clone(data), true; data == nil {
				return nil
			}
		}
		if b := data[at:]; width == 4 {
			f.Order.PutUint32(b, f.Order.Uint32(b)+uint32(value))
		} else {
			f.Order.PutUint64(b, f.Order.Uint64(b)+value)
		}
	}
	return data
}

// The types of relocation that subtract the value of a symbol. Type 0 adds it
// on all processors.
const (
	relocSubtractX86   = 5
	relocSubtractARM64 = 1
)

// relocation returns the value that a relocation adds. The bits of its second
// word are, from the lowest: symbol 24, relative to itself 1, log of the width
// 2, symbol instead of section 1, type 4.
func (f *File) relocation(info uint32) (value uint64, ok bool) {
	symbol, relative, extern, kind := int(info&0xffffff), info>>24&1, info>>27&1, info>>28
	if relative != 0 || extern == 0 || symbol >= f.entries() {
		return 0, false
	}
	value = f.entry(symbol).value
	subtract := f.CPU == cpuX86|cpu64 && kind == relocSubtractX86 ||
		(f.CPU == cpuARM|cpu64 || f.CPU == cpuARM|cpu64_32) && kind == relocSubtractARM64
	if subtract {
		value = -value
	}
	return value, subtract || kind == 0
}

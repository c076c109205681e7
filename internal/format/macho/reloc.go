package macho

import (
	"bytes"
	"encoding/binary"
)

// Relocate applies the relocations of a section of an object file to data, its
// bytes, and returns a copy if that changes anything. Relocations that refer to
// a section are applied already, as the file is laid out: only those that refer
// to symbols add or subtract something. A scattered one, which has the highest
// bit of its place set, is of the first kind.
//
// Big endian files, which are of PowerPC, are left as they are.
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

// The kinds of relocation that take away the value of a symbol. The kind that
// adds it is 0 everywhere.
const (
	relocSubtractX86   = 5
	relocSubtractARM64 = 1
)

// relocation is what a relocation adds. The bits of the second word are, from
// the lowest: symbol 24, relative to itself 1, log of the width 2, symbol
// instead of section 1, kind 4.
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

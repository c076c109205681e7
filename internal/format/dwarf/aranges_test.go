package dwarf_test

import (
	"encoding/binary"
	"slices"
	"testing"

	"symbolon/internal/format/dwarf"
)

// arangesSet is a set of ranges, of 4 or 8 bytes each number, of a unit.
func arangesSet(o binary.AppendByteOrder, wide bool, width int, unit uint64, ranges ...uint64) []byte {
	b := o.AppendUint16(nil, 2)
	head := 4
	if wide {
		b, head = o.AppendUint64(b, unit), 12
	} else {
		b = o.AppendUint32(b, uint32(unit))
	}
	b = append(b, byte(width), 0)
	for (head+len(b))%(2*width) != 0 {
		b = append(b, 0)
	}
	for _, v := range append(ranges, 0, 0) {
		if width == 8 {
			b = o.AppendUint64(b, v)
		} else {
			b = o.AppendUint32(b, uint32(v))
		}
	}
	if wide {
		return append(o.AppendUint64(o.AppendUint32(nil, 0xffffffff), uint64(len(b))), b...)
	}
	return append(o.AppendUint32(nil, uint32(len(b))), b...)
}

func TestArangesNameUnits(t *testing.T) {
	for form := range 8 {
		o, wide, width := binary.AppendByteOrder(binary.LittleEndian), form&1 != 0, 4+form&2*2
		order := binary.ByteOrder(binary.LittleEndian)
		if form&4 != 0 {
			o, order = binary.BigEndian, binary.BigEndian
		}
		b := slices.Concat(
			arangesSet(o, wide, width, 0x200, 0x1000, 0x10, 0x3000, 0x10),
			arangesSet(o, wide, width, 0x100, 0x1008, 0x10, 0x1009, 1),
			arangesSet(o, wide, width, 0x300))
		for addr, want := range map[uint64][]uint64{
			0x1000: {0x200}, 0x1009: {0x100, 0x200}, 0x1010: {0x100}, 0x1018: nil, 0x300f: {0x200}, 0: nil,
		} {
			if got := dwarf.ArangesAt(b, order, addr); !slices.Equal(got, want) {
				t.Errorf("form %d: at %#x %#x, wanted %#x", form, addr, got, want)
			}
		}
		for n := range b {
			if got := dwarf.ArangesAt(b[:n], order, 0x1018); got != nil {
				t.Errorf("form %d, %d bytes: %#x", form, n, got)
			}
		}
	}
}

func FuzzAranges(f *testing.F) {
	f.Add(arangesSet(binary.LittleEndian, false, 8, 0, 0x1000, 0x10), false, uint64(0x1000))
	f.Add(arangesSet(binary.BigEndian, true, 4, 7, 0x1000, 0x10), true, uint64(0x100f))
	f.Fuzz(func(t *testing.T, b []byte, big bool, addr uint64) {
		s := dwarf.Sections{Info: b, Abbrev: b, Order: binary.LittleEndian}
		if big {
			s.Order = binary.BigEndian
		}
		s.Only = dwarf.ArangesAt(b, s.Order, addr)
		if !slices.IsSorted(s.Only) {
			t.Errorf("units %#x", s.Only)
		}
		for _, u := range dwarf.Open(s, 0).Units() {
			if !slices.Contains(s.Only, u.Off) && s.Only != nil {
				t.Errorf("unit at %#x is none of %#x", u.Off, s.Only)
			}
		}
	})
}

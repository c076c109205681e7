package dwarf_test

import (
	"encoding/binary"
	"slices"
	"testing"

	"symbolon/internal/format/dwarf"
)

// arangesSet returns a set of ranges of a unit, with numbers of 4 or 8 bytes.
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

// fourUnits returns four units of 20 bytes each.
func fourUnits(o binary.AppendByteOrder) (info, abbrev []byte) {
	for range 4 {
		info = append(o.AppendUint32(o.AppendUint16(o.AppendUint32(info, 16), 4), 0), 8)
		info = append(info, 1, 0, 0, 0, 0, 0, 0, 0, 0)
	}
	return info, []byte{1, 0x11, 0, 0, 0, 0}
}

func TestUnitsAt(t *testing.T) {
	for form := range 8 {
		o, wide, width := binary.AppendByteOrder(binary.LittleEndian), form&1 != 0, 4+form&2*2
		s := dwarf.Sections{Order: binary.LittleEndian}
		if form&4 != 0 {
			o, s.Order = binary.BigEndian, binary.BigEndian
		}
		s.Info, s.Abbrev = fourUnits(o)
		d := dwarf.Open(s, 0)
		b := slices.Concat(
			arangesSet(o, wide, width, 40, 0x1000, 0x10, 0x3000, 0x10),
			arangesSet(o, wide, width, 20, 0x1008, 0x10, 0x1009, 1),
			arangesSet(o, wide, width, 60))
		for addr, want := range map[uint64][]int{
			0x1000: {2, 0}, 0x1009: {2, 1, 0}, 0x1010: {1, 0}, 0x1018: {0}, 0x300f: {2, 0}, 0: {0},
		} {
			if got, ok := d.UnitsAt(b, addr); !ok || !slices.Equal(got, want) {
				t.Errorf("form %d: at %#x %d, wanted %d", form, addr, got, want)
			}
		}
		for n := range b {
			if got, ok := d.UnitsAt(b[:n], 0x1018); ok && len(got) < 2 {
				t.Errorf("form %d, %d bytes: %d", form, n, got)
			}
		}
		if _, ok := d.UnitsAt(arangesSet(o, wide, width, 41), 0); ok {
			t.Errorf("form %d: UnitsAt returns an invalid unit", form)
		}
	}
}

func FuzzAranges(f *testing.F) {
	f.Add(arangesSet(binary.LittleEndian, false, 8, 0, 0x1000, 0x10), false, uint64(0x1000))
	f.Add(arangesSet(binary.BigEndian, true, 4, 20, 0x1000, 0x10), true, uint64(0x100f))
	f.Fuzz(func(t *testing.T, b []byte, big bool, addr uint64) {
		s := dwarf.Sections{Order: binary.LittleEndian}
		s.Info, s.Abbrev = fourUnits(binary.LittleEndian)
		if big {
			s.Order = binary.BigEndian
			s.Info, s.Abbrev = fourUnits(binary.BigEndian)
		}
		units, _ := dwarf.Open(s, 0).UnitsAt(b, addr)
		for _, u := range units {
			if u < 0 || u > 3 {
				t.Errorf("units %d", units)
			}
		}
	})
}

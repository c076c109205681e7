package dwarf

import (
	"encoding/binary"
	"slices"
)

// ArangesAt is where in .debug_info the units begin that .debug_aranges says to
// have code at an address, in their order, and nil where it says nothing or is
// damaged. It need not name all units.
func ArangesAt(b []byte, order binary.ByteOrder, addr uint64) (units []uint64) {
	d := reader{big: order == binary.BigEndian}
	for p := 0; p < len(b); {
		wide, from := 4, p
		size, q := d.number(b, p, 4)
		if size == 0xffffffff {
			wide = 8
			size, q = d.number(b, q, 8)
		}
		if q < 0 || size > uint64(len(b)-q) {
			return nil
		}
		p = q + int(size)
		set := b[:p]
		version, q := d.number(set, q, 2)
		unit, q := d.number(set, q, wide)
		width, q := d.number(set, q, 1)
		segment, q := d.number(set, q, 1)
		if q < 0 || version != 2 || segment != 0 || width != 4 && width != 8 {
			return nil
		}
		n := int(width)
		for q += (from - q) & (2*n - 1); q+2*n <= len(set); q += 2 * n {
			if addr-d.uint(set, q, n) < d.uint(set, q+n, n) {
				units = append(units, unit)
				break
			}
		}
	}
	slices.Sort(units)
	return slices.Compact(units)
}

// Missed tells whether something that was read refers to a unit that was not,
// as Only did not list it. Names may then be wrong.
func (d *Data) Missed() bool { return d.missed.Load() }

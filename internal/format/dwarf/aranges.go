package dwarf

// UnitsAt returns the units that may have code at an address: the units that b, the
// section .debug_aranges, lists for it, and all units that b does not list at all. ok is
// false if b is damaged.
func (d *Data) UnitsAt(b []byte, addr uint64) (units []int, ok bool) {
	known := make([]bool, len(d.units))
	for p := 0; p < len(b); {
		wide, from := 4, p
		size, q := d.number(b, p, 4)
		if size == 0xffffffff {
			wide = 8
			size, q = d.number(b, q, 8)
		}
		if q < 0 || size > uint64(len(b)-q) {
			return nil, false
		}
		p = q + int(size)
		set := b[:p]
		version, q := d.number(set, q, 2)
		off, q := d.number(set, q, wide)
		width, q := d.number(set, q, 1)
		segment, q := d.number(set, q, 1)
		unit := d.unitAt(off, false)
		if q < 0 || version != 2 || segment != 0 || width != 4 && width != 8 || unit < 0 || d.units[unit].Off != off {
			return nil, false
		}
		known[unit] = true
		n := int(width)
		for q += (from - q) & (2*n - 1); q+2*n <= len(set); q += 2 * n {
			if addr-d.uint(set, q, n) < d.uint(set, q+n, n) {
				units = append(units, unit)
				break
			}
		}
	}
	for unit, known := range known {
		if !known {
			units = append(units, unit)
		}
	}
	return units, true
}

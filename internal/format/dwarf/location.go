package dwarf

// Entries of location lists.
const (
	lleBaseAddressx, lleStartxEndx, lleStartxLength, lleOffsetPair       = 1, 2, 3, 4
	lleDefault, lleBaseAddress, lleStartEnd, lleStartLength, lleViewPair = 5, 6, 7, 8, 9
)

// Locations calls yield with the expression that is the value of an attribute, or
// with those of its location list, until yield returns false. Lists of .dwp files and
// of .dwo files of version 4 are not read.
func (c *Nodes) Locations(n *Node, name uint64, yield func(x Expression) bool) {
	if x := n.Expression(name); x != nil {
		yield(x)
		return
	}
	a, d := n.find(name), n.place.d
	u := d.Unit(n.place.unit)
	isList := a.form == formSecOffset || a.form == formLoclistx || a.form == formData4 || a.form == formData8
	if !isList || d.s.Late == nil || d.s.Split && (u.Version < 5 || len(d.s.CUIndex) > 0) {
		return
	}
	d.lists.Do(func() { d.loc, d.loclists = d.s.Late("loc"), d.s.Late("loclists") })
	if u.Version < 5 {
		c.oldLocations(d, u, a.value, yield)
		return
	}
	at := a.value
	if a.form == formLoclistx {
		base := uint64(4 + 8) // of the section: a length, version, sizes and a number
		if u.l.off == 8 {
			base += 8
		}
		if root, ok := c.read(place{d, n.place.unit, u.Off + uint64(u.dies)}); ok && root.Has(attrLoclistsBase) {
			base = root.find(attrLoclistsBase).value
		}
		size, all := uint64(u.l.off), uint64(len(d.loclists))
		if base > all || at >= (all-base)/size {
			return
		}
		at = base + d.uint(d.loclists, int(base+at*size), int(size))
	}
	c.newLocations(d, u, at, yield)
}

// oldLocations reads a list of .debug_loc.
func (c *Nodes) oldLocations(d *Data, u *Unit, at uint64, yield func(x Expression) bool) {
	b, size := d.loc, int(u.l.addr)
	if at >= uint64(len(b)) {
		return
	}
	for p := int(at); c.work > 0; c.work-- {
		var start, end, length uint64
		start, p = d.number(b, p, size)
		if end, p = d.number(b, p, size); p < 0 || start == 0 && end == 0 {
			return
		}
		if start == 1<<(8*size)-1 {
			continue // a base address
		}
		length, p = d.number(b, p, 2)
		next := ahead(b, p, length)
		if next < 0 || !yield(b[p:next]) {
			return
		}
		p = next
	}
}

// newLocations reads a list of .debug_loclists. Addresses are skipped: callers want
// the places of a variable in all of its function.
func (c *Nodes) newLocations(d *Data, u *Unit, at uint64, yield func(x Expression) bool) {
	b, size := d.loclists, int(u.l.addr)
	if at >= uint64(len(b)) {
		return
	}
	for p := int(at); p >= 0 && p < len(b) && c.work > 0; c.work-- {
		kind := b[p]
		p++
		switch kind {
		case lleBaseAddressx, lleDefault:
		case lleStartxEndx, lleStartxLength, lleOffsetPair, lleViewPair:
			_, p = uleb(b, p)
		case lleBaseAddress, lleStartEnd, lleStartLength:
			_, p = d.number(b, p, size)
		default: // the end, or an unknown entry
			return
		}
		switch kind {
		case lleDefault, lleBaseAddress:
		case lleStartEnd:
			_, p = d.number(b, p, size)
		default:
			_, p = uleb(b, p)
		}
		if kind == lleBaseAddressx || kind == lleBaseAddress || kind == lleViewPair {
			continue
		}
		var length uint64
		length, p = uleb(b, p)
		next := ahead(b, p, length)
		if next < 0 || !yield(b[p:next]) {
			return
		}
		p = next
	}
}

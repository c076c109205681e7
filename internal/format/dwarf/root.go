package dwarf

import "slices"

// attribute is an attribute of a DIE.
type attribute struct {
	name  uint64
	form  uint8
	value uint64
}

// attributes iterates over the attributes of a DIE.
type attributes struct {
	attribute
	r    reader
	l    layout
	b    []byte // the section up to the end of the unit
	p    int    // offset of the next value; -1: damaged
	spec []byte // rest of the list in the abbreviation
	caps []step // steps to capture the values of a function
	n    int
}

// next reads an attribute. It returns false at the end, or if the DIE is
// damaged.
func (a *attributes) next() bool {
	name, q := uleb(a.spec, 0)
	num, q := uleb(a.spec, q)
	if q < 0 || a.p < 0 || name == 0 && num == 0 || a.n == maxAttributes {
		return false
	}
	a.n++
	a.name, a.form = name, formByte(num)
	switch a.form {
	case formImplicit:
		a.value, q = sleb(a.spec, q)
	case formFlagPresent:
		a.value = 1
	case formIndirect:
		a.form, a.p = direct(a.b, a.p)
		fallthrough
	default:
		a.value, a.p = a.r.value(a.b, a.p, a.form, a.l)
	}
	if q < 0 || a.p < 0 {
		return false
	}
	a.spec = a.spec[q:]
	return true
}

// captured has the captured attributes of a function or call, by slot.
type captured struct {
	form  [slots]uint8
	value [slots]uint64
}

func (c *captured) attribute(slot int) attribute {
	return attribute{form: c.form[slot], value: c.value[slot]}
}

// read captures the attributes of a DIE and returns the offset after all of
// them, or -1.
func (c *captured) read(a *attributes) int {
	r, b, p := a.r, a.b, a.p
	c.form = [slots]uint8{}
	for i := range a.caps {
		s := &a.caps[i]
		if p = ahead(b, p, uint64(s.before)); p < 0 || s.form == formNone {
			return p
		}
		form, v := s.form, s.value
		switch {
		case s.size > 0 && s.size <= 8:
			v, p = r.number(b, p, int(s.size))
		case form == formIndirect:
			form, p = direct(b, p)
			v, p = r.value(b, p, form, a.l)
		case form != formImplicit && form != formFlagPresent:
			v, p = r.value(b, p, form, a.l)
		}
		c.form[s.slot], c.value[s.slot] = form, v
	}
	return -1
}

// die returns the attributes of the DIE at off in the section of u, and its
// tag; the tag is 0 for an invalid DIE.
func (d *Data) die(u *Unit, t *table, off uint64) (attributes, uint16) {
	a := attributes{r: d.reader, l: u.l, b: d.info(u)[:u.End], p: -1}
	if off < u.Off+uint64(u.dies) || off >= u.End {
		return a, 0
	}
	code, p := uleb(a.b, int(off))
	if p < 0 || code == 0 {
		return a, 0
	}
	if t == nil {
		s := &d.tables[u.table]
		b := d.s.Abbrev[s.off:s.end]
		spec, tag := findSpec(b, code)
		if spec < 0 {
			return a, 0
		}
		a.p, a.spec = p, b[spec:]
		return a, tag
	}
	e := t.find(code)
	if e == nil {
		return a, 0
	}
	a.p, a.spec = p, t.b[e.spec:]
	if end := int(e.capture) + int(e.caps); end <= len(t.caps) && e.flags&isDamaged == 0 {
		a.caps = t.caps[e.capture:end]
	}
	return a, e.tag
}

// findSpec returns the offset of the list of attributes of a code in a table
// that is not compiled, or -1.
func findSpec(b []byte, code uint64) (int, uint16) {
	for p := 0; ; {
		var c, tag, attr, form uint64
		c, p = uleb(b, p)
		if tag, p = uleb(b, p); p < 0 || p >= len(b) || c == 0 {
			return -1, 0
		}
		p++
		if c == code {
			return p, uint16(min(tag, 0xffff))
		}
		for attr, form = 1, 0; attr|form != 0; {
			if p+1 < len(b) && b[p]|b[p+1] < 0x80 && b[p+1] != formImplicit { // the common case
				attr, form = uint64(b[p]|b[p+1]), 0
				p += 2
				continue
			}
			attr, p = uleb(b, p)
			if form, p = uleb(b, p); form == formImplicit {
				_, p = uleb(b, p)
			}
			if p < 0 {
				return -1, 0
			}
		}
	}
}

// root returns the root DIE of a unit. A table that only this unit uses is not
// compiled for it.
func (d *Data) root(u *Unit) (attributes, uint16) {
	var t *table
	if d.tables[u.table].users > 1 {
		t = d.table(u)
	}
	return d.die(u, t, u.Off+uint64(u.dies))
}

// rootValues has the attributes of a root that can be decoded only after all
// have been read.
type rootValues struct{ low, high, ranges attribute }

// Units returns the units in the order of the file; those of .debug_types come
// last. The caller must not change them.
func (d *Data) Units() []Unit {
	for i := range d.units {
		d.Unit(i)
		d.s.relax(i)
	}
	return d.units
}

// Unit returns the unit with this index. Its root DIE is read on first use.
func (d *Data) Unit(i int) *Unit {
	if !d.read[i].Load() {
		d.readUnit(i)
	}
	return &d.units[i]
}

func (d *Data) readUnit(i int) {
	d.roots.Lock()
	defer d.roots.Unlock()
	if d.read[i].Load() {
		return
	}
	u := &d.units[i]
	v := d.readRoot(u)
	if u.Kind != UnitSplit && u.Kind != UnitType {
		w := d.view(u)
		w.budget = d.budget
		first := len(d.ranges)
		d.ranges = w.rootRanges(d.ranges, v)
		d.ranges = d.ranges[:first+len(merge(d.ranges[first:]))]
		u.Ranges = slices.Clip(d.ranges[first:])
		if d.budget = w.budget; w.exceeded {
			d.problem(infoName(u.typed), u.Off, "range lists of roots exceed their section")
		}
		if w.broken {
			d.problem(infoName(u.typed), u.Off, "range list of the root is damaged")
		}
	}
	if u.Kind == UnitSplit {
		d.dwos[u.DwoID] = int32(i)
	}
	d.read[i].Store(true)
}

// rootRanges appends the ranges of the root of the unit.
func (v *view) rootRanges(dst []Range, r rootValues) []Range {
	if r.low.form != formNone {
		v.u.lowPC, _ = v.addrValue(r.low.form, r.low.value)
	}
	switch {
	case r.ranges.form != formNone:
		return v.list(dst, r.ranges.form, r.ranges.value)
	case r.low.form != formNone && r.high.form != formNone:
		return v.pair(dst, r.low.form, r.low.value, r.high.form, r.high.value)
	}
	return dst
}

// readRoot reads the root DIE of u.
func (d *Data) readRoot(u *Unit) (v rootValues) {
	d.setBases(u)
	a, tag := d.root(u)
	if tag == 0 {
		d.problem(infoName(u.typed), u.Off, "unit has no root DIE")
		return v
	}
	if tag == tagPartialUnit && u.Kind == UnitCompile {
		u.Kind = UnitPartial
	}
	gnu := false // a skeleton, or its unit, of version 4
	for a.next() {
		switch a.name {
		case attrLowPC:
			v.low = a.attribute
		case attrHighPC:
			v.high = a.attribute
		case attrRanges:
			v.ranges = a.attribute
		case attrStmtList:
			u.LineOff, u.HasLines = a.value, true
		case attrLanguage:
			u.Lang = uint16(min(a.value, 0xffff))
		case attrLanguageName:
			u.Lang = langOfName(a.value)
		case attrStrOffsetsBase:
			u.strBase = a.value
		case attrAddrBase, attrGNUAddrBase:
			u.addrBase = a.value
		case attrRnglistsBase:
			u.rnglistsBase = a.value
		case attrGNURangesBase:
			u.rangesBase = a.value
		case attrGNUDwoID:
			u.DwoID, gnu = a.value, true
		}
	}
	if a.p < 0 {
		d.problem(infoName(u.typed), u.Off, "root DIE is damaged")
	}
	if gnu && u.Version < 5 && u.Kind == UnitCompile {
		if u.Kind = UnitSkeleton; d.s.Split {
			u.Kind = UnitSplit
		}
	}
	return v
}

// setBases sets the default bases: after the header of the section, or of the
// unit's part of it.
func (d *Data) setBases(u *Unit) {
	if u.Version < 5 {
		return
	}
	head := uint64(u.l.off) // a length, version and padding, or sizes
	if u.l.off == 8 {
		head += 4
	}
	u.addrBase = head + 4
	u.strBase += head + 4
	u.rnglistsBase = u.rnglists + head + 8
}

// Attr is a text attribute of a unit.
type Attr uint16

const (
	AttrName     Attr = attrName
	AttrCompDir  Attr = attrCompDir
	AttrProducer Attr = attrProducer
	AttrDwoName  Attr = attrDwoName
)

// UnitText returns the text of an attribute of the unit with this index, or of
// the unit attached to it; nil if neither has it.
func (d *Data) UnitText(unit int, attr Attr) []byte {
	u := d.Unit(unit)
	a, tag := d.root(u)
	for tag != 0 && a.next() {
		if a.name == uint64(attr) || attr == AttrDwoName && a.name == attrGNUDwoName {
			return d.string(d.stringName(u, a.form, a.value))
		}
	}
	if u.split != nil {
		return u.split.UnitText(u.splitUnit, attr)
	}
	return nil
}

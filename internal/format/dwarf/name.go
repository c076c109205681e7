package dwarf

import "bytes"

// Name identifies the name of a function. Equal Names are equal names, but a
// name may have several Names. Zero means that the function has none. The low
// four bits are the kind; values 8 to 15 are free for other packages.
type Name uint64

// Kinds of names: the section of the offset, and what is there.
const (
	nameNone    = iota
	nameStr     // a string in .debug_str
	nameLineStr // a string in .debug_line_str
	nameInfo    // a string in .debug_info
	nameTypes   // a string in .debug_types
	nameDie     // a DIE in .debug_info whose name is its scope and its name
	nameTypeDie // the same in .debug_types
)

const (
	maxText       = 64 << 10 // bytes of a string; longer ones are truncated
	nameFileShift = 4
	nameOffShift  = 20
)

func (d *Data) name(kind uint64, off uint64) Name {
	if off >= 1<<(64-nameOffShift) || d.index>>(nameOffShift-nameFileShift) != 0 {
		return 0
	}
	return Name(kind | uint64(d.index)<<nameFileShift | off<<nameOffShift)
}

func (n Name) kind() int   { return int(n & (1<<nameFileShift - 1)) }
func (n Name) file() int   { return int(n >> nameFileShift & (1<<(nameOffShift-nameFileShift) - 1)) }
func (n Name) off() uint64 { return uint64(n >> nameOffShift) }

// stringName returns the Name of a string attribute of u, 0 for an empty or
// missing string.
func (d *Data) stringName(u *Unit, form uint8, value uint64) Name {
	kind, b := uint64(nameStr), d.s.Str
	switch form {
	case formString:
		if kind, b = nameInfo, d.s.Info; u.typed {
			kind, b = nameTypes, d.s.Types
		}
	case formStrp:
	case formLineStrp:
		kind, b = nameLineStr, d.s.LineStr
	case formStrpSup:
		if d.alt == nil {
			return 0
		}
		d = d.alt
		b = d.s.Str
	case formStrx, formStrx1, formStrx2, formStrx3, formStrx4:
		size, t := uint64(u.l.off), d.s.StrOffsets
		if u.strBase > uint64(len(t)) || value >= (uint64(len(t))-u.strBase)/size {
			return 0
		}
		value = d.uint(t, int(u.strBase+value*size), int(size))
	default:
		return 0
	}
	if value >= uint64(len(b)) || b[value] == 0 {
		return 0
	}
	return d.name(kind, value)
}

// string returns the text of a Name that is a string.
func (d *Data) string(n Name) []byte {
	var b []byte
	switch n.kind() {
	case nameStr:
		b = d.s.Str
	case nameLineStr:
		b = d.s.LineStr
	case nameInfo:
		b = d.s.Info
	case nameTypes:
		b = d.s.Types
	}
	if f := d.file(n.file()); f != d {
		if f == nil {
			return nil
		}
		return f.string(n)
	}
	b = b[min(n.off(), uint64(len(b))):]
	end := bytes.IndexByte(b[:min(len(b), maxText)], 0)
	if end < 0 && len(b) > maxText {
		end = maxText
	}
	return b[:max(end, 0):max(end, 0)]
}

// file returns the file with this index in the group of d, or nil.
func (d *Data) file(i int) *Data {
	switch {
	case i == d.index:
		return d
	case d.alt != nil && d.alt.index == i:
		return d.alt
	case i < len(d.files):
		return d.files[i]
	}
	return nil
}

// linkageName returns the Name of a linkage name, 0 if it is not used.
func (d *Data) linkageName(u *Unit, form uint8, value uint64) Name {
	n := d.stringName(u, form, value)
	if n != 0 && d.s.Decorated != nil && d.s.Decorated(d.string(n)) {
		return 0
	}
	return n
}

// place is a DIE in one of the files.
type place struct {
	d    *Data
	unit int
	off  uint64
}

// refer returns the DIE that an attribute of the DIE at p refers to.
func (p place) refer(a attribute) (place, bool) {
	u := p.d.Unit(p.unit)
	switch a.form {
	case formRef1, formRef2, formRef4, formRef8, formRefUdata:
		if a.value < u.End-u.Off {
			return place{p.d, p.unit, u.Off + a.value}, true
		}
	case formRefAddr:
		if i := p.d.unitAt(a.value, false); i >= 0 {
			return place{p.d, i, a.value}, true
		}
	case formRefAlt, formRefSup4, formRefSup8:
		if alt := p.d.alt; alt != nil {
			if i := alt.unitAt(a.value, false); i >= 0 {
				return place{alt, i, a.value}, true
			}
		}
	case formRefSig8:
		if i, ok := p.d.types[a.value]; ok {
			t := &p.d.units[i]
			if t.typeOff < t.End-t.Off {
				return place{p.d, int(i), t.Off + t.typeOff}, true
			}
		}
	}
	return place{}, false
}

// resolver resolves names from a unit that is being read, whose table of
// abbreviations is not necessarily a shared one.
type resolver struct {
	d       *Data
	unit    int
	t       *table
	outline *outline // of the unit, if available
	text    int      // start of the name that is being appended
	work    int      // limit of further attributes to read for names
	link    captured
}

func (n *resolver) die(p place) (attributes, uint16) {
	u := p.d.Unit(p.unit)
	if p.d == n.d && p.unit == n.unit {
		return p.d.die(u, n.t, p.off)
	}
	if o := p.d.outline[p.unit].Load(); o != nil {
		return p.d.die(u, o.t, p.off)
	}
	return p.d.die(u, p.d.table(u), p.off)
}

// maxChain limits the DIEs that are read for a name. References may be cyclic.
const maxChain = 16

// origin is the result of a chain of abstract origins and specifications.
type origin struct {
	name    Name // of a string; 0: none
	linkage bool // name is a linkage name
	lang    uint16
	named   place // the DIE with a name that is nearest to the end of the chain
	end     place
}

// links has the attributes that determine the name of a function.
type links struct{ linkage, name, next attribute }

// links reads those of the DIE at p. ok is false for an invalid DIE.
func (n *resolver) links(p place) (l links, ok bool) {
	a, tag := n.die(p)
	if len(a.caps) > 0 {
		c := &n.link
		c.read(&a)
		n.work -= len(a.caps)
		if l.next = c.attribute(slotOrigin); l.next.form == formNone {
			l.next = c.attribute(slotSpec)
		}
		l.linkage, l.name = c.attribute(slotLinkage), c.attribute(slotName)
		return l, true
	}
	for a.next() {
		switch a.name {
		case attrLinkageName, attrMIPSLinkage:
			l.linkage = a.attribute
		case attrName:
			l.name = a.attribute
		case attrAbstractOrigin, attrSpecification:
			l.next = a.attribute
		}
	}
	n.work -= a.n
	return l, tag != 0
}

// chain follows the origins and specifications from the DIE at p on.
func (n *resolver) chain(p place) (o origin) {
	for hop := 0; hop < maxChain && n.work > 0; hop++ {
		l, ok := n.links(p)
		if !ok {
			return o
		}
		u := p.d.Unit(p.unit)
		if u.Lang != 0 {
			o.lang = u.Lang
		}
		o.end = p
		if s := p.d.linkageName(u, l.linkage.form, l.linkage.value); s != 0 {
			o.name, o.linkage = s, true
			return o
		}
		if s := p.d.stringName(u, l.name.form, l.name.value); s != 0 {
			if o.name == 0 {
				o.name = s
			}
			o.named = p
		}
		to, ok := p.refer(l.next)
		if !ok || to == p {
			return o
		}
		p = to
	}
	return o
}

// final returns the Name of a chain.
func (o *origin) final() Name {
	if o.linkage || o.name == 0 || !isScoped(o.lang) {
		return o.name
	}
	return o.named.name()
}

// name returns the Name of a DIE whose name includes its scope.
func (p place) name() Name {
	if p.d.units[p.unit].typed {
		return p.d.name(nameTypeDie, p.off)
	}
	return p.d.name(nameDie, p.off)
}

// names is a cache of the results of chains, by the first DIE of the chain. An
// entry is valid until another DIE uses its slot.
type names struct {
	slots [1 << nameBits]nameSlot
	round uint32 // slots of other rounds are empty
}

const nameBits = 11

// nameSlot is the entry of the DIE whose Name is die.
type nameSlot struct {
	die, name Name
	round     uint32
	lang      uint16
}

// slot returns the slot of a DIE, and whether it is filled.
func (c *names) slot(die Name) (*nameSlot, bool) {
	s := &c.slots[uint64(die)*0x9e3779b97f4a7c15>>(64-nameBits)]
	if s.die == die && s.round == c.round && die != 0 {
		return s, true
	}
	s.round, s.die = c.round, die
	return s, false
}

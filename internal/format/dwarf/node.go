package dwarf

import "slices"

// Tags and attributes of variables and of their types.
const (
	TagParameter, TagPointer, TagReference, TagMemberPointer = 0x05, 0x0f, 0x10, 0x1f
	TagSubrange, TagVariable, TagRvalueReference             = 0x21, 0x34, 0x42
	TagArray, TagClass, TagEnumeration, TagStructure         = tagArray, tagClass, tagEnumeration, tagStructure
	TagSubroutine, TagUnion, TagInlined, TagSubprogram       = tagSubroutine, tagUnion, tagInlined, tagSubprogram

	AttrLocation, AttrByteSize, AttrLowerBound, AttrUpperBound = 0x02, 0x0b, 0x22, 0x2f
	AttrCount, AttrDeclFile, AttrDeclLine, AttrFrameBase       = 0x37, 0x3a, 0x3b, 0x40
	AttrType, AttrTagOffset, AttrLowPC, AttrOrigin             = 0x49, 0x3e03, attrLowPC, attrAbstractOrigin
	AttrDiscriminator, attrLoclistsBase                        = 0x2136, 0x8c // the first is of a call site
)

// Nodes reads DIEs of a unit with all their attributes, for rare questions.
type Nodes struct {
	view
	first place // the root of the unit, which may be in a split file
	unit  int   // number of the unit in the main file
	work  int   // limit of further DIEs and attributes to read
}

// Nodes returns the DIEs of a unit, or of the unit attached to it if it is a
// skeleton.
func (d *Data) Nodes(unit int) *Nodes {
	u := d.Unit(unit)
	c := &Nodes{view: d.view(u), first: place{d, unit, u.Off + uint64(u.dies)}, unit: unit}
	if s := u.split; s != nil {
		split := s.Unit(u.splitUnit)
		c.view, c.first = s.view(split), place{s, u.splitUnit, split.Off + uint64(split.dies)}
	}
	c.main, c.skel, c.budget = d, u, 64<<10
	c.work = 1<<12 + 16*int(c.u.End-c.u.Off)
	return c
}

// Node is a DIE.
type Node struct {
	Tag    uint16
	place  place
	parent bool // it has children
	end    int  // offset after the attributes
	attrs  []attribute
}

// Root returns the root of the unit.
func (c *Nodes) Root() (Node, bool) { return c.read(c.first) }

// At returns the DIE at an offset of the section of the unit.
func (c *Nodes) At(off uint64) (Node, bool) { return c.read(place{c.first.d, c.first.unit, off}) }

func (c *Nodes) read(p place) (n Node, ok bool) {
	if c.work <= 0 {
		return n, false
	}
	u := p.d.Unit(p.unit)
	t := p.d.table(u)
	a, tag := p.d.die(u, t, p.off)
	if tag == 0 {
		return n, false
	}
	for a.next() {
		n.attrs = append(n.attrs, a.attribute)
	}
	c.work -= 1 + len(n.attrs) // some attributes take no bytes
	if a.p < 0 {
		return n, false
	}
	code, _ := uleb(a.b, int(p.off))
	n.place, n.Tag, n.end = p, tag, a.p
	n.parent = t.find(code).flags&hasChildren != 0
	return n, true
}

// Walk calls visit with the DIEs below n and their depth, from 1 on, except those
// below one that visit returns false for.
func (c *Nodes) Walk(n *Node, visit func(n *Node, depth int) bool) {
	if !n.parent {
		return
	}
	b, p, hidden := n.section(), n.place, 0
	p.off = uint64(n.end)
	for depth := 1; depth > 0 && p.off < uint64(len(b)); {
		if b[p.off] == 0 {
			p.off++
			if depth--; depth < hidden {
				hidden = 0
			}
			continue
		}
		child, ok := c.read(p)
		if !ok {
			return
		}
		isOpen := hidden == 0 && visit(&child, depth)
		p.off = uint64(child.end)
		if child.parent {
			if depth++; hidden == 0 && !isOpen {
				hidden = depth
			}
		}
	}
}

// section returns the section of the DIE up to the end of its unit.
func (n *Node) section() []byte {
	u := n.place.d.Unit(n.place.unit)
	return n.place.d.info(u)[:u.End]
}

// find returns an attribute of the DIE, with formNone if it has none.
func (n *Node) find(name uint64) attribute {
	if i := slices.IndexFunc(n.attrs, func(a attribute) bool { return a.name == name }); i >= 0 {
		return n.attrs[i]
	}
	return attribute{}
}

// Has reports whether the DIE has an attribute.
func (n *Node) Has(name uint64) bool { return n.find(name).form != formNone }

// Refer returns the DIE that an attribute refers to.
func (c *Nodes) Refer(n *Node, name uint64) (to Node, ok bool) {
	p, ok := n.place.refer(n.find(name))
	if !ok {
		return to, false
	}
	return c.read(p)
}

// Holder returns n, or the first of the DIEs that it refers to by
// DW_AT_abstract_origin or DW_AT_specification that has an attribute.
func (c *Nodes) Holder(n *Node, name uint64) *Node {
	at := n
	for range maxChain {
		if at.Has(name) {
			return at
		}
		next, ok := c.Refer(at, attrAbstractOrigin)
		if !ok {
			if next, ok = c.Refer(at, attrSpecification); !ok {
				break
			}
		}
		at = &next
	}
	return n
}

// Name returns DW_AT_name of a DIE or of one that it refers to.
func (c *Nodes) Name(n *Node) Name {
	h := c.Holder(n, attrName)
	a := h.find(attrName)
	return h.place.d.stringName(h.place.d.Unit(h.place.unit), a.form, a.value)
}

// Number returns a constant.
func (n *Node) Number(name uint64) (v uint64, ok bool) {
	a := n.find(name)
	switch a.form {
	case formData1, formData2, formData4, formData8, formSdata, formUdata, formImplicit:
		return a.value, true
	}
	return 0, false
}

// Address returns an address.
func (c *Nodes) Address(n *Node, name uint64) (addr uint64, ok bool) {
	a := n.find(name)
	return c.addrValue(a.form, a.value)
}

// Ranges returns the code of a DIE, and whether it has attributes for that.
func (c *Nodes) Ranges(n *Node) (list []Range, known bool) {
	if a := n.find(attrRanges); a.form != formNone {
		return c.list(nil, a.form, a.value), true
	}
	low, high := n.find(attrLowPC), n.find(attrHighPC)
	if low.form == formNone || high.form == formNone {
		return nil, false
	}
	return c.pair(nil, low.form, low.value, high.form, high.value), true
}

// UnitOf returns the number of the unit whose line program has the files of a
// DIE, -1 if there is none.
func (c *Nodes) UnitOf(n *Node) int {
	switch {
	case n.place.d == c.first.d && n.place.unit == c.first.unit:
		return c.unit
	case n.place.d == c.main:
		return n.place.unit
	}
	return -1
}

// Pointer returns the size of a pointer in bytes.
func (n *Node) Pointer() uint64 { return uint64(n.place.d.Unit(n.place.unit).AddrSize) }

// Expression returns the expression that is the value of an attribute, nil if it
// is of another kind.
func (n *Node) Expression(name uint64) Expression {
	a, b := n.find(name), n.section()
	var size uint64
	p := int(a.value)
	switch a.form {
	case formExprloc, formBlock:
		size, p = uleb(b, p)
	case formBlock1:
		size, p = n.place.d.number(b, p, 1)
	case formBlock2:
		size, p = n.place.d.number(b, p, 2)
	case formBlock4:
		size, p = n.place.d.number(b, p, 4)
	default:
		return nil
	}
	if end := ahead(b, p, size); end >= 0 {
		return b[p:end]
	}
	return nil
}

// Operations of expressions.
const opAddr, opDeref, opPlusUconst, opReg0, opBreg0, opFbreg, opAddrx, opGNUAddr = 0x03, 0x06, 0x23, 0x50, 0x70, 0x91, 0xa1, 0xfb

// Expression is a location or a frame base, as operations of a stack machine.
type Expression []byte

// Register returns the register that x names, or -1.
func (x Expression) Register() int {
	if len(x) == 0 || x[0] < opReg0 || x[0] >= opBreg0 {
		return -1
	}
	return int(x[0] - opReg0)
}

// FrameOffset returns the offset from the frame of a function, or from the
// register that has it; the value there may be a pointer to the place.
func (x Expression) FrameOffset(register int) (off int64, ok bool) {
	if len(x) == 0 || x[0] != opFbreg && (register < 0 || int(x[0]) != opBreg0+register) {
		return 0, false
	}
	v, p := sleb(x, 1)
	return int64(v), p == len(x) || p == len(x)-1 && p > 0 && x[p] == opDeref
}

// Fixed returns the address of a location that is the same in all functions.
func (c *Nodes) Fixed(x Expression) (addr uint64, ok bool) {
	p := -1
	if len(x) > 0 && x[0] == opAddr {
		addr, p = c.d.number(x, 1, int(c.u.l.addr))
		ok = p > 0
	} else if len(x) > 0 && (x[0] == opAddrx || x[0] == opGNUAddr) {
		if addr, p = uleb(x, 1); p > 0 {
			addr, ok = c.address(addr)
		}
	}
	if !ok || p == len(x) {
		return addr, ok
	}
	off, end := uleb(x, p+1)
	return addr + off, x[p] == opPlusUconst && end == len(x)
}

package dwarf_test

import (
	"encoding/binary"
	"testing"

	"symbolon/internal/fixture"
	"symbolon/internal/format/dwarf"
)

// lay encodes the sections of a main file and a second one as an input: each is
// preceded by two bytes of length.
func lay(s, second dwarf.Sections) []byte {
	var b []byte
	for _, s := range []dwarf.Sections{s, second} {
		for _, p := range parts(&s) {
			n := min(len(*p), 1<<16-1)
			b = append(binary.LittleEndian.AppendUint16(b, uint16(n)), (*p)[:n]...)
		}
	}
	return b
}

func parts(s *dwarf.Sections) []*[]byte {
	return []*[]byte{&s.Info, &s.Types, &s.Abbrev, &s.LineStr, &s.Str, &s.StrOffsets, &s.Addr, &s.Ranges, &s.Rnglists, &s.CUIndex, &s.TUIndex}
}

// unlay decodes the output of lay.
func unlay(b []byte) (s, second dwarf.Sections) {
	for _, p := range append(parts(&s), parts(&second)...) {
		if len(b) >= 2 {
			n := min(int(binary.LittleEndian.Uint16(b)), len(b)-2)
			*p, b = b[2:2+n:2+n], b[2+n:]
		}
	}
	return s, second
}

func FuzzWalk(f *testing.F) {
	none := dwarf.Sections{}
	f.Add(uint8(0), lay(sections(everyForm(false)), none))
	for version := 2; version <= 5; version++ {
		f.Add(uint8(0), lay(sections(mixture(version, 8, version == 3, binary.LittleEndian)), none))
		f.Add(uint8(1), lay(sections(mixture(version, 4, false, binary.BigEndian)), none))
	}
	for version := 4; version <= 5; version++ {
		main, dwos := skeleton(version)
		f.Add(uint8(4), lay(sections(main), sections(dwos[0])))
		f.Add(uint8(4), lay(sections(main), dwp(version, dwos)))
	}
	f.Add(uint8(0), lay(sections(variables()), none))
	d := little()
	base := d.AddrTable(8, 0x1000, 0x2000)
	list := append(d.RangeEntry(8, 1, 0), d.RangeEntry(8, 4, 1, 2)...)
	list = append(list, d.RangeEntry(8, 2, 0, 1)...)
	list = append(list, d.RangeEntry(8, 3, 0, 1)...)
	list = append(list, d.RangeEntry(8, 5, 1)...)
	list = append(list, d.RangeEntry(8, 7, 1, 1)...)
	list = append(list, d.RangeEntry(8, 6, 9, 10)...)
	lists := d.RnglistsTable(false, 8, append(list, 0))
	m := named(tSub, "m")
	class := &die{Tag: tClass, Attrs: attrs{{aSignature, fSig8, 5}, {aSibling, fRefUdata, 200}}, Kids: []*die{m}}
	typ := named(tClass, "T")
	d.Unit(&fixture.DwarfUnit{Version: 4, AddrSize: 8, Types: true, ID: 5, TypeDie: typ, Root: &die{Tag: tTypeUnit, Kids: []*die{typ}}}, nil)
	d.Unit(based(cu(langCpp, class, named(tSpace, "n", listed(fRnglistx, 0)), &die{Tag: tSpace, Kids: []*die{code(0x10, fixture.DwarfAttr{aSpec, fRef4, m})}},
		code(0x40, fixture.DwarfAttr{aOrigin, fGNURefAlt, 12}, fixture.DwarfAttr{aEntry, fAddrx, 0}, fixture.DwarfAttr{aEntry + 1, fExprloc, []byte{1}})),
		fixture.DwarfAttr{aAddrBase, fSecOffset, base}, fixture.DwarfAttr{aRnglistsBase, fSecOffset, lists}), nil)
	f.Add(uint8(2), lay(sections(d), sections(mixture(5, 8, false, binary.LittleEndian))))
	f.Fuzz(func(t *testing.T, how uint8, b []byte) {
		s, second := unlay(b)
		s.Order = binary.ByteOrder(binary.LittleEndian)
		if how&1 != 0 {
			s.Order = binary.BigEndian
		}
		second.Order = s.Order
		s.Relocatable = how&8 != 0
		s.Late = func(string) []byte { return s.Addr }
		d := dwarf.Open(s, 0)
		switch {
		case how&2 != 0:
			d.SetAlt(dwarf.Open(second, 1))
		case how&4 != 0:
			second.Split = true
			d.Attach(dwarf.Open(second, 2))
		}
		walkAll(t, d, len(b))
	})
}

// walkAll walks all units and formats all names.
func walkAll(t *testing.T, d *dwarf.Data, size int) {
	var w dwarf.Walker
	var text []byte
	d.Missing()
	for i := range d.Units() {
		tree, _ := w.Walk(d, i)
		if n := len(tree.Ranges); n > 70000+64*size {
			t.Fatalf("%d ranges out of %d bytes", n, size)
		}
		for _, f := range tree.Funcs {
			text = d.AppendName(text[:0], f.Name)
			_ = tree.Ranges[f.First : f.First+f.N]
			for j, c := range tree.Calls[f.Calls : f.Calls+f.NumCalls] {
				if int(c.Parent) >= j || c.Parent < -1 {
					t.Fatal("parent is not before its call")
				}
				text = d.AppendName(text[:0], c.Name)
				_ = tree.Ranges[c.First : c.First+c.N]
			}
		}
		d.UnitText(i, dwarf.AttrName)
		readNodes(d.Nodes(i))
	}
}

// readNodes reads everything about the DIEs of a unit.
func readNodes(c *dwarf.Nodes) {
	root, ok := c.Root()
	if !ok {
		return
	}
	c.Walk(&root, func(n *dwarf.Node, _ int) bool {
		c.Name(n)
		c.Ranges(n)
		c.Address(n, dwarf.AttrLowPC)
		if t, ok := c.Refer(n, dwarf.AttrType); ok {
			t.Number(dwarf.AttrByteSize)
		}
		c.Locations(n, dwarf.AttrLocation, func(x dwarf.Expression) bool {
			x.FrameOffset(x.Register())
			return true
		})
		x := n.Expression(dwarf.AttrLocation)
		x.FrameOffset(x.Register())
		c.Fixed(x)
		return c.UnitOf(n) >= 0
	})
}

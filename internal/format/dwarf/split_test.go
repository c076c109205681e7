package dwarf_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"symbolon/internal/fixture"
	"symbolon/internal/format/dwarf"
)

// skeleton returns a file with two skeletons, of ids 0x11 and 0x22, and their two
// units, each in a file of its own. Strings, addresses and
// ranges of the units are all found by indexes.
func skeleton(version int) (*fixture.Dwarf, [2]*fixture.Dwarf) {
	d := little()
	var dwos [2]*fixture.Dwarf
	for i := range dwos {
		s := little()
		low := uint64(0x1000 * (i + 1))
		addrs := d.AddrTable(8, low, low+0x40, low+0x80)
		skel := &die{Tag: tSkeleton, Attrs: attrs{{aLow, fAddr, low}, {aDir, fString, "/build"}, {aStmt, fSecOffset, i}}}
		unit := &die{Tag: tUnit, Attrs: attrs{{aLang, fData1, langCpp}, {aName, fGNUStr, 2}}}
		names := []uint64{s.Strp("pad"), s.Strp(fmt.Sprint("_Zf", i)), s.Strp(fmt.Sprint("unit", i))}
		a, str, list := fAddrx, fStrx1, fRnglistx
		su := &fixture.DwarfUnit{Version: version, AddrSize: 8, Root: unit}
		mu := &fixture.DwarfUnit{Version: version, AddrSize: 8, Root: skel}
		id := uint64(0x11 * (i + 1))
		where := uint64(1)
		if version >= 5 {
			s.StrOffsetsTable(5, false, names...)
			pairs := slices.Concat(s.RangeEntry(8, 4, uint64(0x10+i), 0x20), s.RangeEntry(8, 3, 2, 4), []byte{0})
			s.RnglistsTable(false, 8, []byte{0}, pairs)
			su.Type, su.ID, mu.Type, mu.ID = 5, id, 4, id
			skel.Attrs = append(skel.Attrs, attrs{{aDwoName, fString, fmt.Sprint(i, ".dwo")}, {aAddrBase, fSecOffset, addrs}}...)
		} else {
			s.StrOffsetsTable(0, false, names...)
			base := d.RangesList(8, 0x10, 0x20, low, low) // not where it is looked for
			at := d.RangesList(8, uint64(0x10+i), 0x20, uint64(top), 0, low+0x80, low+0x84)
			where = at - base
			a, str, list = fGNUAddr, fGNUStr, fSecOffset
			unit.Attrs = append(unit.Attrs, fixture.DwarfAttr{aGNUDwoID, fData8, id})
			skel.Attrs = append(skel.Attrs, attrs{{aGNUDwoID, fData8, id}, {aGNUDwoName, fString, fmt.Sprint(i, ".dwo")},
				{aGNUAddrBase, fSecOffset, addrs}, {aGNURangesBase, fSecOffset, base}}...)
			skel.Tag = tUnit
		}
		g := &die{Tag: tSub, Attrs: attrs{{aName, fString, "g"}}}
		unit.Kids = []*die{
			named(tSpace, "n", g),
			{Tag: tSub, Attrs: attrs{{aLinkage, str, 1}, {aLow, a, 0}, {aHigh, fData4, 0x30}}, Kids: []*die{
				{Tag: tInlined, Attrs: attrs{{aOrigin, fRef4, g}, {aRanges, list, where}, {aLine, fData1, 9}}}}},
			{Tag: tSub, Attrs: attrs{{aSpec, fRef4, g}, {aLow, a, 1}, {aHigh, a, 2}}},
		}
		s.Unit(su, nil)
		s.Finish()
		d.Unit(mu, nil)
		dwos[i] = s
	}
	return d, dwos
}

func splitSections(d *fixture.Dwarf) dwarf.Sections {
	s := sections(d)
	s.Split = true
	return s
}

const splitTree = `
	_Zf0 1000-1030
	 n::g 1010-1020 1080-1084 at 0:9:0
	n::g 1040-1080
	_Zf1 2000-2030
	 n::g 2011-2020 2080-2084 at 0:9:0
	n::g 2040-2080
	`

func TestSplitUnits(t *testing.T) {
	for version := 4; version <= 5; version++ {
		main, dwos := skeleton(version)
		d := dwarf.Open(sections(main), 0)
		expect(t, show(t, d), "")
		missing := d.Missing()
		if len(missing) != 2 || missing[1].Unit != 1 || missing[1].DwoID != 0x22 || string(missing[1].Name) != "1.dwo" || string(missing[1].Dir) != "/build" {
			t.Errorf("missing %+v", missing)
		}
		for i, dwo := range dwos {
			split := dwarf.Open(splitSections(dwo), 2+i)
			if split.Units()[0].Kind != dwarf.UnitSplit || len(split.Problems()) != 0 {
				t.Errorf("unit is %+v, %v", split.Units()[0], split.Problems())
			}
			if n := d.Attach(split); n != 1 {
				t.Errorf("%d units attached", n)
			}
		}
		expect(t, show(t, d), splitTree)
		u := d.Units()[1]
		if len(d.Missing()) != 0 || u.Kind != dwarf.UnitSkeleton || u.Lang != langCpp || u.LineOff != 1 || !u.HasLines {
			t.Errorf("unit is %+v", u)
		}
		if name := d.UnitText(1, dwarf.AttrName); string(name) != "unit1" {
			t.Errorf("unit is called %q", name)
		}
	}
}

// dwp packs the files of split units into one with an index.
func dwp(version int, dwos [2]*fixture.Dwarf) dwarf.Sections {
	p := little()
	columns := []uint32{1, 3, 6, 8}
	if version < 5 {
		columns = []uint32{3, 1, 6, 8} // 8 is of macros
	}
	var rows []fixture.DwpRow
	for i, s := range dwos {
		at := map[uint32][2]int{1: {len(p.Info), len(s.Info)}, 3: {len(p.Abbrev), len(s.Abbrev)}, 6: {len(p.StrOffsets), len(s.StrOffsets)}, 8: {len(p.Rnglists), len(s.Rnglists)}}
		r := fixture.DwpRow{ID: uint64(0x11 * (i + 1))}
		for _, c := range columns {
			r.Offs, r.Sizes = append(r.Offs, uint32(at[c][0])), append(r.Sizes, uint32(at[c][1]))
		}
		rows = append(rows, r)
		// Strings are common to all: their offsets are moved.
		head := 0
		if version >= 5 {
			head = 8
		}
		offs := slices.Clone(s.StrOffsets)
		for j := head; j < len(offs); j += 4 {
			binary.LittleEndian.PutUint32(offs[j:], binary.LittleEndian.Uint32(offs[j:])+uint32(len(p.Str)))
		}
		p.Info, p.Abbrev, p.Str = append(p.Info, s.Info...), append(p.Abbrev, s.Abbrev...), append(p.Str, s.Str...)
		p.StrOffsets, p.Rnglists = append(p.StrOffsets, offs...), append(p.Rnglists, s.Rnglists...)
	}
	slices.Reverse(rows) // as a hash table has them
	index := 2
	if version >= 5 {
		index = 5
	}
	s := splitSections(p)
	s.CUIndex = fixture.DwpIndex(p.Order, index, columns, rows)
	return s
}

func TestSplitUnitsInPackage(t *testing.T) {
	for version := 4; version <= 5; version++ {
		main, dwos := skeleton(version)
		d := dwarf.Open(sections(main), 0)
		split := dwarf.Open(dwp(version, dwos), 2)
		if n := d.Attach(split); n != 2 || len(split.Problems()) != 0 {
			t.Errorf("%d units attached, %v", n, split.Problems())
		}
		expect(t, show(t, d), splitTree)
	}
}

func TestDamagedIndexIsReported(t *testing.T) {
	_, dwos := skeleton(5)
	for what, damage := range map[string]func([]byte) []byte{
		"version":    func(b []byte) []byte { b[0] = 9; return b },
		"columns":    func(b []byte) []byte { b[4] = 200; return b },
		"no columns": func(b []byte) []byte { b[4], b[11] = 0, 0xff; return b },
		"units":      func(b []byte) []byte { b[10] = 200; return b },
		"slots":      func(b []byte) []byte { b[15] = 200; return b },
		"length":     func(b []byte) []byte { return b[:len(b)-1] },
		"header":     func(b []byte) []byte { return b[:7] },
	} {
		s := dwp(5, dwos)
		s.CUIndex = damage(s.CUIndex)
		problems := dwarf.Open(s, 2).Problems()
		if len(problems) == 0 || problems[0].Section != ".debug_cu_index" {
			t.Errorf("%s: %v", what, problems)
		}
	}
}

func TestScopesInSplitTypeUnits(t *testing.T) {
	main, s := little(), little()
	typ := named(tClass, "Typed")
	m := &die{Tag: tSub, Attrs: attrs{{aName, fString, "m"}}}
	s.Unit(&fixture.DwarfUnit{Version: 5, AddrSize: 8, Type: 6, ID: 77, TypeDie: typ, Root: &die{Tag: tTypeUnit, Kids: []*die{named(tSpace, "ns", typ)}}}, nil)
	first, table := uint32(len(s.Info)), uint32(len(s.Abbrev))
	u := cu(langCpp, &die{Tag: tClass, Attrs: attrs{{aSignature, fSig8, 77}}, Kids: []*die{m}}, code(0x10, fixture.DwarfAttr{aSpec, fRef4, m}))
	u.Type, u.ID = 5, 0x11
	s.Unit(u, nil)
	main.Unit(&fixture.DwarfUnit{Version: 5, AddrSize: 8, Type: 4, ID: 0x11, Root: &die{Tag: tSkeleton, Attrs: attrs{{aLow, fAddr, 0}}}}, nil)
	// In the package the abbreviations of each unit are its own: those of the
	// units begin at 0, and the index has the offset.
	s.Finish()
	copy(s.Info[first+8:], []byte{0, 0, 0, 0})
	x := splitSections(s)
	x.TUIndex = fixture.DwpIndex(s.Order, 5, []uint32{1, 3}, []fixture.DwpRow{{ID: 77, Offs: []uint32{0, 0}, Sizes: []uint32{first, table}}})
	x.CUIndex = fixture.DwpIndex(s.Order, 5, []uint32{1, 3}, []fixture.DwpRow{{ID: 0x11, Offs: []uint32{first, table}, Sizes: []uint32{uint32(len(s.Info)) - first, 1}}})
	d := dwarf.Open(sections(main), 0)
	d.Attach(dwarf.Open(x, 2))
	expect(t, show(t, d), "ns::Typed::m 10-20\n")
}

package dwarf_test

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"symbolon/internal/fixture"
	"symbolon/internal/format/dwarf"
)

const top = 1<<64 - 1

// listed returns a function with a range list.
func listed(form, value any) *die {
	return &die{Tag: tSub, Attrs: attrs{{aName, fString, "f"}, {aRanges, form, value}}}
}

// based adds attributes to the root of a unit.
func based(u *fixture.DwarfUnit, more ...fixture.DwarfAttr) *fixture.DwarfUnit {
	u.Root.Attrs = append(u.Root.Attrs, more...)
	return u
}

func TestRangeListEntries(t *testing.T) {
	for _, wide := range []bool{false, true} {
		d := little()
		addrs := d.AddrTable(8, 0x1000, 0x2000, 0x2010, top)
		e := func(kind byte, n ...uint64) []byte { return d.RangeEntry(8, kind, n...) }
		list := slices.Concat(
			e(4, 0x10, 0x20),    // offset pair from the low_pc of the unit
			e(1, 0), e(4, 1, 2), // base from the table of addresses
			e(2, 1, 2), e(3, 1, 4), // start and end, start and length from there
			e(5, 0x5000), e(4, 4, 8), // base
			e(6, 0x7000, 0x7010), e(7, 0x8000, 0x20), // start and end, start and length
			e(1, 3), e(4, 5, 9), // base thrown away
			e(1, 9), e(4, 1, 2), // base not there
			e(2, 3, 2), e(3, 9, 2), e(2, 1, 9), // ends not there
			e(6, 0x10, 0x10), e(6, 0x20, 0x10), e(6, 0, 0x10), e(7, top-1, 1), e(7, top, 1), e(7, 0x9000, top), // no code
			e(5, top-1), e(4, 5, 9),
			e(0), e(6, 1, 2),
		)
		base := d.RnglistsTable(wide, 8, []byte{0}, list)
		off := binary.Size(uint32(0))
		if wide {
			off = 8
		}
		u := based(cu(langC, listed(fRnglistx, 1), listed(fSecOffset, base+uint64(2*off+1))),
			fixture.DwarfAttr{aLow, fAddr, 0x100}, fixture.DwarfAttr{aAddrBase, fSecOffset, addrs}, fixture.DwarfAttr{aRnglistsBase, fSecOffset, base})
		u.Wide = wide
		d.Unit(u, nil)
		want := "f 110-120 1001-1002 2000-2010 2000-2004 5004-5008 7000-7010 8000-8020\n"
		expect(t, show(t, dwarf.Open(sections(d), 0)), want+want)
	}
}

func TestOldRangeLists(t *testing.T) {
	for _, size := range []int{4, 8} {
		greatest := uint64(top) >> (64 - 8*size)
		d := little()
		off := d.RangesList(size, 0x10, 0x20, greatest, 0x4000, 1, 2, 5, 5, greatest, greatest-1, 5, 9, greatest, greatest, 5, 9, greatest, 0, 0x30, 0x40, 0, 8, 1, 1, greatest-1, greatest-1)
		u := based(cu(langC, listed(fSecOffset, off)), fixture.DwarfAttr{aLow, fAddr, 0x100})
		u.Version, u.AddrSize = 4, size
		d.Unit(u, nil)
		expect(t, show(t, dwarf.Open(sections(d), 0)), "f 110-120 4001-4002 30-40\n")
	}
}

// A list that cannot be read in full costs the ranges from there on.
func TestDamageOfRangeListsIsReported(t *testing.T) {
	const told = "DIE has a damaged range list"
	for what, list := range map[string][]byte{
		"kind": {4, 1, 2, 9, 0}, "number": {4, 1, 2, 4, 0x80}, "end": {4, 1, 2},
	} {
		d := little()
		base := d.RnglistsTable(false, 8, list)
		d.Unit(based(cu(langC, listed(fRnglistx, 0)), fixture.DwarfAttr{aLow, fAddr, 0x100}, fixture.DwarfAttr{aRnglistsBase, fSecOffset, base}), nil)
		if got := show(t, dwarf.Open(sections(d), 0)); !strings.Contains(got, told) || !strings.HasSuffix(got, "\nf 101-102\n") {
			t.Errorf("%s: got %s", what, got)
		}
	}
	for _, version := range []int{4, 5} {
		d := little()
		d.RangesList(8, 1, 2)
		d.RnglistsTable(false, 8, []byte{0})
		u := cu(langC, listed(fSecOffset, 1<<20), fn("g", 0x10, 0x20))
		u.Version = version
		d.Unit(u, nil)
		if got := show(t, dwarf.Open(sections(d), 0)); !strings.Contains(got, told) || !strings.HasSuffix(got, "\ng 10-20\n") {
			t.Errorf("a list beyond the section of version %d: got %s", version, got)
		}
	}
}

func TestFormsOfLowAndHigh(t *testing.T) {
	d := little()
	base := d.AddrTable(8, 0x1000, 0x1080)
	var kids []*die
	for _, low := range []int{fAddrx, fAddrx1, fAddrx2, fAddrx3, fAddrx4, fGNUAddr} {
		for _, high := range []fixture.DwarfAttr{{aHigh, fData1, 0x80}, {aHigh, fSdata, 0x80}, {aHigh, fAddr, 0x1080}, {aHigh, low, 1}, {aHigh, fImplicit, 0x80}, {aHigh, fData8, 0x80}} {
			kids = append(kids, &die{Tag: tSub, Attrs: attrs{{aName, fString, "f"}, {aLow, low, 0}, high}})
		}
	}
	kids = append(kids,
		&die{Tag: tSub, Attrs: attrs{{aLow, 0x2001, []byte{0, 4, 0, 0, 0}}, {aHigh, fData1, 1}}}, // an address with an offset
		&die{Tag: tSub, Attrs: attrs{{aLow, fAddrx, 2}, {aHigh, fData1, 1}}},
		&die{Tag: tSub, Attrs: attrs{{aLow, fAddrx, 0}, {aHigh, fAddrx, 2}}},
		&die{Tag: tSub, Attrs: attrs{{aLow, fData4, 4}, {aHigh, fData1, 1}}},
		&die{Tag: tSub, Attrs: attrs{{aLow, fAddr, 0x1000}}},
		&die{Tag: tSub, Attrs: attrs{{aLow, fAddr, 0x1000}, {aHigh, fSdata, -16}}},
	)
	d.Unit(based(cu(langC, kids...), fixture.DwarfAttr{aAddrBase, fSecOffset, base}), nil)
	expect(t, show(t, dwarf.Open(sections(d), 0)), strings.Repeat("f 1000-1080\n", 36)+" 1004-1005\n")
}

func TestAddressZeroOnlyInRelocatableFiles(t *testing.T) {
	leaf := named(tSub, "leaf")
	s := sections(one(cu(langC, leaf, fn("f", 0, 0x10, call(leaf, 4, 8, 1)), fn("g", 0x10, 0x20))))
	expect(t, show(t, dwarf.Open(s, 0)), "g 10-20\n")
	s.Relocatable = true
	expect(t, show(t, dwarf.Open(s, 0)), "f 0-10\n leaf 4-8 at 3:1:7\ng 10-20\n")
}

func TestRangesOfUnitsAreSortedAndMerged(t *testing.T) {
	d := little()
	e := func(n ...uint64) []byte { return d.RangeEntry(8, 6, n...) }
	base := d.RnglistsTable(false, 8, slices.Concat(e(0x50, 0x60), e(0x10, 0x20), e(0x20, 0x30), e(0x18, 0x1c), e(0, 0x10), []byte{0}))
	d.Unit(based(cu(langC), fixture.DwarfAttr{aRanges, fRnglistx, 0}, fixture.DwarfAttr{aRnglistsBase, fSecOffset, base}), nil)
	d.Unit(cu(langC), nil)
	units := dwarf.Open(sections(d), 0).Units()
	if want := []dwarf.Range{{Start: 0x10, End: 0x30}, {Start: 0x50, End: 0x60}}; !slices.Equal(units[0].Ranges, want) || len(units[1].Ranges) != 0 {
		t.Errorf("got %x and %x", units[0].Ranges, units[1].Ranges)
	}
}

// A shared range list can expand a small file to large output.
func TestSharedRangeListIsLimited(t *testing.T) {
	d := little()
	var list []byte
	for range 20000 {
		list = append(list, d.RangeEntry(8, 6, 0x10, 0x20)...)
	}
	base := d.RnglistsTable(false, 8, append(list, 0))
	kids := make([]*die, 5000)
	for i := range kids {
		kids[i] = &die{Tag: tSub, Attrs: attrs{{aRanges, fRnglistx, 0}}}
	}
	d.Unit(based(cu(langC, kids...), fixture.DwarfAttr{aRnglistsBase, fSecOffset, base}), nil)
	var w dwarf.Walker
	tree, err := w.Walk(dwarf.Open(sections(d), 0), 0)
	if err == nil || !strings.Contains(err.Error(), "range lists") || len(tree.Ranges) > 60000 {
		t.Errorf("%d ranges, %v", len(tree.Ranges), err)
	}
	for range 3000 {
		u := based(cu(langC), fixture.DwarfAttr{aRanges, fRnglistx, 0}, fixture.DwarfAttr{aRnglistsBase, fSecOffset, base})
		d.Unit(u, nil)
	}
	data := dwarf.Open(sections(d), 0)
	n := 0
	for _, u := range data.Units() {
		n += len(u.Ranges)
	}
	if len(data.Problems()) == 0 || n > 200 {
		t.Errorf("%d ranges, %d problems", n, len(data.Problems()))
	}
}

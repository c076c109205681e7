package dwarf_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"symbolon/internal/fixture"
	"symbolon/internal/format/dwarf"
)

// Short names of tags, attributes and forms for trees in tests.
const (
	tClass, tEnum, tBlock, tUnit, tStruct, tInlined, tSub, tSpace = 0x02, 0x04, 0x0b, 0x11, 0x13, 0x1d, 0x2e, 0x39
	tPartial, tImported, tParam, tTypeUnit, tSkeleton             = 0x3c, 0x3d, 0x05, 0x41, 0x4a

	aSibling, aName, aStmt, aLow, aHigh, aLang, aDir, aProducer = 0x01, 0x03, 0x10, 0x11, 0x12, 0x13, 0x1b, 0x25
	aDecl, aOrigin, aSpec, aEntry, aRanges                      = 0x3c, 0x31, 0x47, 0x52, 0x55
	aColumn, aFile, aLine, aSignature, aLinkage                 = 0x57, 0x58, 0x59, 0x69, 0x6e
	aStrBase, aAddrBase, aRnglistsBase, aDwoName, aLangName     = 0x72, 0x73, 0x74, 0x76, 0x90
	aGNUDwoName, aGNUDwoID, aGNURangesBase, aGNUAddrBase        = 0x2130, 0x2131, 0x2132, 0x2133

	fAddr, fBlock2, fBlock4, fData2, fData4, fData8, fString, fBlock   = 0x01, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09
	fBlock1, fData1, fFlag, fSdata, fStrp, fUdata, fRefAddr            = 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10
	fRef1, fRef2, fRef4, fRef8, fRefUdata, fIndirect, fSecOffset       = 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17
	fExprloc, fPresent, fStrx, fAddrx, fRefSup4, fStrpSup, fData16     = 0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e
	fLineStrp, fSig8, fImplicit, fLoclistx, fRnglistx, fRefSup8        = 0x1f, 0x20, 0x21, 0x22, 0x23, 0x24
	fStrx1, fStrx2, fStrx3, fStrx4, fAddrx1, fAddrx2, fAddrx3, fAddrx4 = 0x25, 0x26, 0x27, 0x28, 0x29, 0x2a, 0x2b, 0x2c
	fGNUAddr, fGNUStr, fGNURefAlt, fGNUStrpAlt                         = 0x1f01, 0x1f02, 0x1f20, 0x1f21

	langC, langCpp, langGo, langRust = 0x02, 0x04, 0x16, 0x1c
)

type (
	attrs = []fixture.DwarfAttr
	die   = fixture.DIE
)

// sections returns the sections of a finished fixture.
func sections(d *fixture.Dwarf) dwarf.Sections {
	d.Finish()
	return dwarf.Sections{
		Info: d.Info, Types: d.Types, Abbrev: d.Abbrev, LineStr: d.LineStr, Str: d.Str,
		StrOffsets: d.StrOffsets, Addr: d.Addr, Ranges: d.Ranges, Rnglists: d.Rnglists, Order: d.Order,
	}
}

func little() *fixture.Dwarf { return &fixture.Dwarf{Order: binary.LittleEndian} }

// cu returns a unit of version 5 with 8-byte addresses.
func cu(lang int, kids ...*die) *fixture.DwarfUnit {
	return &fixture.DwarfUnit{Version: 5, AddrSize: 8, Root: &die{Tag: tUnit, Attrs: attrs{{aLang, fData2, lang}}, Kids: kids}}
}

// one returns a file of consecutive units.
func one(units ...*fixture.DwarfUnit) *fixture.Dwarf {
	d := little()
	for i, u := range units {
		d.Unit(u, units[max(i-1, 0)])
	}
	return d
}

// fn returns a function with a name.
func fn(name string, low, high int, kids ...*die) *die {
	return &die{Tag: tSub, Attrs: attrs{{aName, fString, name}, {aLow, fAddr, low}, {aHigh, fData4, high - low}}, Kids: kids}
}

// call returns an inlined call with a line.
func call(of *die, low, high, line int, kids ...*die) *die {
	return &die{Tag: tInlined, Attrs: attrs{
		{aOrigin, fRef4, of}, {aLow, fAddr, low}, {aHigh, fUdata, high - low},
		{aFile, fData1, 3}, {aLine, fData2, line}, {aColumn, fImplicit, 7},
	}, Kids: kids}
}

// named returns a DIE with a name.
func named(tag uint64, name string, kids ...*die) *die {
	return &die{Tag: tag, Attrs: attrs{{aName, fString, name}}, Kids: kids}
}

// show formats the functions and calls of all units: a line for each, calls
// indented by depth.
func show(t *testing.T, d *dwarf.Data) string {
	t.Helper()
	var w dwarf.Walker
	var s strings.Builder
	for i := range d.Units() {
		tree, err := w.Walk(d, i)
		if err != nil {
			fmt.Fprintf(&s, "! %v\n", err)
		}
		for _, f := range tree.Funcs {
			fmt.Fprintf(&s, "%s%s\n", d.AppendName(nil, f.Name), spans(tree, f.First, f.N))
			calls := tree.Calls[f.Calls : f.Calls+f.NumCalls]
			for j, c := range calls {
				if int(c.Parent) >= j {
					t.Fatalf("parent %d of call %d is not before it", c.Parent, j)
				}
				deep := 1
				for p := c.Parent; p >= 0; p = calls[p].Parent {
					deep++
				}
				fmt.Fprintf(&s, "%s%s%s at %d:%d:%d\n", strings.Repeat(" ", deep), d.AppendName(nil, c.Name), spans(tree, c.First, c.N), int32(c.File), c.Line, c.Column)
			}
		}
	}
	return s.String()
}

func spans(t *dwarf.Tree, first, n int32) string {
	var s strings.Builder
	for _, r := range t.Ranges[first : first+n] {
		fmt.Fprintf(&s, " %x-%x", r.Start, r.End)
	}
	return s.String()
}

func expect(t *testing.T, got, want string) {
	t.Helper()
	want = strings.ReplaceAll(strings.TrimPrefix(want, "\n"), "\t", "")
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// mixture returns a file with functions, calls in blocks, calls without code, and
// a nested function.
func mixture(version, addrSize int, wide bool, order binary.ByteOrder) *fixture.Dwarf {
	d := &fixture.Dwarf{Order: order}
	leaf := &die{Tag: tSub, Attrs: attrs{{aName, fStrp, d.Strp("leaf")}, {0x20, fData1, 1}}, Kids: []*die{named(tParam, "x")}}
	mid := &die{Tag: tSub, Attrs: attrs{{aLinkage, fStrp, d.Strp("_Z3midv")}, {aName, fString, "mid"}}}
	if version < 4 {
		mid.Attrs[0][0] = 0x2007 // DW_AT_MIPS_linkage_name
	}
	in := func(of *die, low, high, line int, kids ...*die) *die {
		c := call(of, low, high, line, kids...)
		if c.Attrs[5] = (fixture.DwarfAttr{aColumn, fData1, 7}); version < 4 {
			c.Attrs[2] = fixture.DwarfAttr{aHigh, fAddr, high}
		}
		return c
	}
	empty := in(mid, 0x1040, 0x1040, 9, in(leaf, 0x1040, 0x1044, 7))
	noCode := &die{Tag: tInlined, Attrs: attrs{{aOrigin, fRef4, mid}}, Kids: []*die{in(leaf, 0x1030, 0x1034, 5)}}
	inner := &die{Tag: tSub, Attrs: attrs{{aName, fString, "inner"}, {aLow, fAddr, 0x2000}, {aHigh, fAddr, 0x2010}},
		Kids: []*die{in(leaf, 0x2004, 0x2008, 6)}}
	outer := &die{Tag: tSub, Attrs: attrs{{aName, fStrp, d.Strp("outer")}, {aLow, fAddr, 0x1000}, {aHigh, fAddr, 0x1100}}, Kids: []*die{
		named(tParam, "argument"),
		{Tag: tBlock, Attrs: attrs{{aLow, fAddr, 0x1010}}, Kids: []*die{
			in(mid, 0x1010, 0x1020, 1, in(leaf, 0x1014, 0x1018, 2), in(leaf, 0x1018, 0x101c, 3)),
		}},
		inner,
		in(mid, 0x1020, 0x1028, 4),
		noCode, empty,
	}}
	u := &fixture.DwarfUnit{Version: version, AddrSize: addrSize, Wide: wide, Root: &die{Tag: tUnit, Attrs: attrs{
		{aName, fString, "a.c"}, {aLang, fData1, langC}, {aLow, fAddr, 0x1000}, {aHigh, fAddr, 0x2010}, {aStmt, fData4, 0x77},
	}, Kids: []*die{leaf, mid, outer}}}
	d.Unit(u, nil)
	return d
}

const mixed = `
	outer 1000-1100
	 _Z3midv 1010-1020 at 3:1:7
	  leaf 1014-1018 at 3:2:7
	  leaf 1018-101c at 3:3:7
	 _Z3midv 1020-1028 at 3:4:7
	 _Z3midv at -1:0:0
	  leaf 1030-1034 at 3:5:7
	 leaf 1040-1044 at 3:7:7
	inner 2000-2010
	 leaf 2004-2008 at 3:6:7
	`

func TestTreeOfEveryVersionSizeAndOrder(t *testing.T) {
	for _, version := range []int{2, 3, 4, 5} {
		for _, addr := range []int{2, 4, 8} {
			for _, wide := range []bool{false, true} {
				for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
					d := dwarf.Open(sections(mixture(version, addr, wide, order)), 0)
					if len(d.Problems()) != 0 {
						t.Fatal(version, addr, wide, order, d.Problems())
					}
					expect(t, show(t, d), mixed)
					u := d.Units()[0]
					if int(u.Version) != version || int(u.AddrSize) != addr || u.LineOff != 0x77 || !u.HasLines || u.Lang != langC {
						t.Errorf("unit is %+v", u)
					}
					if len(u.Ranges) != 1 || u.Ranges[0] != (dwarf.Range{Start: 0x1000, End: 0x2010}) {
						t.Errorf("ranges of the unit are %x", u.Ranges)
					}
				}
			}
		}
	}
}

func TestCallsAfterNestedFunction(t *testing.T) {
	leaf := named(tSub, "leaf")
	deepest := fn("deepest", 0x200, 0x210, call(leaf, 0x200, 0x204, 4, call(leaf, 0x200, 0x202, 5)))
	inner := fn("inner", 0x100, 0x110, call(leaf, 0x100, 0x104, 2), named(tSub, "abstract", deepest, call(leaf, 0x104, 0x106, 6)), call(leaf, 0x106, 0x108, 7))
	f := fn("outer", 0x10, 0x90, call(leaf, 0x10, 0x12, 1), named(tSub, "abstract", inner), call(leaf, 0x20, 0x22, 3))
	expect(t, show(t, dwarf.Open(sections(one(cu(langC, leaf, f, fn("last", 0x300, 0x310, call(leaf, 0x300, 0x304, 8))))), 0)), `
	outer 10-90
	 leaf 10-12 at 3:1:7
	 leaf 20-22 at 3:3:7
	inner 100-110
	 leaf 100-104 at 3:2:7
	 leaf 106-108 at 3:7:7
	deepest 200-210
	 leaf 200-204 at 3:4:7
	  leaf 200-202 at 3:5:7
	last 300-310
	 leaf 300-304 at 3:8:7
	`)
}

// everyForm returns a file with a DIE and two functions that have an attribute of
// every form.
func everyForm(wide bool) *fixture.Dwarf {
	d := little()
	text := d.Strp("text")
	odd := &die{Tag: tParam, Attrs: attrs{
		{1000, fAddr, 1}, {1001, fBlock2, []byte{1, 2}}, {1002, fBlock4, []byte{1}}, {1003, fData2, 1}, {1004, fData4, 1},
		{1005, fData8, 1}, {1006, fString, "abc"}, {1007, fBlock, make([]byte, 200)}, {1008, fBlock1, make([]byte, 200)},
		{1009, fData1, 1}, {1010, fFlag, 1}, {1011, fSdata, -300}, {1012, fStrp, text}, {1013, fUdata, 1 << 40},
		{1014, fRefAddr, 1}, {1015, fRef1, 1}, {1016, fRef2, 1}, {1017, fRef4, 1}, {1018, fRef8, 1}, {1019, fRefUdata, 500},
		{1020, fIndirect, append([]byte{fUdata}, 0x80, 1)}, {1021, fSecOffset, 1}, {1022, fExprloc, []byte{1, 2, 3}},
		{1023, fPresent, 1}, {1024, fStrx, 300}, {1025, fAddrx, 300}, {1026, fRefSup4, 1}, {1027, fStrpSup, 1},
		{1028, fData16, make([]byte, 16)}, {1029, fLineStrp, 1}, {1030, fSig8, 1}, {1031, fImplicit, -70}, {1032, fLoclistx, 300},
		{1033, fRnglistx, 300}, {1034, fRefSup8, 1}, {1035, fStrx1, 1}, {1036, fStrx2, 1}, {1037, fStrx3, 1}, {1038, fStrx4, 1},
		{1039, fAddrx1, 1}, {1040, fAddrx2, 1}, {1041, fAddrx3, 1}, {1042, fAddrx4, 1}, {1043, fGNUAddr, 300}, {1044, fGNUStr, 300},
		{1045, fGNURefAlt, 1}, {1046, fGNUStrpAlt, 1}, {1047, fIndirect, append([]byte{fString}, "abc\x00"...)},
		{1048, fIndirect, []byte{fData2, 1, 2}}, {1049, 0x2001, []byte{0x81, 1, 9, 9, 9, 9}},
		{1050, fExprloc, make([]byte, 200)},
	}}
	// The same among the attributes of a function, where some are captured.
	f := fn("f", 0x10, 0x20)
	f.Attrs = append(append(attrs{{aEntry, fData1, 4}}, odd.Attrs...), f.Attrs...)
	u := cu(langC, odd, f, fn("g", 0x30, 0x40))
	u.Wide = wide
	d.Unit(u, nil)
	return d
}

func TestEveryFormIsSkipped(t *testing.T) {
	for _, wide := range []bool{false, true} {
		data := dwarf.Open(sections(everyForm(wide)), 0)
		expect(t, show(t, data), "\n\tf 10-20\n\tg 30-40\n\t")
		var w dwarf.Walker
		if tree, _ := w.Walk(data, 0); tree.Funcs[0].Entry != 0x14 || tree.Funcs[1].Entry != 0x30 {
			t.Errorf("functions are entered at %#x and %#x", tree.Funcs[0].Entry, tree.Funcs[1].Entry)
		}
	}
}

func TestIndirectAndImplicitValues(t *testing.T) {
	f := &die{Tag: tSub, Attrs: attrs{
		{aName, fIndirect, append([]byte{fString}, "f\x00"...)},
		{aName, fString, "the first of two counts"},
		{aLow, fIndirect, []byte{fAddr, 0x10, 0, 0, 0, 0, 0, 0, 0}},
		{aHigh, fImplicit, 0x30},
	}}
	expect(t, show(t, dwarf.Open(sections(one(cu(langC, f))), 0)), "\n\tf 10-40\n\t")
}

func TestSiblingsAreFollowedOnlyWithoutCode(t *testing.T) {
	skip := func(tag uint64, form uint64, kids ...*die) *die {
		return &die{Tag: tag, Attrs: attrs{{1000, fExprloc, []byte{1}}, {aSibling, form, fixture.Sibling{}}}, Kids: kids}
	}
	for _, form := range []uint64{fRef1, fRef2, fRef4, fRef8} {
		tree := func(lang int) string {
			return show(t, dwarf.Open(sections(one(cu(lang,
				skip(tStruct, form, fn("in struct", 0x10, 0x20)),
				skip(tSub, form, fn("in declaration", 0x30, 0x40)),
				skip(tEnum, form, fn("in enum", 0x50, 0x60)),
				skip(0x01, form, fn("in array", 0x70, 0x80)),
				skip(tSpace, form, fn("in namespace", 0x90, 0xa0)),
				&die{Tag: tEnum, Attrs: attrs{{aSibling, form, fixture.Sibling{}}}, Kids: []*die{fn("in enum", 0xb0, 0xc0)}},
				fn("after", 0xd0, 0xe0),
			))), 0))
		}
		expect(t, tree(langC), "\n\tin namespace 90-a0\n\tafter d0-e0\n\t")
		expect(t, tree(langCpp), `
		in struct 10-20
		in declaration 30-40
		(anonymous namespace)::in namespace 90-a0
		after d0-e0
		`)
		if got := tree(langRust); !strings.Contains(got, "in enum 50-60") || strings.Contains(got, "in array") {
			t.Errorf("in Rust\n%s", got)
		}
	}
}

func TestBackwardSiblingIsIgnored(t *testing.T) {
	d := one(cu(langC,
		&die{Tag: tStruct, Attrs: attrs{{aSibling, fRef4, 12}}, Kids: []*die{fn("f", 0x10, 0x20)}},
		&die{Tag: tStruct, Attrs: attrs{{aSibling, fRef4, 1 << 30}}, Kids: []*die{fn("g", 0x30, 0x40)}},
	))
	expect(t, show(t, dwarf.Open(sections(d), 0)), "\n\tf 10-20\n\tg 30-40\n\t")
}

func TestDeepCallsAreAttachedToLimit(t *testing.T) {
	leaf := named(tSub, "leaf")
	c := call(leaf, 0x10, 0x20, 1)
	for range 400 {
		c = call(leaf, 0x10, 0x20, 1, c)
	}
	d := dwarf.Open(sections(one(cu(langC, leaf, fn("f", 0x10, 0x20, c)))), 0)
	var w dwarf.Walker
	tree, err := w.Walk(d, 0)
	if err != nil || len(tree.Calls) != 256 {
		t.Errorf("%d calls, %v", len(tree.Calls), err)
	}
}

func TestSharedAbbreviations(t *testing.T) {
	a, b := cu(langC, fn("f", 0x10, 0x20)), cu(langC, fn("g", 0x30, 0x40))
	b.Share = true
	c := cu(langC, fn("h", 0x50, 0x60), named(tParam, "more"))
	expect(t, show(t, dwarf.Open(sections(one(a, b, c)), 0)), "\n\tf 10-20\n\tg 30-40\n\th 50-60\n\t")
}

func TestWalkDoesNotAllocate(t *testing.T) {
	d := dwarf.Open(sections(mixture(5, 8, false, binary.LittleEndian)), 0)
	var w dwarf.Walker
	if n := testing.AllocsPerRun(20, func() { _, _ = w.Walk(d, 0) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

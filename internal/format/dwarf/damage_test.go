package dwarf_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"symbolon/internal/fixture"
	"symbolon/internal/format/dwarf"
)

// three returns a file of three units, and their offsets.
func three() (dwarf.Sections, [3]int) {
	d := little()
	var at [3]int
	for i := range at {
		at[i] = len(d.Info)
		u := cu(langC, fn(fmt.Sprint("f", i), 0x10, 0x20), fn(fmt.Sprint("g", i), 0x20, 0x30))
		u.Version = 3 + i
		d.Unit(u, nil)
	}
	return sections(d), at
}

func TestDamagedUnitIsSkipped(t *testing.T) {
	const first, last = "f0 10-20\ng0 20-30\n", "f2 10-20\ng2 20-30\n"
	for what, c := range map[string]struct {
		damage func(s *dwarf.Sections, u []byte)
		reason string
		tree   string
	}{
		"length too long":    {func(_ *dwarf.Sections, u []byte) { u[2] = 1 }, "unit exceeds", first + "f1 10-20\ng1 20-30\n" + last},
		"length reserved":    {func(_ *dwarf.Sections, u []byte) { copy(u, "\xf5\xff\xff\xff") }, "reserved", first + last},
		"version":            {func(_ *dwarf.Sections, u []byte) { u[4] = 6 }, "version", first + last},
		"version and length": {func(_ *dwarf.Sections, u []byte) { u[2], u[4] = 1, 1 }, "version", first + last},
		"address size":       {func(_ *dwarf.Sections, u []byte) { u[10] = 3 }, "address size", first + last},
		"abbreviations":      {func(_ *dwarf.Sections, u []byte) { u[9] = 1 }, "abbreviations", first + last},
		"too short":          {func(_ *dwarf.Sections, u []byte) { u[0] = 5 }, "header exceeds", first + last},
		"code of the root":   {func(_ *dwarf.Sections, u []byte) { u[11] = 99 }, "no root", first + "! dwarf, .debug_info: malformed: unit at offset %U: at offset %R: unknown abbreviation code\n" + last},
		"code of a function": {func(_ *dwarf.Sections, u []byte) { u[bytes.Index(u, []byte("g1"))-1] = 99 }, "", first + "! dwarf, .debug_info: malformed: unit at offset %U: at offset %G: unknown abbreviation code\nf1 10-20\n" + last},
		"code without end":   {func(_ *dwarf.Sections, u []byte) { fill(u[bytes.Index(u, []byte("g1"))-1:], 0x80) }, "", first + "! dwarf, .debug_info: malformed: unit at offset %U: at offset %G: truncated abbreviation code\nf1 10-20\n" + last},
		"name without end":   {func(_ *dwarf.Sections, u []byte) { fill(u[bytes.Index(u, []byte("g1")):], 'x') }, "", first + "! dwarf, .debug_info: malformed: unit at offset %U: at offset %G: DIE exceeds the unit\nf1 10-20\n" + last},
	} {
		s, at := three()
		c.damage(&s, s.Info[at[1]:at[2]])
		d := dwarf.Open(s, 0)
		d.Units()
		if n := len(d.Problems()); (n > 0) != (c.reason != "") || n > 0 && (d.Problems()[0].Off != uint64(at[1]) || !strings.Contains(d.Problems()[0].Error(), c.reason)) {
			t.Errorf("%s: %v", what, d.Problems())
		}
		want := strings.NewReplacer("%U", hex(at[1]), "%R", hex(at[1]+11), "%G", hex(at[1]+bytes.Index(three1(), []byte("g1"))-1)).Replace(c.tree)
		if got := show(t, d); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", what, got, want)
		}
	}
}

// three1 returns the second unit of three.
func three1() []byte {
	s, at := three()
	return s.Info[at[1]:at[2]]
}

func hex(n int) string { return fmt.Sprintf("%#x", n) }

func fill(b []byte, c byte) {
	for i := range b {
		b[i] = c
	}
}

func TestTruncatedSection(t *testing.T) {
	whole, at := three()
	for n := range whole.Info {
		s := whole
		s.Info = slices.Clip(slices.Clone(whole.Info[:n]))
		d := dwarf.Open(s, 0)
		got := show(t, d)
		if n >= at[2] && !strings.Contains(got, "f0 10-20\ng0 20-30\nf1 10-20\ng1 20-30\n") {
			t.Fatalf("of %d bytes\n%s", n, got)
		}
		if n != 0 && n != at[1] && n != at[2] && len(d.Problems()) == 0 {
			t.Fatalf("%d bytes have no problem", n)
		}
	}
	for n := range whole.Abbrev {
		s := whole
		s.Abbrev = slices.Clip(slices.Clone(whole.Abbrev[:n]))
		if got := show(t, dwarf.Open(s, 0)); !strings.Contains(got, "!") && n < len(whole.Abbrev)-1 && strings.Contains(got, "g2") {
			t.Fatalf("of %d bytes of abbreviations\n%s", n, got)
		}
	}
}

func TestPaddingBetweenUnits(t *testing.T) {
	s, at := three()
	s.Info = slices.Concat(s.Info[:at[1]], make([]byte, 8), s.Info[at[1]:at[2]], make([]byte, 3))
	d := dwarf.Open(s, 0)
	expect(t, show(t, d), "f0 10-20\ng0 20-30\nf1 10-20\ng1 20-30\n")
	if len(d.Problems()) != 0 {
		t.Error(d.Problems())
	}
}

func TestUnknownFormAffectsOnlyItsUsers(t *testing.T) {
	odd := &die{Tag: tParam, Attrs: attrs{{1000, 0x7f, []byte{1, 2}}}}
	d := one(cu(langC, fn("f", 0x10, 0x20), odd, fn("g", 0x20, 0x30)), cu(langC, fn("h", 0x30, 0x40)))
	got := show(t, dwarf.Open(sections(d), 0))
	if !strings.Contains(got, "attribute of unknown form") || !strings.HasSuffix(got, "f 10-20\nh 30-40\n") {
		t.Error(got)
	}
	d = one(cu(langC, fn("f", 0x10, 0x20), &die{Tag: tParam, Attrs: attrs{{1000, fIndirect, []byte{fIndirect, fData1, 0}}}}))
	if got := show(t, dwarf.Open(sections(d), 0)); !strings.Contains(got, "!") || !strings.HasSuffix(got, "f 10-20\n") {
		t.Error(got)
	}
}

func TestAbbreviationCodesInAnyOrder(t *testing.T) {
	d := one(cu(langC, fn("f", 0x10, 0x20), named(tParam, "x")))
	// The codes 1, 2, 3 become 100, 7 and 0x4001.
	abbrev, info := d.Abbrev, d.Info
	abbrev[0], info[12] = 100, 100
	i := bytes.IndexByte(abbrev, 0x2e) - 1
	abbrev[i], info[15] = 7, 7
	j := bytes.LastIndexByte(abbrev, 0x05) - 1
	s := sections(d)
	s.Abbrev = slices.Concat(abbrev[:j], []byte{0x81, 0x80, 0x01}, abbrev[j+1:])
	k := bytes.LastIndexByte(info, 'x') - 1
	s.Info = slices.Concat(info[:k], []byte{0x81, 0x80, 0x01}, info[k+1:])
	s.Info[0] += 2
	expect(t, show(t, dwarf.Open(s, 0)), "f 10-20\n")
}

func TestProblemsAreLimited(t *testing.T) {
	d := little()
	for range 1000 {
		d.Unit(cu(langC), nil)
	}
	s := sections(d)
	s.Abbrev = s.Abbrev[:0]
	if n := len(dwarf.Open(s, 0).Problems()); n != 100 {
		t.Errorf("%d problems", n)
	}
}

// The work for units that share a table, or use overlapping tables, is bounded
// by the size of the section.
func TestManyUnitsWithHugeTables(t *testing.T) {
	d := little()
	for range 60000 {
		d.Abbrev = append(d.Abbrev, 0x80, 0x80, 0x01, 5, 0, 0, 0) // unused
	}
	d.Unit(cu(langC, fn("f", 0x10, 0x20)), nil)
	info := d.Info
	for i := range 20000 {
		u := slices.Clone(info)
		binary.LittleEndian.PutUint32(u[8:], uint32(i%3*7))
		d.Info = append(d.Info, u...)
	}
	began := time.Now()
	data := dwarf.Open(sections(d), 0)
	got := show(t, data)
	if took := time.Since(began); took > 3*time.Second || len(data.Units()) != 20001 {
		t.Errorf("%d units in %v", len(data.Units()), took)
	}
	if !strings.Contains(got, "f 10-20") {
		t.Error("no function found")
	}
}

func TestFamiliesOfLanguages(t *testing.T) {
	for lang, want := range map[uint16]dwarf.Family{
		0x01: dwarf.FamilyC, 0x0c: dwarf.FamilyC, 0x1d: dwarf.FamilyC, 0x2c: dwarf.FamilyC, 0x3e: dwarf.FamilyC, 0x8001: dwarf.FamilyC,
		0x04: dwarf.FamilyCpp, 0x1a: dwarf.FamilyCpp, 0x21: dwarf.FamilyCpp, 0x2a: dwarf.FamilyCpp, 0x2b: dwarf.FamilyCpp, 0x3a: dwarf.FamilyCpp,
		0x10: dwarf.FamilyObjC, 0x11: dwarf.FamilyObjCpp, 0x13: dwarf.FamilyD, 0x16: dwarf.FamilyGo, 0x1c: dwarf.FamilyRust,
		0x1e: dwarf.FamilySwift, 0x0d: dwarf.FamilyAda, 0x1b: dwarf.FamilyOCaml, 0x0e: dwarf.FamilyOther,
	} {
		if got := dwarf.FamilyOf(lang); got != want {
			t.Errorf("language %#x is of family %d, not %d", lang, got, want)
		}
	}
	for name, want := range map[int]uint16{1: 0x0d, 3: 0x02, 4: 0x04, 7: 0x13, 0x0a: 0x16, 0x11: 0x10, 0x12: 0x11, 0x13: 0x1b, 0x14: 0x15, 0x19: 0x1c, 0x1a: 0x1e, 0x1d: 0x31, 0x1e: 0x32, 0x0c: 0} {
		d := one(based(cu(0), fixture.DwarfAttr{aLangName, fData2, name}))
		if got := dwarf.Open(sections(d), 0).Units()[0].Lang; got != want {
			t.Errorf("language name %#x is language %#x, not %#x", name, got, want)
		}
	}
}

package dwarf_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"symbolon/internal/fixture"
	"symbolon/internal/format/dwarf"
)

// code returns a function at an address without a name of its own.
func code(at int, more ...fixture.DwarfAttr) *die {
	return &die{Tag: tSub, Attrs: append(attrs{{aLow, fAddr, at}, {aHigh, fData1, 0x10}}, more...)}
}

func TestLinkageNamesInChain(t *testing.T) {
	d := little()
	decl := &die{Tag: tSub, Attrs: attrs{{aName, fString, "m"}, {aLinkage, fStrp, d.Strp("_ZN1C1mEv")}, {aDecl, fPresent, 1}}}
	abstract := &die{Tag: tSub, Attrs: attrs{{aName, fString, "other"}, {aSpec, fRef4, decl}}}
	u := cu(langCpp, named(tClass, "C", decl), abstract,
		code(0x10, fixture.DwarfAttr{aOrigin, fRefUdata, abstract}, fixture.DwarfAttr{aName, fString, "own"}),
		code(0x20, fixture.DwarfAttr{aSpec, fRefAddr, decl}),
		code(0x30, fixture.DwarfAttr{0x2007, fString, "_Zown"}, fixture.DwarfAttr{aSpec, fRef4, decl}),
		code(0x40, fixture.DwarfAttr{aLinkage, fString, ""}, fixture.DwarfAttr{aSpec, fRef1, decl}))
	d.Unit(u, nil)
	data := dwarf.Open(sections(d), 0)
	expect(t, show(t, data), "_ZN1C1mEv 10-20\n_ZN1C1mEv 20-30\n_Zown 30-40\n_ZN1C1mEv 40-50\n")
	var w dwarf.Walker
	tree, _ := w.Walk(data, 0)
	if tree.Funcs[0].Name != tree.Funcs[1].Name {
		t.Error("one string in .debug_str has two Names")
	}
	for _, f := range tree.Funcs {
		if f.Name&15 == 0 || f.Name&15 > 7 {
			t.Errorf("Name %#x has a foreign kind", uint64(f.Name))
		}
	}
}

func TestNamesWithScope(t *testing.T) {
	method := func(name string) *die {
		return &die{Tag: tSub, Attrs: attrs{{aName, fString, name}, {aDecl, fPresent, 1}}}
	}
	m, h, l, o := method("m"), method("hidden"), method("operator()"), method("run")
	inner := named(tClass, "Inner")
	u := cu(langCpp,
		named(tSpace, "a", named(tSpace, "b", named(tStruct, "C<int>", m), code(0x10, fixture.DwarfAttr{aName, fString, "free"}), inner)),
		&die{Tag: tSpace, Kids: []*die{h}},
		// A class that is declared in one place and defined in another.
		&die{Tag: tClass, Attrs: attrs{{aSpec, fRef4, inner}}, Kids: []*die{o}},
		code(0x20, fixture.DwarfAttr{aSpec, fRef4, m}),
		code(0x30, fixture.DwarfAttr{aSpec, fRef4, h}),
		fn("main", 0x40, 0x50, &die{Tag: tBlock, Kids: []*die{{Tag: tClass, Kids: []*die{l}}}}),
		code(0x50, fixture.DwarfAttr{aSpec, fRef4, l}),
		code(0x60, fixture.DwarfAttr{aSpec, fRef4, o}),
	)
	// The class is local to a function: that does not count as a scope.
	u.Root.Kids = append(u.Root.Kids, named(tSpace, "n", fn("f", 0x70, 0x80, named(tClass, "Local", code(0x80, fixture.DwarfAttr{aName, fString, "g"}))), fn("h", 0x90, 0xa0)))
	expect(t, show(t, dwarf.Open(sections(one(u)), 0)), `
	a::b::free 10-20
	a::b::C<int>::m 20-30
	(anonymous namespace)::hidden 30-40
	main 40-50
	operator() 50-60
	a::b::Inner::run 60-70
	n::f 70-80
	Local::g 80-90
	n::h 90-a0
	`)
}

func TestLanguagesWithoutScope(t *testing.T) {
	for lang, want := range map[int]string{langC: "f", langGo: "f", 0x1d: "f", 0x31: "f", langRust: "s::f", langCpp: "s::f", 0: "s::f"} {
		expect(t, show(t, dwarf.Open(sections(one(cu(lang, named(tStruct, "s", fn("f", 0x10, 0x20))))), 0)), want+" 10-20\n")
	}
}

func TestMethodsOfObjectiveCHaveTheirClassOnce(t *testing.T) {
	m := &die{Tag: tSub, Attrs: attrs{{aName, fString, "-[Jar set::]"}, {aDecl, fPresent, 1}}}
	u := cu(0x11, named(tStruct, "Jar", m), code(0x10, fixture.DwarfAttr{aSpec, fRef4, m}))
	u.Root.Kids = append(u.Root.Kids, named(tStruct, "Jar", fn("+[Jar new]", 0x20, 0x30), fn("-", 0x30, 0x40)))
	expect(t, show(t, dwarf.Open(sections(one(u)), 0)), "-[Jar set::] 10-20\n+[Jar new] 20-30\nJar::- 30-40\n")
}

func TestOriginsInOtherUnits(t *testing.T) {
	d := little()
	m := named(tSub, "m")
	far := cu(langCpp, named(tSpace, "far", m), named(tSub, "c_like"))
	plain := named(tSub, "plain")
	c := cu(langC, named(tStruct, "s", plain))
	d.Unit(far, nil)
	d.Unit(c, nil)
	d.Unit(cu(langRust, code(0x10, fixture.DwarfAttr{aOrigin, fRefAddr, m}), code(0x20, fixture.DwarfAttr{aOrigin, fRefAddr, plain})), nil)
	data := dwarf.Open(sections(d), 0)
	expect(t, show(t, data), "far::m 10-20\nplain 20-30\n")
	var w dwarf.Walker
	tree, _ := w.Walk(data, 2)
	if tree.Funcs[0].Lang != langCpp || tree.Funcs[1].Lang != langC {
		t.Errorf("languages are %#x and %#x, not those of the origins", tree.Funcs[0].Lang, tree.Funcs[1].Lang)
	}
}

func TestReferencesInVersion2(t *testing.T) {
	m := named(tSub, "m")
	u := cu(langC, m, code(0x10, fixture.DwarfAttr{aOrigin, fRefAddr, m}), fn("n", 0x30, 0x40))
	u.Version, u.AddrSize = 2, 8
	p := &fixture.DwarfUnit{Version: 4, AddrSize: 8, Root: &die{Tag: tPartial, Kids: []*die{code(0x20, fixture.DwarfAttr{aOrigin, fRefAddr, m})}}}
	d := dwarf.Open(sections(one(u, p)), 0)
	expect(t, show(t, d), "m 10-20\nn 30-40\nm 20-30\n")
	if k := d.Units()[1].Kind; k != dwarf.UnitPartial {
		t.Errorf("partial unit is of kind %d", k)
	}
}

func TestManyOrigins(t *testing.T) {
	var kids []*die
	var want strings.Builder
	for i := range 5000 {
		m := named(tSub, fmt.Sprint("m", i))
		kids = append(kids, m)
		fmt.Fprintf(&want, "m%d %x-%x\n", i, 0x10*(i+1), 0x10*(i+2))
	}
	for i, m := range kids[:5000] {
		kids = append(kids, code(0x10*(i+1), fixture.DwarfAttr{aOrigin, fRef4, m}))
	}
	expect(t, show(t, dwarf.Open(sections(one(cu(langC, kids...))), 0)), want.String())
}

func TestCyclicChainsTerminate(t *testing.T) {
	a, b := &die{Tag: tSub}, &die{Tag: tSub}
	a.Attrs, b.Attrs = attrs{{aSpec, fRef4, b}}, attrs{{aName, fString, "b"}, {aOrigin, fRef4, a}}
	self := &die{Tag: tSub}
	self.Attrs = attrs{{aSpec, fRef4, self}}
	space := &die{Tag: tSpace, Kids: []*die{fn("f", 0x30, 0x40)}}
	space.Attrs = attrs{{aSpec, fRef4, space}}
	kids := []*die{a, b, self, space, code(0x10, fixture.DwarfAttr{aOrigin, fRef4, a}), code(0x20, fixture.DwarfAttr{aOrigin, fRef4, self}),
		code(0x40, fixture.DwarfAttr{aOrigin, fRef4, 1 << 30}), code(0x50, fixture.DwarfAttr{aOrigin, fRefAddr, 1 << 30}), code(0x60, fixture.DwarfAttr{aOrigin, fSig8, 5})}
	expect(t, show(t, dwarf.Open(sections(one(cu(langCpp, kids...))), 0)), "f 30-40\nb 10-20\n 20-30\n 40-50\n 50-60\n 60-70\n")
}

func TestNamesInFileOfDwz(t *testing.T) {
	for _, gnu := range []bool{true, false} {
		ref, str := fRefSup4, fStrpSup
		if gnu {
			ref, str = fGNURefAlt, fGNUStrpAlt
		}
		d, alt := little(), little()
		m := &die{Tag: tSub, Attrs: attrs{{aLinkage, fStrp, alt.Strp("_ZN1a1mEv")}}}
		scopeless := &die{Tag: tSub, Attrs: attrs{{aName, fStrp, alt.Strp("x")}}}
		alt.Unit(&fixture.DwarfUnit{Version: 5, AddrSize: 8, Type: 3, Root: &die{Tag: tPartial, Kids: []*die{named(tSpace, "a", m, scopeless)}}}, nil)
		d.Strp("not this one")
		d.Unit(cu(langCpp, code(0x10, fixture.DwarfAttr{aOrigin, ref, m}), code(0x20, fixture.DwarfAttr{aOrigin, ref, scopeless}),
			code(0x30, fixture.DwarfAttr{aName, str, alt.Strp("string")})), nil)
		alt.Finish()
		data := dwarf.Open(sections(d), 0)
		expect(t, show(t, data), " 10-20\n 20-30\n 30-40\n")
		data = dwarf.Open(sections(d), 0)
		data.SetAlt(dwarf.Open(sections(alt), 1))
		expect(t, show(t, data), "_ZN1a1mEv 10-20\na::x 20-30\nstring 30-40\n")
		if data.Units()[0].Kind != dwarf.UnitCompile {
			t.Error("unit is not a compile unit")
		}
	}
}

func TestScopesInTypeUnits(t *testing.T) {
	for version := 4; version <= 5; version++ {
		d := little()
		typ := named(tClass, "Typed")
		tu := &fixture.DwarfUnit{Version: version, AddrSize: 8, ID: 0x1234567890abcdef, TypeDie: typ,
			Root: &die{Tag: tTypeUnit, Attrs: attrs{{aLang, fData1, langCpp}}, Kids: []*die{named(tSpace, "ns", typ)}}}
		if tu.Types = version == 4; !tu.Types {
			tu.Type = 2
		}
		m := &die{Tag: tSub, Attrs: attrs{{aName, fString, "m"}}}
		u := cu(langCpp, &die{Tag: tClass, Attrs: attrs{{aDecl, fPresent, 1}, {aSignature, fSig8, uint64(0x1234567890abcdef)}}, Kids: []*die{m}},
			code(0x10, fixture.DwarfAttr{aSpec, fRef4, m}))
		u.Version = version
		d.Unit(u, nil)
		d.Unit(tu, nil)
		data := dwarf.Open(sections(d), 0)
		expect(t, show(t, data), "ns::Typed::m 10-20\n")
		if data.Units()[1].Kind != dwarf.UnitType {
			t.Error("unit is not a type unit")
		}
	}
}

func TestNamesInTypeSections(t *testing.T) {
	d := little()
	typ := named(tClass, "T", fn("m", 0x10, 0x20), fn("n", 0x20, 0x30))
	d.Unit(&fixture.DwarfUnit{Version: 4, AddrSize: 8, Types: true, TypeDie: typ, Root: &die{Tag: tTypeUnit, Attrs: attrs{{aLang, fData1, langC}}, Kids: []*die{typ}}}, nil)
	d.Unit(&fixture.DwarfUnit{Version: 4, AddrSize: 8, Types: true, TypeDie: typ, Root: &die{Tag: tTypeUnit, Attrs: attrs{{aLang, fData1, langCpp}}, Kids: []*die{typ}}}, nil)
	expect(t, show(t, dwarf.Open(sections(d), 0)), "m 10-20\nn 20-30\nT::m 10-20\nT::n 20-30\n")
}

func TestStringsOfEverySection(t *testing.T) {
	for _, wide := range []bool{false, true} {
		d := little()
		base := d.StrOffsetsTable(5, wide, d.Strp("zero"), d.Strp("one"), 1<<20)
		u := based(cu(langC), fixture.DwarfAttr{aStrBase, fSecOffset, base}, fixture.DwarfAttr{aName, fStrx1, 1}, fixture.DwarfAttr{aDir, fLineStrp, d.LineStrp("/dir")},
			fixture.DwarfAttr{aProducer, fStrx2, 7})
		u.Wide = wide
		for i, form := range []int{fStrx, fStrx1, fStrx2, fStrx3, fStrx4, fGNUStr} {
			u.Root.Kids = append(u.Root.Kids, code(0x10*(i+1), fixture.DwarfAttr{aName, form, i % 2}))
		}
		u.Root.Kids = append(u.Root.Kids, code(0x100, fixture.DwarfAttr{aName, fStrx, 2}), code(0x110, fixture.DwarfAttr{aName, fStrx, 3}),
			code(0x120, fixture.DwarfAttr{aName, fData1, 3}), code(0x130, fixture.DwarfAttr{aName, fLineStrp, d.LineStrp("line")}))
		d.Unit(u, nil)
		data := dwarf.Open(sections(d), 0)
		expect(t, show(t, data), "zero 10-20\none 20-30\nzero 30-40\none 40-50\nzero 50-60\none 60-70\n 100-110\n 110-120\n 120-130\nline 130-140\n")
		text := fmt.Sprintf("%s %s %q", data.UnitText(0, dwarf.AttrName), data.UnitText(0, dwarf.AttrCompDir), data.UnitText(0, dwarf.AttrProducer))
		expect(t, text, `one /dir ""`)
	}
}

// More units than have an outline at a time, in turn and concurrently.
func TestScopesInAnyOrder(t *testing.T) {
	d := little()
	const units = 200
	for i := range units {
		d.Unit(cu(langCpp, named(tSpace, fmt.Sprint("n", i), fn("f", 0x10, 0x20))), nil)
	}
	data := dwarf.Open(sections(d), 0)
	names := make([]dwarf.Name, units)
	var w dwarf.Walker
	for i := range names {
		tree, _ := w.Walk(data, i)
		names[i] = tree.Funcs[0].Name
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for round := range 12 * units {
				i := round * 67 % units
				if got := string(data.AppendName(nil, names[i])); got != fmt.Sprintf("n%d::f", i) {
					t.Errorf("name of unit %d is %s", i, got)
				}
			}
		})
	}
	all.Wait()
}

func TestDeepScopesAreTruncated(t *testing.T) {
	k := fn("f", 0x10, 0x20)
	for range 300 {
		k = named(tSpace, strings.Repeat("n", 10), k)
	}
	got := show(t, dwarf.Open(sections(one(cu(langCpp, k))), 0))
	if n := strings.Count(got, "::"); n != 64 || !strings.HasSuffix(got, "::f 10-20\n") {
		t.Errorf("%d scopes: %s", n, got)
	}
	k = fn("f", 0x10, 0x20)
	for range 60 {
		k = named(tSpace, strings.Repeat("n", 10000), k)
	}
	if got := show(t, dwarf.Open(sections(one(cu(langCpp, k))), 0)); len(got) > 80000 {
		t.Errorf("name of %d bytes", len(got))
	}
}

func TestInvalidNamesAreEmpty(t *testing.T) {
	data := dwarf.Open(sections(one(cu(langCpp, fn("f", 0x10, 0x20)))), 0)
	for kind := range dwarf.Name(16) {
		for _, n := range []dwarf.Name{kind, kind | 1<<60, kind | 7<<4, kind | 15<<20} {
			if got := data.AppendName(nil, n); len(got) > 20 {
				t.Errorf("Name %#x is %q", uint64(n), got)
			}
		}
	}
}

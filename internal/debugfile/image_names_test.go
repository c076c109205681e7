package debugfile_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"symbolon/internal/debugfile"
	"symbolon/internal/fixture"
	"symbolon/internal/object"
	"symbolon/internal/symcache"
)

// oneFunction is a program with a function at 0x1100 to 0x1140 and symbols.
func oneFunction(lang int, f fixture.ProgramFunc, symbols ...fixture.ELFSymbol) *fixture.Program {
	f.Ranges = append(f.Ranges, span{0x1100, 0x1140})
	for i := range symbols {
		s := &symbols[i]
		s.Section = 1
		if s.Value == 0 {
			s.Value = 0x1100
		}
		if s.Kind == 0 {
			s.Kind, s.Bind = 2, 1
		}
	}
	return &fixture.Program{
		Wide: true, Loads: []span{{0x1000, 0x2000}}, Code: []span{{0x1100, 0x1200}}, Symbols: symbols,
		Units: []*fixture.ProgramUnit{{
			Version: 5, Lang: lang, Dir: "/d", Files: []string{"a.c"}, Funcs: []fixture.ProgramFunc{f},
			Sequences: []fixture.ProgramLines{{Rows: []fixture.ProgramRow{{Addr: 0x1100, Line: 7}}, End: 0x1180}},
		}},
	}
}

func TestNamesOfFunctions(t *testing.T) {
	type fn = fixture.ProgramFunc
	type symbol = fixture.ELFSymbol
	for what, c := range map[string]struct {
		lang    int
		fn      fn
		symbols []symbol
		want    string
	}{
		"linkage name before name":                        {modelCpp, fn{Name: "f", Linkage: "_Z1fv"}, nil, "_Z1fv"},
		"plain name in C":                                 {modelC, fn{Name: "f"}, nil, "f"},
		"C has no scopes":                                 {modelC, fn{Name: "f", Scope: "n"}, nil, "f"},
		"name with its scope":                             {modelCpp, fn{Name: "f", Scope: "n"}, nil, "n::f"},
		"symbol with the same name and a suffix":          {modelC, fn{Name: "f"}, []symbol{{Name: "f.isra.0"}}, "f.isra.0"},
		"the same, and one without":                       {modelC, fn{Name: "f"}, []symbol{{Name: "f.isra.0"}, {Name: "f"}}, "f"},
		"suffix of a linkage name":                        {modelCpp, fn{Name: "f", Linkage: "_Z1fv"}, []symbol{{Name: "_Z1fv.cold"}}, "_Z1fv.cold"},
		"suffix of digits alone":                          {modelC, fn{Name: "f"}, []symbol{{Name: "f.3"}}, "f"},
		"suffix of several numbers":                       {modelC, fn{Name: "f"}, []symbol{{Name: "f.3.85"}}, "f"},
		"suffix of digits alone of a linkage name":        {modelCpp, fn{Name: "f", Linkage: "_Z1fv"}, []symbol{{Name: "_Z1fv.85"}}, "_Z1fv"},
		"suffix of digits alone, and one of a clone":      {modelC, fn{Name: "f"}, []symbol{{Name: "f.3"}, {Name: "f.constprop.0"}}, "f.constprop.0"},
		"number of a clone":                               {modelC, fn{Name: "f"}, []symbol{{Name: "f.isra.0.3"}}, "f.isra.0.3"},
		"suffix of digits alone, and no other name":       {modelC, fn{}, []symbol{{Name: "f.3"}}, "f.3"},
		"suffix of another way to call it":                {modelC, fn{Name: "f"}, []symbol{{Name: "f.abi0"}}, "f"},
		"suffix of a part":                                {modelC, fn{Name: "f"}, []symbol{{Name: "f.__part.1"}}, "f"},
		"suffix without a dot":                            {modelC, fn{Name: "f"}, []symbol{{Name: "f2"}}, "f"},
		"clone elsewhere":                                 {modelC, fn{Name: "f"}, []symbol{{Name: "f.cold", Value: 0x1101}}, "f"},
		"alias":                                           {modelC, fn{Name: "f"}, []symbol{{Name: "other"}}, "f"},
		"mangled symbol":                                  {modelCpp, fn{Name: "f", Scope: "n"}, []symbol{{Name: "_ZN1n1fEv"}}, "_ZN1n1fEv"},
		"mangled symbol, but there is a linkage name":     {modelCpp, fn{Name: "f", Linkage: "_Z1fv"}, []symbol{{Name: "_Z1fi"}}, "_Z1fv"},
		"mangled symbol of something else":                {modelCpp, fn{Name: "f", Scope: "n"}, []symbol{{Name: "_ZN1n1gEv"}}, "n::f"},
		"mangled symbol whose number and type look so":    {modelCpp, fn{Name: "f1"}, []symbol{{Name: "_Z3f16v"}}, "f1"},
		"mangled symbol of a template":                    {modelCpp, fn{Name: "f<int>", Scope: "n"}, []symbol{{Name: "_ZN1n1fIiEEvv"}}, "_ZN1n1fIiEEvv"},
		"destructor of a lambda expression":               {modelCpp, fn{Name: "~<lambda>"}, []symbol{{Name: "_ZZ4mainENUliE1_D1Ev"}}, "_ZZ4mainENUliE1_D1Ev"},
		"constructor of another lambda expression":        {modelCpp, fn{Name: "<lambda>"}, []symbol{{Name: "_Z3jarv"}}, "<lambda>"},
		"mangled symbol after an alias":                   {modelCpp, fn{Name: "f", Scope: "n"}, []symbol{{Name: "alias"}, {Name: "_ZN1n1fEv"}}, "_ZN1n1fEv"},
		"no name but a symbol":                            {modelC, fn{}, []symbol{{Name: "s"}}, "s"},
		"no name, and the symbol that ranks best":         {modelC, fn{}, []symbol{{Name: "__s"}, {Name: "s"}}, "s"},
		"no name and no symbol":                           {modelC, fn{}, nil, ""},
		"no name and a symbol inside":                     {modelC, fn{}, []symbol{{Name: "s", Value: 0x1101}}, ""},
		"symbol where it is entered, not where it starts": {modelC, fn{Name: "f", Entry: 0x1110}, []symbol{{Name: "f.b", Value: 0x1110}, {Name: "f.a"}}, "f.b"},
	} {
		o := open(t, oneFunction(c.lang, c.fn, c.symbols...).Bytes())
		frames := o.Lookup(nil, 0x120)
		if len(frames) != 1 || str(o, frames[0].Func) != c.want {
			t.Errorf("%s: %s; want %q", what, show(o, frames), c.want)
		}
		agreeWithTable(t, o, what)
	}
}

// The stand-ins for other tools show names as the linker has them.
func TestWrittenNamesKeepTheNumberOfACopy(t *testing.T) {
	p := oneFunction(modelC, fixture.ProgramFunc{Name: "helper"}, fixture.ELFSymbol{Name: "helper.3"})
	f, err := debugfile.Open(bytes.NewReader(p.Bytes()), object.Options{Written: true})
	if err != nil {
		t.Fatal(err)
	}
	o := f.Objects()[0]
	if frames := o.Lookup(nil, 0x120); len(frames) != 1 || str(o, frames[0].Func) != "helper.3" {
		t.Errorf("got %s", show(o, frames))
	}
}

// Cyclic and dangling references are not names; then the symbol is used.
func TestNamesThatGoRoundEnd(t *testing.T) {
	d := &fixture.Dwarf{Order: leastFirst}
	a, b := &fixture.DIE{Tag: 0x2e}, &fixture.DIE{Tag: 0x2e}
	a.Attrs = []fixture.DwarfAttr{{0x47, 0x13, b}}
	b.Attrs = []fixture.DwarfAttr{{0x31, 0x13, a}}
	round := &fixture.DIE{Tag: 0x2e, Attrs: []fixture.DwarfAttr{{0x31, 0x13, a}, {0x11, 0x01, 0x1100}, {0x12, 0x06, 0x10}}}
	lost := &fixture.DIE{Tag: 0x2e, Attrs: []fixture.DwarfAttr{{0x31, 0x13, 0xffff}, {0x11, 0x01, 0x1110}, {0x12, 0x06, 0x10}}}
	d.Unit(&fixture.DwarfUnit{Version: 5, AddrSize: 8, Root: &fixture.DIE{Tag: 0x11, Kids: []*fixture.DIE{a, b, round, lost}}}, nil)
	d.Finish()
	p := oneFunction(modelC, fixture.ProgramFunc{}, fixture.ELFSymbol{Name: "round"}, fixture.ELFSymbol{Name: "lost", Value: 0x1110})
	p.Units = nil
	p.More = []fixture.ELFSection{{Name: ".debug_info", Type: 1, Data: d.Info}, {Name: ".debug_abbrev", Type: 1, Data: d.Abbrev}}
	o := open(t, p.Bytes())
	wants(t, o, map[uint64]string{0x108: "round :0 [100+10]", 0x118: "lost :0 [110+10]"})
	agreeWithTable(t, o, "round")
}

// Of equal functions in several units the one of the first unit counts, with its name
// and lines.
func TestTheFirstOfEqualFunctionsCounts(t *testing.T) {
	p := oneFunction(modelC, fixture.ProgramFunc{Name: "first"})
	p.Units = append(p.Units, oneFunction(modelC, fixture.ProgramFunc{Name: "second"}).Units[0])
	p.Units[1].Dir = "/other"
	wants(t, open(t, p.Bytes()), map[uint64]string{0x108: "first /d/a.c:7 [100+40]"})
}

var leastFirst = binary.LittleEndian

// agreeWithTable demands the same of o and its table, around all rows.
func agreeWithTable(t *testing.T, o *object.Object, what string) {
	t.Helper()
	table, err := tableOf(o, symcache.Options{}, 2)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	agree(t, o, table, everywhere(t, o), what)
}

// Before DWARF 5 the number 0 means without a file, and so does each number without a
// line program.
func TestFramesWithoutFileHaveNone(t *testing.T) {
	p := oneFunction(modelC, fixture.ProgramFunc{Name: "f", Calls: []*fixture.ProgramCall{{Name: "i", Line: 3, Ranges: []span{{0x1110, 0x1120}}}}})
	u := p.Units[0]
	for _, c := range []struct {
		version int
		noLines bool
		files   bool
	}{{5, false, true}, {4, false, false}, {2, false, false}, {5, true, false}} {
		u.Version, u.NoLines = c.version, c.noLines
		o := open(t, p.Bytes())
		for i, f := range o.Lookup(nil, 0x112) {
			if (f.File != 0) != c.files {
				t.Errorf("%+v, frame %d: file is %q, %x", c, i, str(o, f.File), f.File)
			}
		}
	}
}

// A compiler that knows no line of a call, as that of a thunk to its function,
// writes file 0 and line 0: in DWARF 5 that is the first file of the unit.
func TestACallWithoutLineHasItsFile(t *testing.T) {
	call := &fixture.ProgramCall{Name: "i", Ranges: []span{{0x1110, 0x1120}}}
	p := oneFunction(modelC, fixture.ProgramFunc{Name: "f", Calls: []*fixture.ProgramCall{call}})
	for _, c := range []struct {
		version, file int
		want          string
	}{{5, 0, "/d/a.c"}, {5, -1, ""}, {4, 0, ""}} {
		p.Units[0].Version, call.File = c.version, c.file
		o := open(t, p.Bytes())
		if f := o.Lookup(nil, 0x112); len(f) != 2 || str(o, f[1].File) != c.want || f[1].Line != 0 {
			t.Errorf("DWARF %d, file %d: %s; want %q, line 0", c.version, c.file, show(o, f), c.want)
		}
		agreeWithTable(t, o, "call without line")
	}
}

// Code before the image has no address in it; a function with its entry there starts
// at its first piece.
func TestNothingIsInFrontOfTheImage(t *testing.T) {
	p := oneFunction(modelC, fixture.ProgramFunc{Name: "f", Ranges: []span{{0x800, 0x810}}}, fixture.ELFSymbol{Name: "s", Value: 0x900, Size: 8}, fixture.ELFSymbol{Name: "over", Value: 0xff0, Size: 0x100})
	p.Code = append(p.Code, span{0x800, 0x1010})
	o := open(t, p.Bytes())
	wants(t, o, map[uint64]string{1<<64 - 0x800: "", 1<<64 - 0x700: "", 1<<64 - 1: "", 0: "", 8: "", 0x108: "f /d/a.c:7 [100+40]"})
	agreeWithTable(t, o, "in front")
}

// Of sequences that overlap the one that starts last counts where it is.
func TestSequencesOfLinesMayOverlap(t *testing.T) {
	p := oneFunction(modelC, fixture.ProgramFunc{Name: "f"})
	p.Units[0].Sequences = append(p.Units[0].Sequences, fixture.ProgramLines{Rows: []fixture.ProgramRow{{Addr: 0x1110, Line: 9}}, End: 0x1120})
	o := open(t, p.Bytes())
	wants(t, o, map[uint64]string{0x108: "f /d/a.c:7 [100+40]", 0x110: "f /d/a.c:9 [100+40]", 0x11f: "f /d/a.c:9 [100+40]"})
	agreeWithTable(t, o, "overlap")
}

// A linker that folds functions leaves the lines of each at the same addresses.
func TestLinesOfFoldedFunctionsAreNotMixed(t *testing.T) {
	p := oneFunction(modelC, fixture.ProgramFunc{Name: "f"})
	folded := func(line int, end uint64) fixture.ProgramLines {
		return fixture.ProgramLines{Rows: []fixture.ProgramRow{{Addr: 0x1100, Line: line}}, End: end}
	}
	for _, c := range []struct {
		lines [3]fixture.ProgramLines
		want  string
	}{
		{[3]fixture.ProgramLines{folded(4, 0x1140), folded(5, 0x1140), folded(6, 0x1140)}, "f /d/a.c:4 [100+40]"},
		{[3]fixture.ProgramLines{folded(4, 0x1110), folded(5, 0x1140), folded(6, 0x1120)}, "f /d/a.c:5 [100+40]"},
	} {
		p.Units[0].Sequences = c.lines[:]
		o := open(t, p.Bytes())
		wants(t, o, map[uint64]string{0x100: c.want, 0x101: c.want, 0x118: c.want, 0x13f: c.want})
		agreeWithTable(t, o, "folded")
	}
}

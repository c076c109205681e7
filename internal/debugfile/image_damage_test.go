package debugfile_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"symbolon/internal/fixture"
	"symbolon/internal/ident"
	"symbolon/internal/object"
	"symbolon/internal/symcache"
	"symbolon/internal/trial"
)

// threeUnits is a program with a function and lines in each unit: a at 0x100, b
// at 0x200, c at 0x300.
func threeUnits() *fixture.Program {
	p := &fixture.Program{Wide: true, Loads: []span{{0x1000, 0x2000}}, Code: []span{{0x1100, 0x1400}}}
	for i, name := range []string{"a", "b", "c"} {
		at := uint64(0x1100 + 0x100*i)
		p.Units = append(p.Units, &fixture.ProgramUnit{
			Version: 4 + i%2, Lang: modelC, Dir: "/d", Files: []string{name + ".c"}, Funcs: []fixture.ProgramFunc{{Name: name, Ranges: []span{{at, at + 0x40}}}},
			Sequences: []fixture.ProgramLines{{Rows: []fixture.ProgramRow{{Addr: at, File: 1 - i%2, Line: 7}, {Addr: at + 0x20, File: 1 - i%2, Line: 8}}, End: at + 0x40}},
		})
	}
	return p
}

// changed gives sections to change, and writes the file with what comes back.
func changed(t *testing.T, p *fixture.Program, name string, change func([]byte) []byte) []byte {
	t.Helper()
	done := false
	p.Pack = func(s fixture.ELFSection) fixture.ELFSection {
		if s.Name == name {
			s.Data, done = change(bytes.Clone(s.Data)), true
		}
		return s
	}
	text := p.Bytes()
	if !done {
		t.Fatalf("no section %s", name)
	}
	return text
}

func TestDamageOfAUnitCostsThatUnit(t *testing.T) {
	const whole = "a /d/a.c:7 [100+40]"
	second := func(b []byte) int { return int(binary.LittleEndian.Uint32(b)) + 4 } // where the second unit begins
	for what, c := range map[string]struct {
		section     string
		change      func([]byte) []byte
		b           string // what is left of the second unit
		kind, place string
	}{
		"form that is not known": {".debug_abbrev", func(b []byte) []byte {
			at := bytes.LastIndex(b[:len(b)/2+8], []byte{0x2e, 0}) // the function of the second unit
			at += bytes.IndexByte(b[at:], 0x11)
			b[at+1] = 0x7e
			return b
		}, "", "damaged units", ".debug_info"},
		"length of a unit": {".debug_info", func(b []byte) []byte {
			binary.LittleEndian.PutUint32(b[second(b):], 0x1000)
			return b
		}, "", "damaged units", ".debug_info"},
		"version of a unit": {".debug_info", func(b []byte) []byte {
			b[second(b)+4] = 77
			return b
		}, "", "damaged units", ".debug_info"},
		"lines of a version": {".debug_line", func(b []byte) []byte {
			b[second(b)+4] = 77
			return b
		}, "b :0 [200+40]", "damaged line programs", ".debug_line"},
		"lines whose header is too long": {".debug_line", func(b []byte) []byte {
			binary.LittleEndian.PutUint32(b[second(b)+4+2+2:], 0xffff)
			return b
		}, "", "damaged line programs", ".debug_line"},
	} {
		o := open(t, changed(t, threeUnits(), c.section, c.change))
		frames := o.Lookup(nil, 0x108)
		if got := show(o, frames); got != whole {
			t.Errorf("%s: %s; want %s", what, got, whole)
		}
		if got := show(o, o.Lookup(nil, 0x308)); got != "c /d/c.c:7 [300+40]" {
			t.Errorf("%s: the next unit has %s", what, got)
		}
		if got := show(o, o.Lookup(nil, 0x208)); c.b != "" && got != c.b {
			t.Errorf("%s: the unit has %s", what, got)
		}
		agreeWithTable(t, o, what)
		told(t, o, what, c.kind, c.place, 1)
	}
}

// A line program that ends too early has the lines in front of that.
func TestLinesThatAreCutOffAreThereUpToThat(t *testing.T) {
	p := threeUnits()
	p.Units = p.Units[:1]
	o := open(t, changed(t, p, ".debug_line", func(b []byte) []byte { return b[:len(b)-5] }))
	wants(t, o, map[uint64]string{0x108: "a /d/a.c:7 [100+40]", 0x120: "a /d/a.c:8 [100+40]", 0x130: "a :0 [100+40]"})
	told(t, o, "cut off", "damaged line programs", ".debug_line", 1)
}

// A section that claims to reach beyond the file has what is there.
func TestSectionsBeyondTheFileAreCut(t *testing.T) {
	p := threeUnits()
	p.Pack = func(s fixture.ELFSection) fixture.ELFSection {
		if s.Name == ".debug_line" {
			s.Size = 1 << 40
		}
		return s
	}
	o := open(t, p.Bytes())
	wants(t, o, map[uint64]string{0x108: "a /d/a.c:7 [100+40]", 0x328: "c /d/c.c:8 [300+40]"})
	told(t, o, "beyond", "damaged headers", ".debug_line", 1)
	p.Pack = func(s fixture.ELFSection) fixture.ELFSection {
		if s.Name == ".debug_line" {
			s.Off = 1 << 40
		}
		return s
	}
	o = open(t, p.Bytes())
	wants(t, o, map[uint64]string{0x108: "a :0 [100+40]", 0x328: "c :0 [300+40]"})
	told(t, o, "far beyond", "damaged headers", ".debug_line", 1)
}

// nestedCalls are calls one in the other.
func nestedCalls(levels int, from, to uint64) []*fixture.ProgramCall {
	if levels == 0 {
		return nil
	}
	return []*fixture.ProgramCall{{Name: "i", Line: 1, Ranges: []span{{from, to}}, Calls: nestedCalls(levels-1, from, to)}}
}

// hostileImages returns the files of programs made to exhaust.
func hostileImages() map[string][]byte {
	const n = 20_000
	program := func(units ...*fixture.ProgramUnit) *fixture.Program {
		return &fixture.Program{Wide: true, Loads: []span{{0x1000, 1 << 30}}, Code: []span{{0x1000, 1 << 30}}, Units: units}
	}
	unit := func(funcs ...fixture.ProgramFunc) *fixture.ProgramUnit {
		return &fixture.ProgramUnit{Version: 5, Lang: modelC, NoLines: true, Funcs: funcs}
	}
	pieces := func(step, size uint64) (all []span) {
		for i := range uint64(n) {
			all = append(all, span{0x2000 + i*step, 0x2000 + i*step + size})
		}
		return all
	}
	calls := func(ranges func(i uint64) []span) (all []*fixture.ProgramCall) {
		for i := range uint64(n) {
			all = append(all, &fixture.ProgramCall{Name: "i", Line: 1, Ranges: ranges(i)})
		}
		return all
	}
	const end = 0x2000 + 8*n
	whole := []span{{0x2000, end}}
	all := map[string]*fixture.Program{
		"calls side by side that all overlap": program(unit(fixture.ProgramFunc{Name: "f", Ranges: whole, Calls: calls(func(i uint64) []span { return []span{{0x2000 + i, end - i}} })})),
		"the last calls come first":           program(unit(fixture.ProgramFunc{Name: "f", Ranges: whole, Calls: calls(func(i uint64) []span { return []span{{end - 4*i - 8, end}} })})),
		"pieces, and calls beyond them":       program(unit(fixture.ProgramFunc{Name: "f", Ranges: pieces(8, 4), Calls: calls(func(i uint64) []span { return []span{{0x2000 + 8*i, 0x200c + 8*i}} })})),
		"pieces, and a call over all of them": program(unit(fixture.ProgramFunc{Name: "f", Ranges: pieces(8, 4), Calls: nestedCalls(40, 0x2000, end)})),
		"calls nest 2,000 deep":               program(unit(fixture.ProgramFunc{Name: "f", Ranges: whole, Calls: nestedCalls(2000, 0x2000, end)})),
	}
	old := unit(fixture.ProgramFunc{Name: "f", Ranges: whole, Calls: []*fixture.ProgramCall{{Name: "o", Line: 1, Ranges: pieces(4, 1), Calls: calls(func(i uint64) []span { return []span{{end - 4 - i, end - i}} })[:n/2]}}})
	old.Version = 2
	all["calls of DWARF 2 that are not where their caller is"] = program(old)
	var inside, upward, many fixture.ProgramUnit
	for i := range uint64(3 * n) {
		inside.Funcs = append(inside.Funcs, fixture.ProgramFunc{Name: "f", Ranges: []span{{0x2000 + i, end - i}}})
		upward.Funcs = append(upward.Funcs, fixture.ProgramFunc{Name: "f", Ranges: []span{{0x2000 + i, end + i}}})
		many.Funcs = append(many.Funcs, fixture.ProgramFunc{Name: "f", Ranges: whole})
	}
	for name, u := range map[string]fixture.ProgramUnit{"one in the other": inside, "each over the next": upward, "at one place": many} {
		u.Version, u.Lang, u.NoLines = 5, modelC, true
		all["functions, "+name] = program(&u)
	}
	crowd := program()
	for i := range n / 10 {
		u := unit(fixture.ProgramFunc{Name: "f", Ranges: []span{{0x2000 + uint64(i), end}}})
		u.Ranges = whole
		crowd.Units = append(crowd.Units, u)
	}
	all["units that all have the same code"] = crowd
	shared := program()
	for i := range n / 10 {
		u := unit(fixture.ProgramFunc{Name: "f", Ranges: []span{{0x2000 + uint64(i), 0x2001 + uint64(i)}}})
		u.NoLines, u.SameLines = false, i > 0
		for k := range uint64(n / 10) {
			u.Sequences = append(u.Sequences, fixture.ProgramLines{Rows: []fixture.ProgramRow{{Addr: 0x2000 + k, Line: i}}, End: 0x2001 + k})
		}
		shared.Units = append(shared.Units, u)
	}
	all["units that all have the same lines"] = shared
	symbols := program()
	lines := unit()
	lines.NoLines = false
	for i := range n {
		symbols.Symbols = append(symbols.Symbols, fixture.ELFSymbol{Name: fmt.Sprint("s", i), Value: uint64(0x2000 + i), Size: uint64(2*(n-i) + 1), Kind: 2, Section: 1})
		lines.Sequences = append(lines.Sequences, fixture.ProgramLines{Rows: []fixture.ProgramRow{{Addr: uint64(0x2000 + i), Line: i}}, End: end})
	}
	symbols.Units = append(symbols.Units, lines)
	all["symbols one in the other, and lines that overlap"] = symbols
	files := map[string][]byte{}
	for name, p := range all {
		files[name] = p.Bytes()
	}
	return files
}

// Time and memory are in proportion to the size of hostile programs, and the file and
// its table give the same answers.
func TestHostileImagesAreBounded(t *testing.T) {
	for name, text := range hostileImages() {
		var o *object.Object
		var table *symcache.Table
		var err error
		took, peak := cost(func() {
			o = open(t, text)
			for _, a := range []uint64{0x1000, 0x1002, 0x5000, 0x10000} {
				o.Lookup(nil, a)
			}
			table, err = tableOf(o, symcache.Options{}, 2)
		})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		agree(t, o, table, []uint64{0xfff, 0x1000, 0x1001, 0x1006, 0x4fff, 0x5000, 0x10000, 0x1000 + 8*20_000 - 1, 0x1000 + 8*20_000}, name)
		t.Logf("%s: %d KiB, %v, %d MiB", name, len(text)>>10, took, peak>>20)
		if (took > 5*time.Second || peak > 192<<20) && !trial.Race() {
			t.Errorf("%s of %d KiB: %v and %d MiB", name, len(text)>>10, took, peak>>20)
		}
	}
}

// A library without its second half and section headers answers from the symbols of
// the loader.
func TestHalfALibraryAnswersFromWhatIsIntact(t *testing.T) {
	e := &fixture.ELF{Wide: true, Type: 3, Machine: 62}
	names := 0x1000 + e.Next()
	symbols := e.Symtab(".dynsym", 11, fixture.ELFSymbol{Name: "f", Kind: 2, Bind: 1, Section: 1, Value: 0x1100, Size: 0x40})
	hash := 0x1000 + e.Next()
	e.Add(fixture.ELFSection{Name: ".hash", Type: 5, Link: uint32(symbols), Data: e.Pack(uint32(1), uint32(2), make([]byte, 12))})
	var tags []byte
	for _, v := range []uint64{4, hash, 5, names, 6, names + 8, 10, 3, 0, 0} {
		tags = append(tags, e.Pack(v)...)
	}
	id := e.Note("GNU", 3, []byte("0123456789abcdef"), 4)
	e.Segment(fixture.ELFSegment{Type: 1, Flags: 5, Vaddr: 0x1000, Filesz: 0x1000, Memsz: 0x1000})
	e.Segment(fixture.ELFSegment{Type: 2, Off: e.Next(), Vaddr: 0x1000 + e.Next(), Filesz: uint64(len(tags))})
	e.Add(fixture.ELFSection{Name: ".dynamic", Type: 6, Data: tags})
	e.Segment(fixture.ELFSegment{Type: 4, Off: e.Next(), Vaddr: 0x1000 + e.Next(), Filesz: uint64(len(id))})
	e.Add(fixture.ELFSection{Name: ".note.gnu.build-id", Type: 7, Data: id})
	e.Add(fixture.ELFSection{Name: ".rest", Type: 1, Data: make([]byte, 0x1000)})
	text := e.Bytes()
	o := open(t, text[:len(text)/2])
	wants(t, o, map[uint64]string{0x100: "f :0 [100+40]", 0x13f: "f :0 [100+40]", 0x140: ""})
	told(t, o, "half", "damaged headers", "section headers", 1)
	if code := o.Info().Module.CodeID; code != ident.NewBuildID([]byte("0123456789abcdef")).CodeID() {
		t.Errorf("code id %s", code)
	}
	agreeWithTable(t, o, "half")
}

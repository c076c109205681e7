package debugfile_test

import (
	"fmt"
	"strings"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/debugfile"
	"symbolon/internal/fixture"
	"symbolon/internal/format/il2cpp"
	"symbolon/internal/object"
	"symbolon/internal/symcache"
)

// mapping is one of /d/a.c, which oneFunction makes, and of a file beside it.
func mapping(t testing.TB, text string) *il2cpp.Map {
	t.Helper()
	m, err := il2cpp.Read([]byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// unity is a function whose lines go through two files of C++, with two calls in
// one another.
func unity() *fixture.Program {
	inner := &fixture.ProgramCall{Name: "inner", File: 0, Line: 30, Column: 5, Ranges: []span{{0x1110, 0x1118}}}
	inner.Calls = []*fixture.ProgramCall{{Name: "innermost", File: 0, Line: 9, Ranges: []span{{0x1110, 0x1114}}}}
	p := oneFunction(modelC, fixture.ProgramFunc{Name: "f", Calls: []*fixture.ProgramCall{inner}})
	u := p.Units[0]
	u.Files = []string{"a.c", "b.c"}
	u.Sequences = []fixture.ProgramLines{{Rows: []fixture.ProgramRow{
		{Addr: 0x1100, File: 0, Line: 7}, {Addr: 0x1110, File: 0, Line: 12}, {Addr: 0x1114, File: 0, Line: 40, Column: 3},
		{Addr: 0x1118, File: 1, Line: 12}, {Addr: 0x1120, File: 1, Line: 3},
	}, End: 0x1140}}
	return p
}

const places = `{"/d/a.c":{"/game//Assets/./Player.cs":{"9":100,"30":200},"Enemy.cs":{"12":1}},"/d/b.c":{"C:\\game\\Boss.cs":{"10":4}}}`

func TestPlacesOfCppBecomeThoseOfCSharp(t *testing.T) {
	o := open(t, unity().Bytes())
	plain := o.Lookup(nil, 0x112)
	m := o.Mapped(mapping(t, places))
	wants(t, m, map[uint64]string{
		0x100: "f /d/a.c:7 [100+40]", // above all lines that are listed
		0x112: "innermost Enemy.cs:1 < inner /game//Assets/Player.cs:100 < f /game//Assets/Player.cs:200 [100+40]",
		0x116: "inner /game//Assets/Player.cs:200 < f /game//Assets/Player.cs:200 [100+40]",
		0x11a: `f C:\game\Boss.cs:4 [100+40]`,
		0x122: "f /d/b.c:3 [100+40]",
	})
	agreeWithTable(t, m, "mapped")
	if got := show(o, o.Lookup(nil, 0x112)); got != show(o, plain) || got == show(m, m.Lookup(nil, 0x112)) {
		t.Errorf("the object itself says %s", got)
	}
	if m.Footprint() <= o.Footprint() {
		t.Error("the mapping takes no memory")
	}
	for _, f := range m.Lookup(nil, 0x116) {
		if f.Column != 0 || m.Source(f.File) != nil {
			t.Errorf("%+v has more than a place in C#", f)
		}
	}
}

func TestBreakpadFilesAreMapped(t *testing.T) {
	o := open(t, []byte(module+"FILE 0 /d/a.c\nINLINE_ORIGIN 0 called\nFUNC 100 20 0 f\nINLINE 0 10 0 0 110 8\n"+
		"100 10 7 0\n110 8 30 0\n118 8 12 0\nPUBLIC 200 0 p\n"))
	m := o.Mapped(mapping(t, places))
	wants(t, m, map[uint64]string{
		0x100: "f /d/a.c:7 [100+20]",
		0x112: "called /game//Assets/Player.cs:200 < f /game//Assets/Player.cs:100 [100+20]",
		0x118: "f Enemy.cs:1 [100+20]",
		0x200: "p :0 [200+0]",
	})
	agreeWithTable(t, m, "mapped")
}

// TestMoreFilesAreMappedThanAreRemembered has more files than the way to a table
// remembers, and comes back to the first ones.
func TestMoreFilesAreMappedThanAreRemembered(t *testing.T) {
	const files, again = 66_000, 100
	var sym, text strings.Builder
	sym.WriteString(module)
	text.WriteString("{")
	for i := range files {
		fmt.Fprintf(&sym, "FILE %d /d/%d.c\n", i, i)
		fmt.Fprintf(&text, `"/d/%d.c":{"%d.cs":{"1":%d}},`, i, i%7, i)
	}
	fmt.Fprintf(&sym, "FUNC 1000 %x 0 f\n", files+again)
	for i := range files + again {
		fmt.Fprintf(&sym, "%x 1 %d %d\n", 0x1000+i, 1+i/files, i%files)
	}
	o := open(t, []byte(sym.String())).Mapped(mapping(t, text.String()[:text.Len()-1]+"}"))
	table, err := tableOf(o, symcache.Options{}, 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range []uint64{0, 1, files - 1, files, files + again - 1} {
		want := fmt.Sprintf("f %d.cs:%d ", i%files%7, i%files)
		if got := show(o, o.Lookup(nil, 0x1000+i)); !strings.HasPrefix(got, want) {
			t.Errorf("%d: got %s, want %s", i, got, want)
		}
		agree(t, o, table, []uint64{0x1000 + i}, "many files")
	}
}

func TestFilesWithoutCppAreNotMapped(t *testing.T) {
	o := open(t, symb(t))
	if o.Mapped(mapping(t, places)) != o {
		t.Error("a symbfile is mapped")
	}
}

// FuzzMapped reads mappings of two files, and wants the same of the files
// themselves and of their tables.
func FuzzMapped(f *testing.F) {
	elf, sym := unity().Bytes(), []byte(module+"FILE 0 /d/a.c\nFUNC 100 20 0 f\n100 10 7 0\n110 10 30 0\n")
	f.Add([]byte(places))
	f.Add([]byte(`{"/d/b.c":{"":{"0":0}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := il2cpp.Read(text, nil)
		if err != nil {
			return
		}
		for _, file := range [][]byte{elf, sym} {
			opened, err := debugfile.Open(bin.Bytes(file), object.Options{})
			if err != nil {
				t.Fatal(err)
			}
			agreeWithTable(t, opened.Objects()[0].Mapped(m), "mapped")
		}
	})
}

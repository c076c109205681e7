package debugfile_test

import (
	"bytes"
	"compress/flate"
	"fmt"
	"strings"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/debugfile"
	"symbolon/internal/fixture"
	"symbolon/internal/ident"
	"symbolon/internal/object"
	"symbolon/internal/sym"
)

// il is an address in a method of a portable PDB.
func il(method, off uint64) uint64 { return (0x06000000+method)<<32 | off }

// portable returns a portable PDB of three methods with lines and two without.
func portable(t testing.TB) *fixture.PPDB {
	t.Helper()
	p := fixture.NewPPDB()
	p.ID = [20]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 0x78, 0x56, 0x34, 0x12}
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.BestCompression)
	if err == nil {
		_, err = w.Write(bytes.Repeat([]byte("class A {}\n"), 100))
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return p.Document("/src/./x/../a.cs", "/").Document(`C:\src\b.cs`, `\`).Document("gone", "").
		Method(1, fixture.NewPPDBPoints(0).Hidden(0).Point(2, 10, 5, 10, 20).Hidden(6).Point(9, 11, 7, 11, 9)).
		Method(1, fixture.NewPPDBPoints(0).Point(0, 20, 1, 20, 2).Document(2).Point(4, 20, 1, 20, 2).Point(7, 20, 3, 20, 4)).
		Method(1, nil).
		Method(1, fixture.NewPPDBPoints(0).Hidden(0)).
		Method(9, fixture.NewPPDBPoints(0).Point(0, 1, 1, 1, 2)).
		Source(1, 1100, packed.Bytes()).Source(2, 0, []byte("class B {}")).Source(3, 1000, []byte("broken"))
}

// The address of code in a portable PDB is a token and an offset; code that is
// hidden belongs to the line before it, and the end of a method is not known.
func TestPortablePDBsAnswerByMethodAndOffset(t *testing.T) {
	o := open(t, portable(t).Bytes())
	at := func(file string, line int, method uint64) string {
		return show1(fmt.Sprintf(" %s:%d", file, line), il(method, 0), 0)
	}
	wants(t, o, map[uint64]string{
		0: "", 1: "", il(0, 0): "", il(0, 5): "", il(1, 0): "", il(1, 1): "", il(1, 2): at("/src/a.cs", 10, 1), il(1, 8): at("/src/a.cs", 10, 1),
		il(1, 9): at("/src/a.cs", 11, 1), il(1, 0xffffffff): at("/src/a.cs", 11, 1),
		il(2, 0): at("/src/a.cs", 20, 2), il(2, 3): at("/src/a.cs", 20, 2), il(2, 4): at(`C:\src\b.cs`, 20, 2),
		il(3, 0): "", il(4, 7): "", il(5, 7): at("", 1, 5), il(6, 0): "", 0x0700000000000000: "", ^uint64(0): "",
	})
	agreeWithTable(t, o, "portable")
	info := o.Info()
	if want := (ident.Module{Type: ident.TypeDotnet, DebugID: ident.NewGUID([16]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}, 0x12345678)}); info.Module != want {
		t.Errorf("module %+v", info.Module)
	}
	if info.Kind != "portablepdb" || info.Type != "dbg" || info.Features != object.HasDebug|object.HasSources || info.Counts.Functions != 3 || info.Counts.Files != 3 {
		t.Errorf("%+v", info)
	}
	if f, ok := o.Nearest(il(4, 1)); !ok || f.Entry != il(2, 0) {
		t.Errorf("%+v, %v", f, ok)
	}
	if n := o.Footprint(); n != 0 {
		t.Errorf("%d bytes", n)
	}
}

func TestPortablePDBsHaveColumnsAndPathsAsTheyAreWritten(t *testing.T) {
	f, err := debugfile.Open(onDisk{bin.Bytes(portable(t).Bytes())}, object.Options{Columns: true, Written: true})
	if err != nil {
		t.Fatal(err)
	}
	o := f.Objects()[0]
	for off, want := range map[uint64]string{4: `C:\src\b.cs:20:1`, 7: `C:\src\b.cs:20:3`, 1: "/src/./x/../a.cs:20:1"} {
		fr := o.Lookup(nil, il(2, off))[0]
		if got := fmt.Sprintf("%s:%d:%d", str(o, fr.File), fr.Line, fr.Column); got != want {
			t.Errorf("%#x: %s, want %s", off, got, want)
		}
	}
	agreeWithTable(t, o, "with columns")
	if o.Footprint() == 0 {
		t.Error("it takes no memory")
	}
}

func TestEmbeddedSourcesOfPortablePDBsAreGiven(t *testing.T) {
	p := portable(t).Method(3, fixture.NewPPDBPoints(0).Point(0, 1, 1, 1, 2)).Method(1, fixture.NewPPDBPoints(0).Point(0, 1, 1, 1, 2).Raw(0x80)).
		Document("huge", "").Document("other", "").Document("none", "").Source(4, 1<<31-1, []byte("packed")).Source(5, 1<<31, []byte("packed")).
		Method(4, fixture.NewPPDBPoints(0).Point(0, 1, 1, 1, 2)).Method(5, fixture.NewPPDBPoints(0).Point(0, 1, 1, 1, 2)).Method(6, fixture.NewPPDBPoints(0).Point(0, 1, 1, 1, 2))
	p.Row(fixture.PPDBCustom, "2hh", 6<<5|22, p.GUID(fixture.PPDBSource), p.Blob([]byte("\x05\x00\x00\x00\x01\x01\x00\xfe\xffa")))
	o := open(t, p.Bytes())
	source := func(addr uint64) string { return string(o.Source(o.Lookup(nil, addr)[0].File)) }
	for addr, want := range map[uint64]string{
		il(1, 2): strings.Repeat("class A {}\n", 100), il(2, 4): "class B {}", il(5, 0): "", il(6, 0): "", il(8, 0): "", il(9, 0): "", il(10, 0): "",
	} {
		if got := source(addr); got != want {
			t.Errorf("%#x: %q", addr, got)
		}
	}
	if got := o.Source(sym.Text(1)); got != nil {
		t.Errorf("%q", got)
	}
	if err := o.Blocks(object.BlockOptions{}, func(*sym.Block) error { return nil }); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprint(o.Info().Damage)
	for _, want := range []string{"damaged methods", "method 0x6000007: invalid", "damaged sources", "unpacked size of 2147483647 bytes is above the limit", "unknown format 0x80000000", "unpacked 1 bytes instead of 5"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
}

// Sources that the file only links to are sources for those who look for them.
func TestLinksOfPortablePDBsAreSources(t *testing.T) {
	const some = `{"documents":{"/*":"https://example.com/*"}}`
	for _, c := range []struct {
		link string
		path string
		want bool
	}{{some, "/a.cs", true}, {some, "", false}, {`{"documents":{}}`, "/a.cs", false}, {some[1:], "/a.cs", false}} {
		p := fixture.NewPPDB()
		p.Row(fixture.PPDBCustom, "2hh", 1<<5|7, p.GUID(fixture.PPDBLink), p.Blob([]byte(c.link)))
		if c.path != "" {
			p.Document(c.path, "/")
		}
		if has := open(t, p.Bytes()).Info().Features&object.HasSources != 0; has != c.want {
			t.Errorf("%q, %q: %v", c.link, c.path, has)
		}
	}
}

func TestLookupsInPortablePDBsDoNotAllocate(t *testing.T) {
	o := open(t, portable(t).Bytes())
	frames, text := make([]sym.Frame, 0, 4), make([]byte, 0, 64)
	if n := testing.AllocsPerRun(100, func() {
		frames = o.Lookup(frames[:0], il(2, 7))
		text = o.AppendText(text[:0], frames[0].File)
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// An assembly may have its portable PDB in it.
func TestPortablePDBsInAssemblies(t *testing.T) {
	inner := portable(t).Bytes()
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(inner); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for size, want := range map[int]int{len(inner): 2, len(inner) + 1: 1, 1 << 30: 1} {
		x := fixture.NewPE(fixture.PEX86)
		x.Section(fixture.PESection{Name: ".text", Addr: 0x1000, Size: 0x100, Data: make([]byte, 0x100), Flags: fixture.PECode})
		debug, length := fixture.PEDebug(0x7000, 0, fixture.PEDebugEntry{Kind: 17, Mapped: true, Data: fixture.PEPack("MPDB", uint32(size), packed.Bytes())})
		x.Table(fixture.PEDirDebug, fixture.PESection{Name: ".debug", Addr: 0x7000, Data: debug})
		x.Dirs[fixture.PEDirDebug][1] = length
		f, err := debugfile.Open(bin.Bytes(x.Bytes()), object.Options{})
		if err != nil {
			t.Fatal(err)
		}
		all := f.Objects()
		if len(all) != want || all[0].Info().Kind != "pe" || want == 1 && all[0].Info().BadRecords == 0 {
			t.Fatalf("%d bytes: %d objects, %+v", size, len(all), all[0].Info())
		}
		if want == 2 {
			wants(t, all[1], map[uint64]string{il(1, 2): show1(" /src/a.cs:10", il(1, 0), 0)})
		}
	}
}

package extract_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/debugfile"
	"symbolon/internal/demangle"
	"symbolon/internal/extract"
	"symbolon/internal/fixture"
	"symbolon/internal/format/symbfile"
	"symbolon/internal/object"
	"symbolon/internal/sym"
)

func open(t testing.TB, file []byte) *object.Object {
	t.Helper()
	f, err := debugfile.Open(bin.Bytes(file), object.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return f.Objects()[0]
}

// make2 returns the ranges and the pads of debug and code.
func make2(t testing.TB, debug, code *object.Object) (ranges, pads []byte) {
	t.Helper()
	var r, p bytes.Buffer
	in := extract.Input{Debug: debug, Code: code, Ranges: symbfile.NewWriter(&r), Pads: symbfile.NewWriter(&p), Workers: 2}
	if err := extract.Extract(context.Background(), in); err != nil {
		t.Fatal(err)
	}
	if err := in.Ranges.Close(); err != nil {
		t.Fatal(err)
	}
	if err := in.Pads.Close(); err != nil {
		t.Fatal(err)
	}
	return r.Bytes(), p.Bytes()
}

// rangesOf returns the ranges of debug alone.
func rangesOf(t testing.TB, debug *object.Object) []byte {
	t.Helper()
	var r bytes.Buffer
	in := extract.Input{Debug: debug, Code: debug, Ranges: symbfile.NewWriter(&r), Workers: 2}
	if err := extract.Extract(context.Background(), in); err != nil {
		t.Fatal(err)
	}
	if err := in.Ranges.Close(); err != nil {
		t.Fatal(err)
	}
	return r.Bytes()
}

// shown formats the answer of an object for an address.
func shown(o *object.Object, addr uint64) string {
	var out strings.Builder
	for _, f := range o.Lookup(nil, addr) {
		name := string(o.AppendText(nil, f.Func))
		if o.Mangled() {
			name = demangle.Name(extract.WithoutClone(name), demangle.Bare)
		}
		fmt.Fprintf(&out, "%s %s:%d; ", name, o.AppendText(nil, f.File), f.Line)
	}
	return out.String()
}

// same reports whether two answers are equal, except for the file of a position
// without a line: a range has one file.
func same(want, got string) bool {
	a, b := strings.Split(want, "; "), strings.Split(got, "; ")
	for i := range a {
		if len(a) != len(b) {
			return false
		}
		if name, ok := strings.CutSuffix(a[i], " :0"); a[i] != b[i] && !(ok && strings.HasPrefix(b[i], name+" ") && strings.HasSuffix(b[i], ":0")) {
			return false
		}
	}
	return true
}

// The symbfile of each compiled program has the same answer for every address as
// the program.
func TestRangesAgreeWithProgram(t *testing.T) {
	files, err := filepath.Glob("../object/testdata/corpus/*.want")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	tried, asked := 0, 0
	for _, want := range files {
		file, err := os.ReadFile(strings.TrimSuffix(want, ".want"))
		if err != nil {
			t.Fatal(err)
		}
		f, err := debugfile.Open(bin.Bytes(file), object.Options{})
		if err != nil || len(f.Objects()) == 0 {
			continue
		}
		o := f.Objects()[0]
		base := o.Info().LoadAddress
		ranges := rangesOf(t, o)
		s := open(t, ranges)
		tried++
		if err := o.Blocks(object.BlockOptions{}, func(b *sym.Block) error {
			for _, r := range b.Rows {
				for _, at := range []uint64{r.Addr, r.Addr + 1, r.Addr - 1} {
					asked++
					if want, got := shown(o, at), shown(s, at+base); !same(want, got) {
						t.Errorf("%s, %#x: %s, want %s", filepath.Base(want), at, got, want)
						return fmt.Errorf("enough")
					}
				}
			}
			return nil
		}); err != nil {
			t.Errorf("%s: %v", want, err)
		}
	}
	if tried < 40 || asked < 5000 {
		t.Errorf("%d files, %d addresses", tried, asked)
	}
}

// The frames of each pad of every compiled program are those of its ranges at the
// same address.
func TestPadsAgreeWithRanges(t *testing.T) {
	files, err := filepath.Glob("../object/testdata/corpus/*.want")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	padded, asked := map[string]bool{}, 0
	for _, want := range files {
		name := strings.TrimSuffix(want, ".want")
		debug := objectOf(t, name)
		code := debug
		for _, other := range [][2]string{{".dsym", ".dylib"}, {".pdb", ".exe"}} {
			if base, ok := strings.CutSuffix(name, other[0]); ok && exists(base+other[1]) {
				code = objectOf(t, base+other[1])
			}
		}
		if exists(name + ".debug") {
			debug = objectOf(t, name+".debug")
		}
		if debug == nil || code == nil || extract.HasPads(code) != nil || code.Info().Type == "rel" || code.Info().Type == "dbg" {
			continue
		}
		ranges, pads := make2(t, debug, code)
		s, p := open(t, ranges), symbfile.NewReader(bytes.NewReader(pads))
		for {
			rec, err := p.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			for _, f := range slices.Backward(rec.Pad.Frames) {
				fmt.Fprintf(&got, "%s %s:%d; ", f.Func, f.File, f.Line)
			}
			padded[filepath.Base(name)] = true
			asked++
			if want := shown(s, rec.Pad.VA); want != got.String() {
				t.Errorf("%s, %#x: the pad has %s, the ranges %s", name, rec.Pad.VA, got.String(), want)
			}
		}
	}
	if len(padded) < 45 || asked < 450 || !padded["thumb"] || !padded["aarch64"] {
		t.Errorf("%d pads of %v", asked, padded)
	}
}

// objectOf returns the first object of a file, or nil.
func objectOf(t *testing.T, name string) *object.Object {
	t.Helper()
	file, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	f, err := debugfile.Open(bin.Bytes(file), object.Options{})
	if err != nil || len(f.Objects()) == 0 {
		return nil
	}
	return f.Objects()[0]
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// dump formats the records of a symbfile, a line each.
func dump(t testing.TB, file []byte) string {
	t.Helper()
	var out strings.Builder
	r := symbfile.NewReader(bytes.NewReader(file))
	for {
		rec, err := r.Next()
		if err == io.EOF {
			return out.String()
		}
		if err != nil {
			t.Fatal(err)
		}
		if p := rec.Pad; p != nil {
			fmt.Fprintf(&out, "%#x", p.VA)
			for _, f := range p.Frames {
				fmt.Fprintf(&out, " %s %s:%d", f.Func, f.File, f.Line)
			}
			out.WriteByte('\n')
			continue
		}
		x := rec.Range
		if x.CallFile == nil {
			x.CallFile = []byte("-") // that of the enclosing range
		}
		fmt.Fprintf(&out, "%#x+%#x %*s%s file=%s call=%s:%d", x.VA, x.Length, x.Depth, "", x.Func, x.File, x.CallFile, x.CallLine)
		for _, l := range x.Lines {
			fmt.Fprintf(&out, " +%#x=%d", l.Offset, l.Line)
		}
		out.WriteByte('\n')
	}
}

// program returns a program at 0x400000 with code for an architecture from 0x1000 on.
func program(machine uint16, code []byte) []byte {
	e := &fixture.ELF{Wide: true, Type: 2, Machine: machine}
	at := e.Next()
	e.Add(fixture.ELFSection{Name: ".text", Type: 1, Flags: 6, Addr: 0x401000, Data: code, Align: 1})
	e.Segment(fixture.ELFSegment{Type: 1, Flags: 4, Vaddr: 0x400000, Filesz: 0x100, Memsz: 0x100})
	e.Segment(fixture.ELFSegment{Type: 1, Flags: 5, Off: at, Vaddr: 0x401000, Filesz: uint64(len(code)), Memsz: uint64(len(code))})
	return e.Bytes()
}

// x86 returns two calls, the second after an invalid instruction, in 0x20 bytes of
// nop.
func x86() []byte {
	code := bytes.Repeat([]byte{0x90}, 0x30)
	copy(code[4:], "\xe8\x00\x00\x00\x00")
	code[0x10] = 0x06 // invalid in 64-bit mode
	copy(code[0x18:], "\xff\xd0")
	return code
}

func TestPadsHaveFramesOfCalls(t *testing.T) {
	debug := fixture.NewSym("x").File(0, "/a.c").File(1, "/b.h").Origin(0, "in").
		Func(0x1000, 0x20, "f").Inline(0, 7, 0, 0, 0x1004, 5).
		Line(0x1000, 4, 6, 0).Line(0x1004, 5, 70, 1).Line(0x1009, 8, 8, 0).Line(0x1014, 12, 9, 0)
	_, pads := make2(t, open(t, debug.Bytes()), open(t, program(62, x86())))
	want := "0x401008 f /a.c:7 in /b.h:70\n0x401019 f /a.c:9\n"
	if got := dump(t, pads); got != want {
		t.Errorf("pads\n%swanted are\n%s", got, want)
	}
	arm := bytes.Repeat([]byte{0x1f, 0x20, 0x03, 0xd5}, 8)
	copy(arm[8:], "\x01\x00\x00\x94") // bl
	debug = fixture.NewSym("x").File(0, "/a.c").Func(0x1000, 0x20, "f").Line(0x1000, 8, 6, 0).Line(0x1008, 0x18, 8, 0)
	_, pads = make2(t, open(t, debug.Bytes()), open(t, program(183, arm)))
	if got, want := dump(t, pads), "0x40100b f /a.c:8\n"; got != want {
		t.Errorf("pads %s, want %s", got, want)
	}
}

// Extract fails for code without pads, and does not write an empty file.
func TestPadsNeedCode(t *testing.T) {
	debug := open(t, fixture.NewSym("x").Func(0x1000, 0x20, "f").Bytes())
	for want, code := range map[string][]byte{
		"return pads are not supported for mips": program(8, x86()),
		"return pads need the binary":            program(62, nil),
	} {
		in := extract.Input{Debug: debug, Code: open(t, code), Pads: symbfile.NewWriter(io.Discard)}
		if err := extract.Extract(context.Background(), in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// A kernel is at the end of the address space.
func TestPadsOfAKernel(t *testing.T) {
	const base = 0xffffffff81000000
	e := &fixture.ELF{Wide: true, Type: 2, Machine: 62}
	at := e.Next()
	e.Add(fixture.ELFSection{Name: ".text", Type: 1, Flags: 6, Addr: base + 0x1000, Data: x86(), Align: 1})
	e.Segment(fixture.ELFSegment{Type: 1, Flags: 5, Off: at, Vaddr: base + 0x1000, Filesz: 0x30, Memsz: 0x30})
	var b bytes.Buffer
	w := symbfile.NewWriter(&b)
	for _, r := range []symbfile.Range{{VA: base + 0x1000, Length: 0x10, Func: []byte("f")}, {VA: base + 0x1010, Length: 0x20, Func: []byte("g"), Lines: []symbfile.Line{{Offset: 8, Line: 3}}}} {
		if err := w.Range(&r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	ranges, pads := make2(t, open(t, b.Bytes()), open(t, e.Bytes()))
	if got, want := dump(t, pads), "0xffffffff81001008 f :0\n0xffffffff81001019 g :3\n"; got != want {
		t.Errorf("pads\n%swanted are\n%s", got, want)
	}
	if got := dump(t, ranges); got != dump(t, b.Bytes()) {
		t.Errorf("ranges\n%s", got)
	}
}

// Texts are dropped when there are too many.
func TestDroppedTexts(t *testing.T) {
	files, err := filepath.Glob("../object/testdata/corpus/gcc-*.want")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, want := range files {
		file, err := os.ReadFile(strings.TrimSuffix(want, ".want"))
		if err != nil {
			t.Fatal(err)
		}
		all := rangesOf(t, open(t, file))
		extract.SetTexts(t, 3, 50)
		if few := rangesOf(t, open(t, file)); dump(t, few) != dump(t, all) {
			t.Errorf("%s: other ranges", want)
		}
		extract.SetTexts(t, 1<<20, 1<<20)
	}
}

// A goroutine returns to the second instruction of goexit, without a call.
func TestGoexitHasPadAfterFirstInstruction(t *testing.T) {
	debug := fixture.NewSym("x").File(0, "/asm.s").Func(0x1000, 0x10, "runtime.goexit.abi0").Line(0x1000, 0x10, 6, 0)
	_, pads := make2(t, open(t, debug.Bytes()), open(t, program(62, x86())))
	if got, want := dump(t, pads), "0x401000 runtime.goexit.abi0 /asm.s:6\n0x401008 runtime.goexit.abi0 /asm.s:6\n"; got != want {
		t.Errorf("pads %s, want %s", got, want)
	}
}

// A range has one file, lines from some address on, and ends with the enclosing
// one.
func TestRangesAreSplit(t *testing.T) {
	for what, c := range map[string]struct {
		debug *fixture.Sym
		want  string
	}{
		"another file in a function": {
			fixture.NewSym("x").File(0, "/a").File(1, "/b").Func(0x10, 0x30, "f").Line(0x10, 0x10, 1, 0).Line(0x20, 0x10, 2, 1).Line(0x30, 0x10, 3, 1),
			"0x10+0x10 f file=/a call=-:0 +0x0=1\n0x20+0x20 f file=/b call=-:0 +0x0=2 +0x10=3\n",
		},
		"another file in a call": {
			fixture.NewSym("x").File(0, "/a").File(1, "/b").Origin(0, "in").Func(0x10, 0x30, "f").Inline(0, 7, 0, 0, 0x18, 0x18).
				Line(0x10, 8, 1, 0).Line(0x18, 8, 2, 1).Line(0x20, 0x10, 3, 0).Line(0x30, 0x10, 4, 0),
			"0x10+0x30 f file=/a call=-:0 +0x0=1 +0x20=4\n0x18+0x8  in file=/b call=/a:7 +0x0=2\n0x20+0x10  in file=/a call=/a:7 +0x0=3\n",
		},
		"the function continues in another file after a call": {
			fixture.NewSym("x").File(0, "/a").File(1, "/b").Origin(0, "in").Func(0x10, 0x30, "f").Inline(0, 7, 0, 0, 0x18, 8).
				Line(0x10, 8, 1, 0).Line(0x18, 8, 2, 1).Line(0x20, 0x20, 3, 1),
			"0x10+0x10 f file=/a call=-:0 +0x0=1\n0x18+0x8  in file=/b call=/a:7 +0x0=2\n0x20+0x20 f file=/b call=-:0 +0x0=3\n",
		},
		"no lines any more": {
			fixture.NewSym("x").File(0, "/a").Func(0x10, 0x30, "f").Line(0x10, 8, 1, 0).Line(0x18, 0x28, 0, 0),
			"0x10+0x8 f file=/a call=-:0 +0x0=1\n0x18+0x28 f file=/a call=-:0\n",
		},
		"no lines yet, and the same line again": {
			fixture.NewSym("x").File(0, "/a").Origin(0, "in").Func(0x10, 0x30, "f").Inline(0, 0, 9, 0, 0x28, 8).
				Line(0x20, 8, 1, 0).Line(0x28, 8, 5, 0).Line(0x30, 0x10, 1, 0),
			"0x10+0x30 f file=/a call=-:0 +0x10=1\n0x28+0x8  in file=/a call=:0 +0x0=5\n",
		},
	} {
		o := open(t, c.debug.Bytes())
		ranges := rangesOf(t, o)
		if got := dump(t, ranges); got != c.want {
			t.Errorf("%s:\n%swanted is\n%s", what, got, c.want)
		}
	}
}

// The output does not depend on the number of workers.
func TestOutputIsDeterministic(t *testing.T) {
	file, err := os.ReadFile("../object/testdata/corpus/gcc-cc-dwarf5")
	if err != nil {
		t.Fatal(err)
	}
	ranges, pads := make2(t, open(t, file), open(t, file))
	for range 5 {
		r, p := make2(t, open(t, file), open(t, file))
		if !bytes.Equal(r, ranges) || !bytes.Equal(p, pads) || len(p) < 20 {
			t.Fatal("other bytes")
		}
	}
}

// Pads extracted from previously written ranges are the same.
func TestPadsFromRanges(t *testing.T) {
	file, err := os.ReadFile("../object/testdata/corpus/gcc-cc-dwarf5")
	if err != nil {
		t.Fatal(err)
	}
	o := open(t, file)
	ranges, pads := make2(t, o, o)
	if _, again := make2(t, open(t, ranges), o); dump(t, again) != dump(t, pads) {
		t.Errorf("got\n%s\nwant\n%s", dump(t, again), dump(t, pads))
	}
}

func TestDepthAndNumberOfRangesAreLimited(t *testing.T) {
	s := fixture.NewSym("x").File(0, "/a").Origin(0, "in").Func(0, 1000, "f")
	for depth := range 256 { // the largest depth that readers accept
		s.Inline(depth, 1, 0, 0, uint64(depth), 1000-uint64(depth))
	}
	o := open(t, s.Line(0, 1000, 5, 0).Bytes())
	ranges := rangesOf(t, o)
	deepest, r := uint32(0), symbfile.NewReader(bytes.NewReader(ranges))
	for {
		rec, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		deepest = max(deepest, rec.Range.Depth)
	}
	if deepest != 255 {
		t.Errorf("the deepest range is at %d", deepest)
	}
	big := fixture.NewSym("x").File(0, "/a").Func(0, 200_000, "f")
	for i := range uint64(100_000) {
		big.Line(i*2, 2, int(i%7)+1, 0)
	}
	o = open(t, big.Bytes())
	ranges = rangesOf(t, o)
	if n := strings.Count(dump(t, ranges), "\n"); n != 2 {
		t.Errorf("100,000 lines are in %d ranges", n)
	}
	if got := shown(open(t, ranges), 199_999); got != "f /a:5; " {
		t.Error(got)
	}
}

// Ranges include the debug information of split files.
func TestRangesOfSplitFiles(t *testing.T) {
	file, err := os.ReadFile("../object/testdata/corpus/dwp5")
	if err != nil {
		t.Fatal(err)
	}
	packed, err := os.ReadFile("../object/testdata/corpus/dwp5.dwp")
	if err != nil {
		t.Fatal(err)
	}
	o := open(t, file)
	alone := rangesOf(t, o)
	o = open(t, file)
	if ok, err := o.Supply(o.Needs()[0], bin.Bytes(packed)); !ok || err != nil {
		t.Fatal(ok, err)
	}
	whole := rangesOf(t, o)
	if a, b := strings.Count(dump(t, alone), "call=/"), strings.Count(dump(t, whole), "call=/"); a > 0 || b < 5 {
		t.Errorf("%d calls without the file, %d with it", a, b)
	}
}

// A symbol without size extends to the next symbol or section end.
func TestSymbolsWithoutSizeHaveRanges(t *testing.T) {
	code := bytes.Repeat([]byte{0x90}, 0x40)
	e := &fixture.ELF{Wide: true, Type: 2, Machine: 62}
	at := e.Next()
	text := e.Add(fixture.ELFSection{Name: ".text", Type: 1, Flags: 6, Addr: 0x401000, Data: code, Align: 1})
	e.Segment(fixture.ELFSegment{Type: 1, Flags: 5, Off: at, Vaddr: 0x401000, Filesz: 0x40, Memsz: 0x40})
	e.Symtab(".symtab", 2, fixture.ELFSymbol{Name: "first", Value: 0x401000, Kind: 2, Section: text},
		fixture.ELFSymbol{Name: "sized", Value: 0x401010, Size: 8, Kind: 2, Section: text}, fixture.ELFSymbol{Name: "last", Value: 0x401020, Kind: 2, Section: text})
	o := open(t, e.Bytes())
	ranges := rangesOf(t, o)
	want := "0x401000+0x10 first file= call=-:0\n0x401010+0x8 sized file= call=-:0\n0x401020+0x20 last file= call=-:0\n"
	if got := dump(t, ranges); got != want {
		t.Errorf("ranges\n%swanted are\n%s", got, want)
	}
}

func TestExtractReleasesPagesOfCode(t *testing.T) {
	debug := fixture.NewSym("x").File(0, "/a.c")
	for i := range uint64(32) {
		debug.Func(0x1000+i, 1, "f").Line(0x1000+i, 1, 6, 0)
	}
	relaxed := 0
	code, err := debugfile.Open(bin.Bytes(program(62, x86())), object.Options{Relax: func() { relaxed++ }})
	if err != nil {
		t.Fatal(err)
	}
	before := relaxed
	make2(t, open(t, debug.Bytes()), code.Objects()[0])
	if relaxed == before {
		t.Error("pages of the code were not released")
	}
}

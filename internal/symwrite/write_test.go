package symwrite_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand"
	"os"
	"strings"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/debugfile"
	"symbolon/internal/fixture"
	"symbolon/internal/object"
	"symbolon/internal/scratch"
	"symbolon/internal/sym"
	"symbolon/internal/symwrite"
)

func openBytes(t *testing.T, text []byte) *object.Object {
	t.Helper()
	f, err := debugfile.Open(bin.Bytes(text), object.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return f.Objects()[0]
}

func symOf(t *testing.T, o *object.Object) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := symwrite.Write(t.Context(), &b, o, symwrite.Options{Mangled: true, Scratch: scratch.Dir(t.TempDir())}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// frames returns the frames of an address as text, without columns.
func frames(o *object.Object, addr uint64) string {
	var b strings.Builder
	for _, f := range o.Lookup(nil, addr) {
		name := o.AppendText(nil, f.Func)
		if len(name) == 0 {
			name = []byte("<name omitted>")
		}
		fmt.Fprintf(&b, "%s %s:%d %v\n", name, o.AppendText(nil, f.File), f.Line, f.Inlined)
	}
	return b.String()
}

// borders returns the addresses at which rows and functions begin and end, and the
// addresses next to them.
func borders(t *testing.T, o *object.Object) []uint64 {
	t.Helper()
	var all []uint64
	err := o.Blocks(object.BlockOptions{}, func(b *sym.Block) error {
		for _, r := range b.Rows {
			all = append(all, r.Addr-1, r.Addr, r.Addr+1)
		}
		for _, n := range b.Nodes {
			if n.Parent < 0 {
				all = append(all, n.Entry, n.Entry+n.Size-1, n.Entry+n.Size)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// tangle returns a file with random overlaps of all records.
func tangle(r *rand.Rand) []byte {
	s := fixture.NewSym("tangle")
	for i := range 1 + r.Intn(4) {
		s.File(i, fmt.Sprintf("/src/%d.c", i))
		s.Origin(i, fmt.Sprintf("origin%d", i))
	}
	addr := uint64(r.Intn(0x20))
	for i := range 1 + r.Intn(6) {
		if r.Intn(4) == 0 {
			s.Public(addr+uint64(r.Intn(16)), fmt.Sprintf("public%d", i))
		}
		size := uint64(r.Intn(0x60))
		s.Func(addr, size, fmt.Sprintf("function%d", i))
		for range r.Intn(8) {
			var ranges []uint64
			for range 1 + r.Intn(3) {
				ranges = append(ranges, addr+uint64(r.Intn(0x40)), uint64(r.Intn(0x20)))
			}
			s.Inline(r.Intn(4), r.Intn(4), r.Intn(6), r.Intn(5), ranges...)
		}
		for range r.Intn(12) {
			s.Line(addr+uint64(r.Intn(0x60)), uint64(r.Intn(0x10)), r.Intn(4), r.Intn(6))
		}
		addr += uint64(r.Intn(0x70))
	}
	return s.Bytes()
}

func TestSymbolFileAnswersLikeItsObject(t *testing.T) {
	for seed := range int64(150) {
		text := tangle(rand.New(rand.NewSource(seed)))
		from := openBytes(t, text)
		made := symOf(t, from)
		to := openBytes(t, made)
		for _, addr := range append(borders(t, from), borders(t, to)...) {
			if want, got := frames(from, addr), frames(to, addr); got != want {
				t.Fatalf("seed %d, address %x\nwant %sgot %s\n%s\n%s", seed, addr, want, got, text, made)
			}
		}
		if n := to.Info().BadRecords; n > 0 {
			t.Fatalf("seed %d: %d bad records\n%s", seed, n, made)
		}
		again := symOf(t, to)
		if once := symOf(t, openBytes(t, again)); !bytes.Equal(once, again) {
			t.Fatalf("seed %d: the copy of a copy is\n%s\nwant\n%s", seed, once, again)
		}
	}
}

func TestFunctionKeepsItsEntryAndSize(t *testing.T) {
	o := openBytes(t, symOf(t, openBytes(t, fixture.NewSym("x").File(0, "/a.c").Origin(0, "in").
		Func(0x1000, 0x40, "f").Inline(0, 9, 0, 0, 0x1010, 8).Line(0x1000, 0x10, 3, 0).Line(0x1010, 8, 4, 0).Line(0x1018, 8, 5, 0).
		Public(0x2000, "symbol").Func(0x3000, 0, "empty").Bytes())))
	for addr, want := range map[uint64]string{0x1014: "1000+40", 0x2004: "2000+0"} {
		f := o.Lookup(nil, addr)
		if len(f) == 0 || fmt.Sprintf("%x+%x", f[0].Entry, f[0].Size) != want {
			t.Errorf("%x: %+v", addr, f)
		}
	}
	if f, ok := o.Nearest(0x3100); !ok || f.Entry != 0x3000 || string(o.AppendText(nil, f.Func)) != "empty" {
		t.Errorf("nearest: %+v", f)
	}
	if o.Lookup(nil, 0x1040) != nil {
		t.Error("an address after the function has frames")
	}
}

// The symbols of COFF have no size, and the lines of a function extend to the next.
func TestPaddingBelongsToTheFunctionBeforeIt(t *testing.T) {
	for name, code := range map[string]uint64{"coff-x86_64.o": 0, "pe-x86_64.exe": 0x1000, "macho.o": 0} {
		text, err := os.ReadFile("../object/testdata/corpus/" + name)
		if err != nil {
			t.Fatal(err)
		}
		from := openBytes(t, text)
		made := symOf(t, from)
		if n := bytes.Count(made, []byte(" crack\n")); n != 1 {
			t.Errorf("%s: %d records of crack\n%s", name, n, made)
		}
		to := openBytes(t, made)
		for addr := code; addr < code+0x400; addr++ {
			if want, got := frames(from, addr), frames(to, addr); got != want {
				t.Fatalf("%s: address %x\nwant %sgot %s", name, addr, want, got)
			}
		}
	}
}

func TestNamesHaveNoResults(t *testing.T) {
	from := openBytes(t, fixture.NewSym("glaze").Func(0x1000, 0x10, "_Z5wringIiEvT_").Bytes())
	var made bytes.Buffer
	if err := symwrite.Write(t.Context(), &made, from, symwrite.Options{Scratch: scratch.Dir(t.TempDir())}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(made.String(), "FUNC 1000 10 0 wring<int>(int)\n") {
		t.Errorf("the function is not wring<int>(int):\n%s", &made)
	}
}

func TestEqualStringsHaveOneRecord(t *testing.T) {
	made := string(symOf(t, openBytes(t, fixture.NewSym("x").File(0, "/a.c").File(1, "/a.c").File(2, "/unused.c").File(3, "/b.c").Origin(0, "in").Origin(1, "in").
		Func(0x1000, 0x40, "f").Inline(0, 9, 0, 0, 0x1010, 8).Inline(0, 9, 1, 1, 0x1020, 8).
		Line(0x1000, 0x10, 3, 3).Line(0x1010, 8, 4, 1).Line(0x1020, 8, 4, 1).Bytes())))
	if strings.Count(made, "FILE ") != 2 || strings.Count(made, "INLINE_ORIGIN ") != 1 {
		t.Error(made)
	}
}

func TestUnwindRecordsAreKept(t *testing.T) {
	made := symOf(t, openBytes(t, fixture.NewSym("x").Func(0x1000, 0x40, "f").CFIInit(0x1000, 0x40, ".cfa: $rsp 8 +").
		CFI(0x1001, ".cfa: $rsp 16 +").Win(0x2000, 0x10, "$T0 $ebp =").Bytes()))
	want := "STACK CFI INIT 1000 40 .cfa: $rsp 8 +\nSTACK CFI 1001 .cfa: $rsp 16 +\nSTACK WIN 4 2000 10 "
	if !strings.Contains(string(made), want) || openBytes(t, made).Info().Counts.Unwind != 2 {
		t.Errorf("%s", made)
	}
}

// deep returns a file with a function of n nested calls.
func deep(n int) []byte {
	s := fixture.NewSym("deep").File(0, "/a.c").Origin(0, "in").Func(0x1000, 0x100000, "f")
	for d := range n {
		s.Inline(d, d+1, 0, 0, 0x1000, 0x100000)
	}
	return s.Line(0x1000, 0x100000, 7, 0).Bytes()
}

func TestDeepInlineNestingIsKept(t *testing.T) {
	from := openBytes(t, deep(256))
	to := openBytes(t, symOf(t, from))
	if want, got := frames(from, 0x1000), frames(to, 0x1000); got != want || strings.Count(got, "\n") != 257 {
		t.Errorf("%d frames instead of %d", strings.Count(got, "\n"), strings.Count(want, "\n"))
	}
}

func TestLargeFunctionIsSplitIntoRecordsThatReadersAccept(t *testing.T) {
	s := fixture.NewSym("large").File(0, "/a.c").Origin(0, "in").Func(0, 0x1000000, "f")
	const rows = 60_000
	var ranges []uint64
	for i := range uint64(rows) {
		s.Line(i*16, 16, int(i%1000)+1, 0)
		if i%8 == 0 {
			ranges = append(ranges, i*16+4, 4)
		}
	}
	s.Inline(0, 5, 0, 0, ranges...)
	from := openBytes(t, s.Bytes())
	made := symOf(t, from)
	for line := range bytes.Lines(made) {
		if len(line) > 20<<10 {
			t.Fatalf("a line of %d bytes: %.60s", len(line), line)
		}
	}
	to := openBytes(t, made)
	if n := bytes.Count(made, []byte("FUNC ")); n < 2 || n > 8 {
		t.Errorf("%d functions", n)
	}
	if err := to.Blocks(object.BlockOptions{}, func(*sym.Block) error { return nil }); err != nil || to.Info().BadRecords > 0 {
		t.Fatalf("%v, %d bad records", err, to.Info().BadRecords)
	}
	var want []string
	for i := range uint64(rows) {
		want = append(want, frames(from, i*16+5))
	}
	for i := range uint64(rows) {
		if got := frames(to, i*16+5); got != want[i] {
			t.Fatalf("%x: want %sgot %s", i*16+5, want[i], got)
		}
	}
}

func BenchmarkSym(b *testing.B) {
	s := fixture.NewSym("bench").File(0, "/a.c").Origin(0, "in")
	for f := range uint64(2000) {
		s.Func(f*0x1000, 0x1000, fmt.Sprint("function", f)).Inline(0, 5, 0, 0, f*0x1000+0x40, 0x80)
		for l := range uint64(64) {
			s.Line(f*0x1000+l*0x40, 0x40, int(l)+1, 0)
		}
	}
	text := s.Bytes()
	f, err := debugfile.Open(bin.Bytes(text), object.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if err := symwrite.Write(b.Context(), io.Discard, f.Objects()[0], symwrite.Options{Scratch: scratch.Dir(b.TempDir())}); err != nil {
			b.Fatal(err)
		}
	}
}

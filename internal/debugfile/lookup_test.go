package debugfile_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/debugfile"
	"symbolon/internal/fixture"
	"symbolon/internal/object"
	"symbolon/internal/sym"
)

func discard(*sym.Block) error { return nil }

// wants asks for addresses and compares the answers, in the words of show.
func wants(t *testing.T, o *object.Object, want map[uint64]string) {
	t.Helper()
	blocks := copyBlocks(t, o, 2)
	for addr, w := range want {
		frames := o.Lookup(nil, addr)
		if got := show(o, frames); got != w {
			t.Errorf("%#x:\n got %s\nwant %s", addr, got, w)
		}
		if got := framesOf(blocks, addr); !slices.Equal(got, frames) {
			t.Errorf("%#x: blocks say %s", addr, show(o, got))
		}
	}
}

func TestInlinedCallsAreInnermostFirst(t *testing.T) {
	o := open(t, fixture.NewSym("x").File(0, "/src/main.c").File(1, "/src/util.c").
		Origin(0, "outer_inl").Origin(1, "inner_inl").
		Func(0x1000, 0x40, "main_fn").Inline(0, 10, 0, 0, 0x1010, 0x20).Inline(1, 20, 1, 1, 0x1018, 8).
		Line(0x1000, 0x10, 9, 0).Line(0x1010, 8, 21, 1).Line(0x1018, 8, 31, 1).Line(0x1020, 0x10, 22, 1).Line(0x1030, 0x10, 11, 0).
		Bytes())
	wants(t, o, map[uint64]string{
		0xfff:  "",
		0x1000: "main_fn /src/main.c:9 [1000+40]",
		0x1010: "outer_inl /src/util.c:21 < main_fn /src/main.c:10 [1000+40]",
		0x101a: "inner_inl /src/util.c:31 < outer_inl /src/util.c:20 < main_fn /src/main.c:10 [1000+40]",
		0x103f: "main_fn /src/main.c:11 [1000+40]",
		0x1040: "",
	})
}

func TestRowsBelowTheFunctionAreNoRows(t *testing.T) {
	wants(t, open(t, fixture.NewSym("x").File(0, "a.c").Func(0x100, 0x10, "f").Line(0xf0, 0x18, 1, 0).Line(0x108, 8, 2, 0).Bytes()),
		map[uint64]string{0xf0: "", 0x100: "f :0 [100+10]", 0x108: "f a.c:2 [100+10]", 0x110: ""})
}

func TestNamesThatAreNone(t *testing.T) {
	o := open(t, fixture.NewSym("x").File(0, "a.c").Raw("INLINE_ORIGIN 5").
		Raw("FUNC 100 20 0").Inline(0, 1, 0, 5, 0x100, 8).Inline(0, 1, 77, 6, 0x108, 8).
		Line(0x100, 0x20, 2, 0).Raw("PUBLIC 200 0").Bytes())
	wants(t, o, map[uint64]string{
		0x100: "<name omitted> a.c:2 < <unknown> a.c:1 [100+20]",
		0x108: " a.c:2 < <unknown> :1 [100+20]",
		0x200: "<unknown> :0 [200+0]",
	})
	if f := o.Lookup(nil, 0x108)[0]; f.Func == 0 || f.File == 0 {
		t.Errorf("an unknown origin has a frame with a name: %+v", f)
	}
	if f := o.Lookup(nil, 0x108)[1]; f.File != 0 {
		t.Errorf("an unknown file has a handle: %+v", f)
	}
}

func TestNamesAreShownAsTheyAre(t *testing.T) {
	for name, want := range map[string]string{
		"f":                       "f", // not demangled
		"_ZN5tiles3Box4areaEv":    "_ZN5tiles3Box4areaEv",
		"a  b   c ":               "a  b   c",
		"tab\tin":                 "tab\tin",
		"nul\x00here":             "nul\x00here",
		"bad_\xff_utf8":           "bad_\uFFFD_utf8",
		"naïve_größe":             "naïve_größe",
		"m 10 10 0 trick":         "m 10 10 0 trick",
		strings.Repeat("x", 3000): strings.Repeat("x", 3000),
	} {
		s := fixture.NewSym("x").Raw("FUNC m 100 10 0  "+name+"\r").Raw("PUBLIC m 200 0 "+name).Origin(3, name).
			File(3, name).Func(0x300, 0x10, "g").Inline(0, 1, 3, 3, 0x300, 8).Line(0x300, 8, 1, 3)
		for _, src := range []bin.Source{bin.Bytes(s.Bytes()), onDisk{bin.Bytes(s.Bytes())}} {
			f, err := debugfile.Open(src, object.Options{})
			if err != nil {
				t.Fatal(err)
			}
			o := f.Objects()[0]
			inl := o.Lookup(nil, 0x300)
			for _, got := range []sym.Text{o.Lookup(nil, 0x100)[0].Func, o.Lookup(nil, 0x200)[0].Func, inl[0].Func, inl[0].File} {
				if s := str(o, got); s != want {
					t.Errorf("got %.80q, want %.80q", s, want)
				}
			}
		}
	}
}

func TestLongNamesAreCut(t *testing.T) {
	long := strings.Repeat("n", 200_000)
	text := fixture.NewSym("x").Func(0x100, 0x10, long).Func(0x200, 0x10, "next").Bytes()
	for _, src := range []bin.Source{bin.Bytes(text), onDisk{bin.Bytes(text)}} {
		f, err := debugfile.Open(src, object.Options{})
		if err != nil {
			t.Fatal(err)
		}
		o := f.Objects()[0]
		if s := str(o, o.Lookup(nil, 0x100)[0].Func); len(s) != 64<<10-len("FUNC 100 10 0 ") || strings.Trim(s, "n") != "" {
			t.Errorf("name of %d bytes", len(s))
		}
		if s := str(o, o.Lookup(nil, 0x200)[0].Func); s != "next" {
			t.Errorf("got %q", s)
		}
	}
}

func TestForeignHandlesAreNoText(t *testing.T) {
	o := open(t, sample().Bytes())
	f := o.Lookup(nil, 0x1000)[0]
	for _, text := range []sym.Text{0, 1, 7, f.Func + 1, f.Func + 8, f.File + 8, math.MaxUint64, math.MaxUint64 - 5} {
		if s := str(o, text); s != "" {
			t.Errorf("handle %#x is %q", text, s)
		}
	}
}

func TestFilesMayStandAnywhere(t *testing.T) {
	for _, text := range []string{
		"INLINE_ORIGIN 0 i\nFILE 0 /m.c\nFUNC 100 10 0 f\n100 10 1 0\n",
		"\nFILE 0 /m.c\nFUNC 100 10 0 f\n100 10 1 0\n",
		"FUNC 100 10 0 f\n100 10 1 0\nFILE 0 /m.c\n",
		"FUNC 100 10 0 f\nFILE 0 /m.c\n100 10 1 0\n",
		"PUBLIC 900 0 p\nFILE 0 /old.c\nFILE 0 /m.c\nFUNC 100 10 0 f\n100 10 1 0\nFILE 0 /new.c\n",
		"FILE 0 /m.c\nSTACK CFI INIT 100 10 x\nFUNC 100 10 0 f\n100 10 1 0\n",
	} {
		o := open(t, []byte(fixture.NewSym("x").String()+text))
		if got := show(o, o.Lookup(nil, 0x108)); got != "f /m.c:1 [100+10]" {
			t.Errorf("%q: %s", text, got)
		}
	}
}

func TestSparseFileNumbersCostNothing(t *testing.T) {
	o := open(t, fixture.NewSym("x").Raw("FILE 4294967295 /far.c").Raw("FILE 18446744073709551615 /farther.c").
		Func(0x100, 0x10, "f").Raw("100 8 1 4294967295").Raw("108 8 2 18446744073709551615").Bytes())
	wants(t, o, map[uint64]string{0x100: "f /far.c:1 [100+10]", 0x108: "f /farther.c:2 [100+10]"})
	if o.Footprint() > 16<<10 {
		t.Errorf("footprint %d", o.Footprint())
	}
}

func TestOlderDialectOfInlines(t *testing.T) {
	o := open(t, fixture.NewSym("x").File(0, "a.c").Raw("INLINE_ORIGIN 3 0 small one").Func(0x100, 0x20, "f").
		Raw("INLINE 0 7 3 100 8 110 8").Line(0x100, 0x20, 1, 0).Bytes())
	want := "small one a.c:1 < f :7 [100+20]"
	wants(t, o, map[uint64]string{0x100: want, 0x108: "f a.c:1 [100+20]", 0x110: want})
}

func TestLineNumbersWrap(t *testing.T) {
	o := open(t, fixture.NewSym("x").File(0, "a.c").Func(0x100, 0x30, "f").
		Raw("100 10 99999999999 0").Raw("110 10 -5 0").Raw("120 10 4294967295 0").Bytes())
	wants(t, o, map[uint64]string{
		0x100: "f a.c:1215752191 [100+30]", 0x110: "f a.c:0 [100+30]", 0x120: "f a.c:4294967295 [100+30]",
	})
}

func TestAddressesHave64Bits(t *testing.T) {
	const top = math.MaxUint64
	o := open(t, fixture.NewSym("x").Func(0xfffffff0, 0x20, "across").Func(0x140001000, 0x20, "above").
		Public(0x7fff00000000, "far").Func(0x8000_0000_0000_0000, top, "huge").Raw("ffffffffffffffff 5 1 0").
		Func(top, 1, "last byte").Bytes())
	wants(t, o, map[uint64]string{
		0x10000000f: "across :0 [fffffff0+20]", 0x100000010: "", 0x14000101f: "above :0 [140001000+20]",
		0x7fff00000000: "far :0 [7fff00000000+0]", 0x7fffffffffffffff: "far :0 [7fff00000000+0]",
		top - 1: "huge :0 [8000000000000000+ffffffffffffffff]", top: "",
	})
}

func TestLastSymbolReachesToTheEndOfItsFourGigabytes(t *testing.T) {
	for _, c := range []struct{ at, last uint64 }{
		{0x600, 0xffffffff}, {0x1_0000_0000, 0x1_ffff_ffff}, {0xffff_ffff_0000_0000, math.MaxUint64},
	} {
		o := open(t, fixture.NewSym("x").Func(0x10, 0x10, "f").Public(c.at, "end").Bytes())
		want := map[uint64]string{c.at: fmt.Sprintf("end :0 [%x+0]", c.at), c.last: fmt.Sprintf("end :0 [%x+0]", c.at)}
		if c.last < math.MaxUint64 {
			want[c.last+1] = ""
		}
		wants(t, o, want)
	}
}

func TestNearestIsFarAway(t *testing.T) {
	o := open(t, fixture.NewSym("x").Func(0x100, 0x10, "f").Func(0x100, 0x20, "twin").Func(0x90, 0, "empty").
		Public(0x90, "hidden").Public(0x100, "hidden").Public(0x108, "inside").Bytes())
	for addr, want := range map[uint64]string{0x8f: "", 0x90: "empty", 0xff: "empty", 0x100: "f", 0x107: "f", 0x108: "inside", math.MaxUint64: "inside"} {
		f, ok := o.Nearest(addr)
		if ok != (want != "") || str(o, f.Func) != want {
			t.Errorf("%#x: %q", addr, str(o, f.Func))
		}
	}
	if f, _ := o.Nearest(0x105); f.Entry != 0x100 || f.Size != 0x10 {
		t.Errorf("%+v", f)
	}
}

func TestDeepNestsAreCut(t *testing.T) {
	s := fixture.NewSym("x").File(0, "a.c").Origin(0, "again").Func(0x1000, 0x1000, "f")
	const levels = 100_000
	for i := range levels {
		s.Inline(i, 1, 0, 0, 0x1000, 0x1000)
	}
	o := open(t, s.Line(0x1000, 0x1000, 2, 0).Bytes())
	if n := len(o.Lookup(nil, 0x1800)); n != 257 {
		t.Errorf("%d frames", n)
	}
	if err := o.Blocks(object.BlockOptions{Workers: 1}, discard); err != nil {
		t.Fatal(err)
	}
	if info := o.Info(); info.BadRecords != levels-256 || info.Damage[0].Kind != "too deep" {
		t.Errorf("%d bad records: %+v", info.BadRecords, info.Damage)
	}
}

func TestFunctionsThatOverlapTooDeepAreLeftOut(t *testing.T) {
	s := fixture.NewSym("x")
	for i := range uint64(100) {
		s.Func(0x1000+i, 0x1000, fmt.Sprint("f", i))
	}
	o := open(t, s.Func(0x3000, 1, "alone").Bytes())
	wants(t, o, map[uint64]string{0x103f: "f63 :0 [103f+1000]", 0x1040: "f63 :0 [103f+1000]", 0x3000: "alone :0 [3000+1]"})
	if info := o.Info(); info.BadRecords != 36 || info.Counts.Functions != 65 {
		t.Errorf("%+v", info)
	}
}

// Each of these is small, and would be continued in each of many parents.
func TestContinuedInlinesAreBounded(t *testing.T) {
	s := fixture.NewSym("x").Origin(0, "i").Func(0, 1<<20, "f")
	for i := range uint64(20_000) {
		s.Inline(0, 1, 0, 0, 16*i, 16)
	}
	for i := range uint64(20_000) {
		s.Inline(1+int(i%200), 2, 0, 0, i, 1<<19)
	}
	s.Line(0, 1<<20, 1, 0)
	nodes := 0
	o := open(t, s.Bytes())
	if err := o.Blocks(object.BlockOptions{Workers: 1}, func(b *sym.Block) error { nodes += len(b.Nodes); return nil }); err != nil {
		t.Fatal(err)
	}
	if nodes > 100_000 {
		t.Errorf("%d nodes of 40,000 records", nodes)
	}
}

func TestBlocksDoNotRepeatThemselves(t *testing.T) {
	o := open(t, fixture.NewSym("x").File(0, "a.c").Origin(0, "i").Func(0x100, 0x60, "f").
		Inline(0, 1, 0, 0, 0x110, 8, 0x120, 8, 0x130, 8).
		Line(0x100, 8, 1, 0).Line(0x108, 8, 1, 0).Line(0x110, 0x40, 2, 0).Line(0x150, 8, 3, 0).Line(0x158, 8, 3, 0).Bytes())
	blocks := copyBlocks(t, o, 1)
	if len(blocks) != 1 || len(blocks[0].Nodes) != 2 || len(blocks[0].Rows) != 9 {
		t.Errorf("%+v", blocks)
	}
}

func TestFilesInWhichAllOverlapsAreCut(t *testing.T) {
	s := fixture.NewSym("x").File(0, "a.c").Func(0, 1<<20, "everything").Line(0, 1<<20, 1, 0).Raw("8 q 1 0").Line(1<<19, 8, 2, 0)
	r := rand.New(rand.NewPCG(3, 4))
	name := strings.Repeat("a long name ", 12)
	for i := range uint64(60_000) {
		s.Func(16*(i-i%2), 8+r.Uint64N(48), name)
		if r.IntN(4) == 0 {
			s.Line(16*i, 4, 3, 0).Line(16*i+12, 4, 4, 0)
		}
		if r.IntN(20) == 0 {
			s.Public(16*i+r.Uint64N(16), "p")
		}
	}
	f, err := debugfile.Open(onDisk{bin.Bytes(s.Bytes())}, object.Options{})
	if err != nil {
		t.Fatal(err)
	}
	o := f.Objects()[0]
	blocks := copyBlocks(t, o, 2)
	if n := o.Info().BadRecords; len(blocks) < 3 || n != 1 {
		t.Fatalf("%d blocks, %d bad records", len(blocks), n)
	}
	var frames []sym.Frame
	for b, blk := range blocks {
		for i, row := range blk.Rows {
			if frames = o.Lookup(frames[:0], row.Addr); !slices.Equal(frames, blk.Frames(nil, i)) {
				t.Fatalf("block %d, %#x: %s, lookup %s", b, row.Addr, show(o, blk.Frames(nil, i)), show(o, frames))
			}
			if i > 0 {
				if frames = o.Lookup(frames[:0], row.Addr-1); !slices.Equal(frames, blk.Frames(nil, i-1)) {
					t.Fatalf("block %d, before %#x: %s, lookup %s", b, row.Addr, show(o, blk.Frames(nil, i-1)), show(o, frames))
				}
			}
		}
		if b > 0 {
			before := &blocks[b-1]
			if frames = o.Lookup(frames[:0], blk.Rows[0].Addr-1); !slices.Equal(frames, before.Frames(nil, len(before.Rows)-1)) {
				t.Fatalf("end of block %d: lookup %s", b-1, show(o, frames))
			}
		}
	}
}

func TestPublicsComeInRuns(t *testing.T) {
	s := fixture.NewSym("x")
	for i := range uint64(3000) {
		s.Public(0x1000+i, "p")
	}
	blocks := copyBlocks(t, open(t, s.Func(0x1800, 4, "f").Bytes()), 2)
	if len(blocks) != 7 {
		t.Errorf("%d blocks", len(blocks))
	}
}

func TestBlocksAreTheSameForAnyNumberOfWorkers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	s := fixture.NewSym("x").File(0, "a.c").Origin(0, "i")
	for i := range uint64(20_000) {
		s.Func(16*i, 16+uint64(r.IntN(3))*8, "f").Inline(0, 1, 0, 0, 16*i+4, 4).Line(16*i, 16, r.IntN(9), 0).Raw("1 x")
		if r.IntN(5) == 0 {
			s.Public(16*i+uint64(r.IntN(16)), "p")
		}
	}
	for _, src := range []bin.Source{bin.Bytes(s.Bytes()), onDisk{bin.Bytes(s.Bytes())}} {
		var first []sym.Block
		var info object.Info
		for _, workers := range []int{0, 1, 2, 7} {
			f, err := debugfile.Open(src, object.Options{})
			if err != nil {
				t.Fatal(err)
			}
			o := f.Objects()[0]
			got := copyBlocks(t, o, workers)
			if first == nil {
				first, info = got, o.Info()
				continue
			}
			if fmt.Sprint(o.Info()) != fmt.Sprint(info) {
				t.Fatalf("%d workers: %v, before %v", workers, o.Info(), info)
			}
			if len(got) != len(first) {
				t.Fatalf("%d workers: %d blocks, before %d", workers, len(got), len(first))
			}
			for i := range got {
				if !slices.Equal(got[i].Nodes, first[i].Nodes) || !slices.Equal(got[i].Rows, first[i].Rows) {
					t.Fatalf("%d workers: block %d differs", workers, i)
				}
			}
		}
	}
}

func TestBlocksEndWhenToldTo(t *testing.T) {
	s := fixture.NewSym("x")
	for i := range uint64(10_000) {
		s.Func(16*i, 8, "f")
	}
	o := open(t, s.Bytes())
	enough := errors.New("enough")
	for _, workers := range []int{1, 4} {
		n := 0
		err := o.Blocks(object.BlockOptions{Workers: workers}, func(*sym.Block) error {
			if n++; n == 1000 {
				return enough
			}
			return nil
		})
		if err != enough || n != 1000 {
			t.Errorf("%d workers: %v after %d", workers, err, n)
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	m := randomFile(rand.New(rand.NewPCG(7, 7)), true)
	text, want := m.text().Bytes(), m.answers()
	f, err := debugfile.Open(onDisk{bin.Bytes(text)}, object.Options{})
	if err != nil {
		t.Fatal(err)
	}
	o := f.Objects()[0]
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(g)))
			for range 300 {
				a := r.Uint64N(modelEnd)
				if got := show(o, o.Lookup(nil, a)); got != want[a] {
					t.Errorf("%#x: got %s, want %s", a, got, want[a])
				}
			}
			if err := o.Blocks(object.BlockOptions{Workers: 2}, discard); err != nil {
				t.Error(err)
			}
			o.Info()
		})
	}
	wg.Wait()
}

func TestEveryTruncationIsHarmless(t *testing.T) {
	text := sample().Win(0x10, 4, "$eip 4 +").Func(0x1020, 0x40, "lap").Line(0x1020, 8, 4, 1).Bytes()
	for n := range len(text) {
		f, err := debugfile.Open(bin.Bytes(text[:n]), object.Options{})
		if err != nil {
			continue
		}
		o := f.Objects()[0]
		for _, a := range []uint64{0, 0x1000, 0x1018, 0x1030, 0x2000} {
			show(o, o.Lookup(nil, a))
		}
		copyBlocks(t, o, 2)
	}
}

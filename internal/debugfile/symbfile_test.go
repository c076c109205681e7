package debugfile_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/debugfile"
	"symbolon/internal/fixture"
	"symbolon/internal/format/symbfile"
	"symbolon/internal/object"
	"symbolon/internal/sym"
)

// symb is a symbfile of these records.
func symb(t testing.TB, records ...any) []byte {
	t.Helper()
	var b bytes.Buffer
	w := symbfile.NewWriter(&b)
	for _, r := range records {
		var err error
		switch r := r.(type) {
		case symbfile.Range:
			err = w.Range(&r)
		case symbfile.Pad:
			err = w.Pad(&r)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// lines are lines of a range, out of pairs of an offset and a line.
func lines(pairs ...uint64) (l []symbfile.Line) {
	for i := 0; i < len(pairs); i += 2 {
		l = append(l, symbfile.Line{Offset: pairs[i], Line: uint32(pairs[i+1])})
	}
	return l
}

// trace is an answer, outermost first, and the size of the function.
func trace(o *object.Object, addr uint64) string {
	var out []string
	for _, f := range o.Lookup(nil, addr) {
		out = append(out, fmt.Sprintf("%s %s:%d", o.AppendText(nil, f.Func), o.AppendText(nil, f.File), f.Line))
	}
	slices.Reverse(out)
	return strings.Join(out, "; ")
}

// The example of the format's description.
func TestSymbfilesAnswerAsTheirFormatSays(t *testing.T) {
	o := open(t, symb(t,
		symbfile.Range{VA: 0x1000, Length: 0x40, Func: []byte("main"), File: []byte("main.c"), Lines: lines(0, 10, 8, 11, 0x30, 13)},
		symbfile.Range{VA: 0x1010, Length: 0x20, Func: []byte("outer_inl"), File: []byte("main.c"), CallFile: []byte("main.c"), CallLine: 12, Depth: 1, Lines: lines(0, 3)},
		symbfile.Range{VA: 0x1018, Length: 0x10, Func: []byte("leaf_inl"), File: []byte("leaf.h"), CallLine: 4, Depth: 2, Lines: lines(0, 70, 4, 71)},
	))
	for addr, want := range map[uint64]string{
		0xfff: "", 0x1040: "", 0x1000: "main main.c:10", 0x1008: "main main.c:11", 0x100f: "main main.c:11",
		0x1010: "main main.c:12; outer_inl main.c:3", 0x1018: "main main.c:12; outer_inl main.c:4; leaf_inl leaf.h:70",
		0x1027: "main main.c:12; outer_inl main.c:4; leaf_inl leaf.h:71", 0x102f: "main main.c:12; outer_inl main.c:3", 0x1030: "main main.c:13",
	} {
		if got := trace(o, addr); got != want {
			t.Errorf("%#x: got %q, want %q", addr, got, want)
		}
	}
	if info := o.Info(); info.Kind != "symbfile" || info.Features != object.HasDebug || info.Counts.Functions != 1 || o.Mangled() {
		t.Errorf("%+v", info)
	}
}

func TestWhatSymbfilesMayHold(t *testing.T) {
	f := func(va, length uint64, depth uint32, name string) symbfile.Range {
		return symbfile.Range{VA: va, Length: length, Func: []byte(name), Depth: depth}
	}
	in := func(r symbfile.Range, file, call []byte) symbfile.Range {
		r.File, r.CallFile, r.CallLine = file, call, 5
		return r
	}
	pad := symbfile.Pad{VA: 0x20, Frames: []symbfile.PadFrame{{Func: []byte("a"), File: []byte("/a"), Line: 1}, {Func: []byte("b"), Line: 2}}}
	for what, c := range map[string]struct {
		records []any
		want    map[uint64]string
	}{
		"any order":            {[]any{f(0x14, 4, 1, "in"), f(0x30, 4, 0, "g"), f(0x10, 0x10, 0, "f")}, map[uint64]string{0x14: "f :0; in :0", 0x18: "f :0", 0x30: "g :0", 0x20: ""}},
		"the shortest counts":  {[]any{f(0x10, 0x10, 0, "long"), f(0x14, 4, 0, "short"), f(0x10, 0x10, 0, "later")}, map[uint64]string{0x10: "long :0", 0x14: "short :0", 0x18: "long :0"}},
		"a depth is missing":   {[]any{f(0x10, 0x10, 0, "f"), f(0x12, 4, 2, "deep"), f(0x30, 4, 1, "lone")}, map[uint64]string{0x12: "f :0", 0x30: ""}},
		"empty, and too deep":  {[]any{f(0x10, 0, 0, "f"), f(0x20, 4, 300, "g")}, map[uint64]string{0x10: "", 0x20: ""}},
		"to the end of all":    {[]any{f(math.MaxUint64-3, 100, 0, "f")}, map[uint64]string{math.MaxUint64 - 1: "f :0", 0: ""}},
		"files of calls":       {[]any{in(f(0x10, 16, 0, "f"), []byte("/f"), nil), in(f(0x10, 1, 1, "a"), nil, nil), in(f(0x11, 1, 1, "b"), nil, []byte{}), in(f(0x12, 1, 1, "c"), nil, []byte("/c"))}, map[uint64]string{0x10: "f /f:5; a :0", 0x11: "f :5; b :0", 0x12: "f /c:5; c :0"}},
		"pads":                 {[]any{pad, pad}, map[uint64]string{0x1f: "", 0x20: "a /a:1; b :2", 0x21: ""}},
		"ranges go before":     {[]any{pad, f(0x10, 0x20, 0, "f")}, map[uint64]string{0x20: "f :0"}},
		"a pad beside a range": {[]any{pad, f(0x21, 0x20, 0, "f")}, map[uint64]string{0x20: "a /a:1; b :2", 0x21: "f :0"}},
		"the last pad of all":  {[]any{symbfile.Pad{VA: math.MaxUint64, Frames: pad.Frames}}, map[uint64]string{math.MaxUint64: "a /a:1; b :2", 0: ""}},
		"a pad without frames": {[]any{symbfile.Pad{VA: 5}}, map[uint64]string{5: ""}},
	} {
		o := open(t, symb(t, c.records...))
		for addr, want := range c.want {
			if got := trace(o, addr); got != want {
				t.Errorf("%s: %#x: got %q, want %q", what, addr, got, want)
			}
		}
	}
}

// A function that was written in pieces is one function.
func TestPiecesOfAFunctionAreJoined(t *testing.T) {
	piece := func(va, length uint64, name string) symbfile.Range {
		return symbfile.Range{VA: va, Length: length, Func: []byte(name)}
	}
	o := open(t, symb(t, piece(0x10, 0x10, "f"), piece(0x20, 8, "f"), piece(0x28, 8, "g"), piece(0x30, 8, "f"), piece(0x40, 8, "f")))
	for addr, want := range map[uint64][2]uint64{0x11: {0x10, 0x18}, 0x27: {0x10, 0x18}, 0x29: {0x28, 8}, 0x31: {0x30, 8}, 0x41: {0x40, 8}} {
		f := o.Lookup(nil, addr)[0]
		near, ok := o.Nearest(addr)
		if got := [2]uint64{f.Entry, f.Size}; got != want || !ok || near.Entry != want[0] || near.Size != want[1] {
			t.Errorf("%#x is in %#x, nearest is %+v", addr, got, near)
		}
	}
	if _, ok := o.Nearest(0xf); ok {
		t.Error("there is nothing before the first")
	}
}

// Each address has the ranges around it, one of each depth up to the first missing
// depth.
func TestSymbfilesAreRebased(t *testing.T) {
	o := open(t, symb(t,
		symbfile.Range{VA: 0x100, Length: 0x10, Func: []byte("below")},
		symbfile.Range{VA: 0x400100, Length: 0x10, Func: []byte("f"), File: []byte("f.c"), Lines: lines(0, 1, 4, 2)},
		symbfile.Range{VA: 0x400104, Length: 4, Func: []byte("g"), CallLine: 7, Depth: 1},
		symbfile.Pad{VA: 0x400120, Frames: []symbfile.PadFrame{{Func: []byte("h"), Line: 9}}},
		symbfile.Pad{VA: 0x3fffff, Frames: []symbfile.PadFrame{{Func: []byte("below too"), Line: 9}}},
	))
	o.Rebase(0x400000)
	if o.Info().LoadAddress != 0x400000 {
		t.Errorf("the load address is %#x", o.Info().LoadAddress)
	}
	for addr, want := range map[uint64]string{0x100: "f f.c:1", 0x104: "f f.c:7; g :0", 0x120: "h :9", 0x400100: "", 0x3fffff: ""} {
		if got := trace(o, addr); got != want {
			t.Errorf("%#x: %q, want %q", addr, got, want)
		}
	}
	if f, ok := o.Nearest(0x110); !ok || f.Entry != 0x100 || f.Size != 0x10 {
		t.Errorf("nearest is %+v, %v", f, ok)
	}
}

func TestSymbfilesAnswerAsAPlainSearchDoes(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for range 300 {
		var records []any
		var all []symbfile.Range
		for i := range 1 + r.IntN(30) {
			x := symbfile.Range{VA: r.Uint64N(60), Length: 1 + r.Uint64N(30), Depth: uint32(r.IntN(4)), Func: fmt.Appendf(nil, "f%d", i)}
			for off := uint64(0); off < x.Length && r.IntN(3) > 0; off += r.Uint64N(5) {
				x.Lines = append(x.Lines, symbfile.Line{Offset: off, Line: uint32(r.IntN(9))})
			}
			records, all = append(records, x), append(all, x)
		}
		o := open(t, symb(t, records...))
		if o.Info().BadRecords > 0 {
			continue // too many of one depth
		}
		last := int64(-1)
		if err := o.Blocks(object.BlockOptions{}, func(b *sym.Block) error {
			for _, row := range b.Rows {
				if int64(row.Addr) <= last {
					return fmt.Errorf("a row at %#x after one at %#x", row.Addr, last)
				}
				last = int64(row.Addr)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		for addr := range uint64(100) {
			if got, want := trace(o, addr), plainSearch(all, addr); got != want && o.Info().BadRecords == 0 {
				t.Fatalf("%#x: got %q, want %q in %+v", addr, got, want, all)
			}
		}
	}
}

func plainSearch(all []symbfile.Range, addr uint64) string {
	var out []string
	var inner *symbfile.Range
	for depth := uint32(0); ; depth++ {
		var best *symbfile.Range
		for i := range all {
			x := &all[i]
			if x.Depth == depth && addr >= x.VA && addr-x.VA < x.Length && (best == nil || x.Length < best.Length) {
				best = x
			}
		}
		if best == nil {
			break
		}
		out, inner = append(out, fmt.Sprintf("%s :0", best.Func)), best
	}
	if inner == nil {
		return ""
	}
	line := uint32(0)
	for _, l := range inner.Lines {
		if l.Offset <= addr-inner.VA {
			line = l.Line
		}
	}
	out[len(out)-1] = fmt.Sprintf("%s :%d", inner.Func, line)
	return strings.Join(out, "; ")
}

// A table is made of a symbfile as of all else, in blocks that are not too long.
func TestBlocksOfSymbfilesAreBounded(t *testing.T) {
	var records []any
	for i := range uint64(20_000) {
		records = append(records, symbfile.Range{VA: i * 4, Length: 4, Func: fmt.Appendf(nil, "f%d", i)})
	}
	o := open(t, symb(t, records...))
	blocks, rows := 0, 0
	if err := o.Blocks(object.BlockOptions{}, func(b *sym.Block) error {
		blocks, rows = blocks+1, max(rows, len(b.Rows))
		return nil
	}); err != nil || blocks < 4 || rows > 5000 {
		t.Errorf("%d blocks of up to %d rows, %v", blocks, rows, err)
	}
}

func TestManyRangesOfOneDepthAreToldAsDamage(t *testing.T) {
	var records []any
	for i := range 20 {
		records = append(records, symbfile.Range{VA: 0x10, Length: uint64(100 + i), Func: []byte("f")})
	}
	o := open(t, symb(t, records...))
	if got := trace(o, 0x10); got != "f :0" || o.Info().BadRecords != 12 {
		t.Errorf("%q, %d damaged", got, o.Info().BadRecords)
	}
	if _, err := debugfile.Open(bin.Bytes(append(symb(t, records...), 5)), object.Options{}); err == nil || !strings.Contains(err.Error(), "symbfile") {
		t.Error(err)
	}
}

// Each time another range of a function counts, all that is inlined there is of
// another function.
func TestOverlapsCostNoMoreThanTheirFile(t *testing.T) {
	var records []any
	for depth := range uint32(257) {
		records = append(records, symbfile.Range{VA: 0, Length: 100_000, Depth: depth, Func: []byte("f")})
	}
	for i := range uint64(6000) {
		records = append(records, symbfile.Range{VA: 8 * i, Length: 4, Func: []byte("g")})
	}
	o := open(t, symb(t, records...))
	nodes := 0
	if err := o.Blocks(object.BlockOptions{}, func(b *sym.Block) error {
		nodes += len(b.Nodes)
		return nil
	}); err != nil || nodes > 200_000 || o.Info().BadRecords == 0 {
		t.Errorf("%d nodes, %d damaged, %v", nodes, o.Info().BadRecords, err)
	}
}

// Too long names and too deep stacks are truncated: else one lookup could cost as much
// as the whole file. The innermost frames of a stack are kept.
func TestLongReturnPadsKeepTheInnermostFrames(t *testing.T) {
	const all, kept = 5000, 4096
	var names []string
	var numbers []uint64
	for i := range uint64(all) {
		names, numbers = append(names, fmt.Sprint("f", i)), append(numbers, i)
	}
	pad := fixture.Proto{}.Num(5, 0x50).Packed(2, numbers...).Packed(3, numbers...).Packed(4, numbers...)
	o := open(t, fixture.NewSymbfile().Table(names...).Message(fixture.SymbfilePad, pad).Bytes())
	frames := o.Lookup(nil, 0x50)
	if len(frames) != kept {
		t.Fatalf("%d frames, want %d", len(frames), kept)
	}
	for i, f := range map[string]sym.Frame{"f4999": frames[0], "f904": frames[kept-1]} {
		if got := str(o, f.Func); got != i {
			t.Errorf("%s instead of %s", got, i)
		}
	}
	if f := frames[0]; f.Line != 4999 || str(o, f.File) != "f4999" {
		t.Errorf("the innermost frame is at %s:%d", str(o, f.File), f.Line)
	}
	if d := o.Info().Damage; len(d) != 1 || len(d[0].Places) != 1 || !strings.Contains(d[0].Places[0], "its 904 outermost frames are left out") {
		t.Errorf("damage %+v", d)
	}
}

func TestHostileSymbfilesCostLittle(t *testing.T) {
	zeros := make([]uint64, 100_000)
	pad := fixture.Proto{}.Num(5, 0x50).Packed(2, zeros...).Packed(3, zeros...).Packed(4, zeros...)
	file := fixture.NewSymbfile().Table(strings.Repeat("n", 8<<20)).Message(fixture.SymbfilePad, pad).Message(fixture.SymbfilePad, pad).Bytes()
	start := time.Now()
	if _, err := debugfile.Open(bin.Bytes(file), object.Options{}); err == nil || !strings.Contains(err.Error(), "the names in the return pad at 0x50 are longer than 4MiB") {
		t.Error(err)
	}
	ranges := fixture.NewSymbfile().Table(strings.Repeat("n", 1<<20))
	for range 600 {
		ranges.Message(fixture.SymbfileRange, fixture.Proto{}.Num(12, 0x10).Num(2, 4).Num(9, 0))
	}
	if _, err := debugfile.Open(bin.Bytes(ranges.Bytes()), object.Options{}); err == nil || !strings.Contains(err.Error(), "too long for how often") {
		t.Error(err)
	}
	file = fixture.NewSymbfile().Table(strings.Repeat("n", 2<<20)).Message(fixture.SymbfileRange, fixture.Proto{}.Num(12, 0x10).Num(2, 4).Num(9, 0)).Bytes()
	o := open(t, file)
	if got := len(o.AppendText(nil, o.Lookup(nil, 0x10)[0].Func)); got != 1<<20 {
		t.Errorf("a name of %d bytes", got)
	}
	file = fixture.NewSymbfile().Table("n").Message(fixture.SymbfilePad, pad).Message(fixture.SymbfilePad, pad).Bytes()
	o = open(t, file)
	if frames := o.Lookup(nil, 0x50); len(frames) != 4096 || o.Info().BadRecords != 1 {
		t.Errorf("%d frames, %d damaged", len(frames), o.Info().BadRecords)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("%v", took)
	}
}

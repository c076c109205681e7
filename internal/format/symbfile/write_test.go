package symbfile_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"symbolon/internal/fault"
	"symbolon/internal/fixture"
	"symbolon/internal/format/symbfile"
)

func put(w *symbfile.Writer, rec any) error {
	switch x := rec.(type) {
	case symbfile.Range:
		return w.Range(&x)
	case symbfile.Pad:
		return w.Pad(&x)
	}
	return errors.New("no record")
}

func write(list []any) ([]byte, error) {
	var b bytes.Buffer
	w := symbfile.NewWriter(&b)
	for _, x := range list {
		if err := put(w, x); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

func TestWriteWorkedFiles(t *testing.T) {
	inOrder := fixture.NewSymbfile().Table("main.c").
		Message(2, fixture.Proto{}.Num(12, 0x1000).Num(2, 0x40).Text(3, "main").Num(10, 0).Sub(8, fixture.Proto{}.Packed(1, 0, 8, 0x28).Packed(2, 10, 11, 13))).
		Message(2, fixture.Proto{}.Signed(1, 16).Num(2, 0x20).Text(3, "outer_inl").Num(10, 0).Num(5, 12).Num(11, 0).Num(7, 1).Sub(8, fixture.Proto{}.Packed(1, 0).Packed(2, 3))).
		Message(2, fixture.Proto{}.Signed(1, 8).Num(2, 0x10).Text(3, "leaf_inl").Text(4, "leaf.h").Num(5, 4).Num(7, 2).Sub(8, fixture.Proto{}.Packed(1, 0, 4).Packed(2, 70, 71))).Bytes()
	for name, tc := range map[string]struct {
		list []any
		want []byte
	}{
		"ranges":  {ranges(), inOrder},
		"pads":    {pads(), unhex(workedPads)},
		"nothing": {nil, unhex("73796d6266696c65 0001 0004")},
		"zeros": {[]any{symbfile.Range{Func: text(""), File: text("")}, symbfile.Range{}, symbfile.Pad{}}, fixture.NewSymbfile().Table("").
			Message(2, fixture.Proto{}.Num(12, 0).Num(9, 0).Num(10, 0)).Message(2, fixture.Proto{}.Signed(1, 0).Num(9, 0)).Message(3, fixture.Proto{}.Signed(1, 0)).Bytes()},
		"a pad for a range": {[]any{symbfile.Range{Func: text("f"), CallFile: text("g")}, symbfile.Pad{VA: 1, Frames: []symbfile.PadFrame{{text("f"), nil, 0}}}}, fixture.NewSymbfile().Table("f", "").
			Message(2, fixture.Proto{}.Num(12, 0).Num(9, 0).Text(6, "g")).Message(3, fixture.Proto{}.Signed(1, 1).Packed(2, 0).Packed(3, 1).Packed(4, 0)).Bytes()},
		"far away": {[]any{symbfile.Pad{VA: 0}, symbfile.Pad{VA: math.MaxInt64}, symbfile.Pad{VA: math.MaxUint64}, symbfile.Pad{VA: math.MaxInt64}, symbfile.Pad{VA: math.MaxUint64}, symbfile.Pad{VA: 0}}, fixture.NewSymbfile().Table().
			Message(3, fixture.Proto{}.Num(5, 0)).Message(3, fixture.Proto{}.Signed(1, math.MaxInt64)).Message(3, fixture.Proto{}.Num(5, math.MaxUint64)).
			Message(3, fixture.Proto{}.Signed(1, math.MinInt64)).Message(3, fixture.Proto{}.Num(5, math.MaxUint64)).Message(3, fixture.Proto{}.Num(5, 0)).Bytes()},
	} {
		got, err := write(tc.list)
		if err != nil || !bytes.Equal(got, tc.want) {
			t.Errorf("%s: %v\n%x\n%x", name, err, got, tc.want)
		}
	}
	if len(inOrder) != len(unhex(workedRanges)) {
		t.Error("the order of fields changes the size")
	}
}

func TestStringsInTable(t *testing.T) {
	list := []any{
		symbfile.Range{Func: text("abc"), File: text("bcd"), CallFile: text("abc")},
		symbfile.Range{Func: text("xyz")},
		symbfile.Pad{Frames: []symbfile.PadFrame{{text("xyz"), text("abc"), 1}}},
	}
	b, err := write(list)
	if want := fixture.NewSymbfile().Table("abc", "xyz").Bytes(); err != nil || !bytes.HasPrefix(b, want) {
		t.Errorf("%v, %x", err, b)
	}
}

// mixed returns n records of all kinds.
func mixed(r *rand.Rand, n int) (list []any) {
	word := func() []byte {
		switch k := r.IntN(20); {
		case k == 0:
			return []byte{}
		case k < 8:
			return fmt.Appendf(nil, "name %d", r.IntN(20))
		case k < 14:
			return fmt.Appendf(nil, "/src/dir/%d.c", r.IntN(500))
		}
		return fmt.Appendf(nil, "größe<%x>", r.Uint64N(1<<r.IntN(64)))
	}
	maybe := func() []byte {
		if r.IntN(3) == 0 {
			return nil
		}
		return word()
	}
	at := uint64(0x400000)
	for range n {
		if at += r.Uint64N(300); r.IntN(40) == 0 {
			at = r.Uint64()
		}
		if r.IntN(2) == 0 {
			x := symbfile.Pad{VA: at}
			for range 1 + r.IntN(31) {
				f := symbfile.PadFrame{Func: word(), File: maybe(), Line: uint32(r.Uint64N(1 << r.IntN(33)))}
				if len(f.File) == 0 {
					f.File = nil
				}
				x.Frames = append(x.Frames, f)
			}
			list = append(list, x)
			continue
		}
		x := symbfile.Range{VA: at, Length: r.Uint64N(1 << r.IntN(50)), Func: word(), File: maybe(), CallFile: maybe(), CallLine: uint32(r.IntN(300)), Depth: uint32(r.IntN(5))}
		off := uint64(0)
		for range r.IntN(31) {
			off += r.Uint64N(1 << r.IntN(33))
			x.Lines = append(x.Lines, symbfile.Line{Offset: off, Line: r.Uint32()})
		}
		list = append(list, x)
	}
	return list
}

func TestWriteRoundTrip(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 1))
		list := mixed(r, 1+r.IntN(1000))
		b, err := write(list)
		if err != nil {
			t.Fatal(seed, err)
		}
		got, err := read(b)
		if err != nil || !reflect.DeepEqual(got, list) {
			t.Fatalf("seed %d: %d of %d records, %v", seed, len(got), len(list), err)
		}
		if again, err := write(list); err != nil || !bytes.Equal(b, again) {
			t.Fatalf("seed %d: the bytes differ, %v", seed, err)
		}
	}
}

func TestManyStringsNeedSeveralTables(t *testing.T) {
	var list []any
	name := func(i int) []byte { return fmt.Appendf(nil, "%0*d", 3000, i) }
	for i := range 7000 { // 21 MB
		list = append(list, symbfile.Range{VA: uint64(i), Func: name(i / 2), File: text("f")}, symbfile.Pad{VA: uint64(i), Frames: []symbfile.PadFrame{{name(i), nil, 1}}})
	}
	b, err := write(list)
	if err != nil {
		t.Fatal(err)
	}
	got, err := read(b)
	if err != nil || !reflect.DeepEqual(got, list) {
		t.Errorf("%d of %d records, %v", len(got), len(list), err)
	}
	// Strings with many uses have short refs, even if they come late.
	list = nil
	for i := range 40_000 {
		list = append(list, symbfile.Range{VA: uint64(i), Func: fmt.Appendf(nil, "%d", i%20_000), File: fmt.Appendf(nil, "f%d", max(i-30_000, 0)/100)})
	}
	b, err = write(list)
	if err != nil {
		t.Fatal(err)
	}
	if got, err = read(b); err != nil || !reflect.DeepEqual(got, list) {
		t.Errorf("%d of %d records, %v", len(got), len(list), err)
	}
	if want := fixture.NewSymbfile().Message(9, nil).Bytes(); len(b) < len(want) || !bytes.Contains(b[:1000], []byte("f7")) {
		t.Error("files do not have the first refs")
	}
}

func TestWriterRejects(t *testing.T) {
	big := bytes.Repeat([]byte("x"), 9<<20)
	other := bytes.Repeat([]byte("y"), 9<<20)
	many := make([]symbfile.Line, 1<<22)
	for i := range many {
		many[i] = symbfile.Line{Offset: uint64(i) << 9, Line: 1 << 30}
	}
	fine := ranges()
	for name, tc := range map[string]struct {
		rec  any
		want string
	}{
		"lines that are not sorted": {symbfile.Range{VA: 16, Lines: []symbfile.Line{{2, 1}, {1, 1}}}, "symbfile, range of 0x10: malformed: lines are not in ascending order"},
		"a large step":              {symbfile.Range{Lines: []symbfile.Line{{1 << 32, 1}}}, "offset exceeds 32 bits"},
		"rows":                      {symbfile.Range{Lines: make([]symbfile.Line, 1<<22+1)}, "too many rows"},
		"rows of many bytes":        {symbfile.Range{Lines: many}, "exceeds 16 MiB"},
		"frames":                    {symbfile.Pad{Frames: make([]symbfile.PadFrame, 1<<20+1)}, "too many rows"},
		"func":                      {symbfile.Range{Func: text("\xff")}, "must be UTF-8"},
		"file":                      {symbfile.Range{File: text("\xff")}, "must be UTF-8"},
		"callFile":                  {symbfile.Range{CallFile: text("\xff")}, "must be UTF-8"},
		"func of a pad":             {symbfile.Pad{Frames: []symbfile.PadFrame{{text("\xff"), nil, 1}}}, "must be UTF-8"},
		"file of a pad":             {symbfile.Pad{Frames: []symbfile.PadFrame{{nil, text("\xff"), 1}}}, "must be UTF-8"},
		"text":                      {symbfile.Range{Func: big, File: other}, "exceeds 16 MiB"},
		"text of a pad":             {symbfile.Pad{VA: 1, Frames: []symbfile.PadFrame{{big, other, 1}}}, "symbfile, return pad of 0x1: malformed: message exceeds 16 MiB"},
		"large, and fine":           {symbfile.Range{Func: big, File: big}, ""},
		"large pad, and fine":       {symbfile.Pad{Frames: []symbfile.PadFrame{{big, big, 1}}}, ""},
		"many rows, and fine":       {symbfile.Range{Func: text(""), Lines: make([]symbfile.Line, 1<<22)}, ""},
	} {
		var b bytes.Buffer
		w := symbfile.NewWriter(&b)
		want := fine
		first := put(w, fine[0])
		err := put(w, tc.rec)
		if tc.want == "" {
			want = []any{fine[0], tc.rec, fine[1], fine[2]}
		}
		if (err == nil) != (tc.want == "") || err != nil && (!strings.Contains(err.Error(), tc.want) || fault.KindOf(err) != fault.Malformed) {
			t.Errorf("%s: %v", name, err)
		}
		if err := errors.Join(first, put(w, fine[1]), put(w, fine[2]), w.Close()); err != nil {
			t.Errorf("%s: after it: %v", name, err)
		}
		if got, err := read(b.Bytes()); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %d records after it, %v", name, len(got), err)
		}
	}
}

func TestErrorsOfWriterArePermanent(t *testing.T) {
	list := mixed(rand.New(rand.NewPCG(1, 1)), 5000)
	whole, err := write(list)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, 5, 70_000, len(whole) - 1} {
		w := symbfile.NewWriter(&full{left: n})
		for _, x := range list {
			if err := put(w, x); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); !errors.Is(err, errFull) {
			t.Errorf("%d bytes: %v", n, err)
		}
		if err := errors.Join(w.Range(&symbfile.Range{}), w.Pad(&symbfile.Pad{})); !errors.Is(err, errFull) {
			t.Errorf("%d bytes, then %v", n, err)
		}
		if err := w.Close(); !errors.Is(err, errFull) {
			t.Errorf("%d bytes, at last %v", n, err)
		}
	}
	large := symbfile.Range{Func: bytes.Repeat([]byte("x"), 16<<20-1000)}
	w := symbfile.NewWriter(&full{})
	if err := errors.Join(w.Range(&large), w.Range(&large), w.Pad(&symbfile.Pad{})); !errors.Is(err, errFull) {
		t.Error(err)
	}
	w = symbfile.NewWriter(io.Discard)
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if w.Range(&symbfile.Range{}) == nil || w.Close() == nil {
		t.Error("the Writer is open after Close")
	}
}

var errFull = errors.New("full")

type full struct{ left int }

func (f *full) Write(b []byte) (int, error) {
	if f.left -= len(b); f.left < 0 {
		return 0, errFull
	}
	return len(b), nil
}

func TestMemoryIsBounded(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	cut := append(fixture.NewSymbfile().Bytes(), 0x80, 0x80, 0x80, 8, 4, 1, 2, 3)
	for range 50 {
		if _, err := read(cut); err == nil {
			t.Fatal("a file that ends early")
		}
	}
	if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 50*2*64<<10 {
		t.Errorf("%d bytes allocated for missing data", after.TotalAlloc-before.TotalAlloc)
	}
	// A million records take a few MB more than the largest batch.
	pr, pw := io.Pipe()
	go func() {
		w := symbfile.NewWriter(pw)
		name := []byte("a function that has a name 0000000")
		x := symbfile.Range{Func: name, File: text("file.c"), Lines: []symbfile.Line{{0, 1}, {4, 2}}}
		for i := range 1_000_000 {
			x.VA = uint64(i) * 16
			copy(name[len(name)-7:], fmt.Sprintf("%07d", i/3))
			if err := w.Range(&x); err != nil {
				pw.CloseWithError(err)
				return
			}
		}
		pw.CloseWithError(w.Close())
	}()
	r := symbfile.NewReader(pr)
	most, n := uint64(0), 0
	for {
		_, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if n++; n%100_000 == 0 {
			runtime.GC()
			runtime.ReadMemStats(&after)
			most = max(most, after.HeapAlloc)
		}
	}
	if n != 1_000_000 || most > before.HeapAlloc+120<<20 {
		t.Errorf("%d records, %d MB", n, most>>20)
	}
}

func TestRecordsDoNotAllocate(t *testing.T) {
	list := mixed(rand.New(rand.NewPCG(7, 7)), 3000)
	b, err := write(list)
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(3, func() {
		r := symbfile.NewReader(bytes.NewReader(b))
		for {
			if _, err := r.Next(); err != nil {
				return
			}
		}
	}); n > 100 {
		t.Errorf("%.0f allocations to read %d records", n, len(list))
	}
	w := symbfile.NewWriter(io.Discard)
	x, p := list[0], symbfile.Pad{Frames: []symbfile.PadFrame{{text("a"), text("b"), 3}}}
	r, ok := x.(symbfile.Range)
	for i := 1; !ok; i++ {
		r, ok = list[i].(symbfile.Range)
	}
	add := func() {
		for range 100_000 {
			if w.Range(&r) != nil || w.Pad(&p) != nil {
				t.Fatal("the range is not written")
			}
		}
	}
	for range 20 { // some batches
		add()
	}
	if n := testing.AllocsPerRun(3, add); n > 50 {
		t.Errorf("%.0f allocations to write 200,000 records", n)
	}
}

// A name of nearly the size of a message is written once, whatever the number of
// records that refer to it.
func TestLongNamesAreWrittenOnce(t *testing.T) {
	var b bytes.Buffer
	w := symbfile.NewWriter(&b)
	name := bytes.Repeat([]byte("n"), 15<<20)
	for i := range uint64(30) {
		if err := w.Range(&symbfile.Range{VA: i, Length: 1, Func: name}); err != nil {
			t.Fatal(err)
		}
		if err := w.Pad(&symbfile.Pad{VA: i, Frames: []symbfile.PadFrame{{Func: name, File: name}}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil || b.Len() > 32<<20 {
		t.Fatalf("%d bytes, %v", b.Len(), err)
	}
	r := symbfile.NewReader(&b)
	n := 0
	for ; ; n++ {
		rec, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil || rec.Range != nil && len(rec.Range.Func) != len(name) || rec.Pad != nil && len(rec.Pad.Frames[0].File) != len(name) {
			t.Fatal(n, err)
		}
	}
	if n != 60 {
		t.Errorf("%d records", n)
	}
}

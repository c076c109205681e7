package symbfile_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"symbolon/internal/fixture"
	"symbolon/internal/format/symbfile"
)

func seeds(f *testing.F) {
	for _, s := range []string{workedRanges, workedPads, documented} {
		f.Add(unhex(s))
	}
	if b, err := write(mixed(rand.New(rand.NewPCG(3, 3)), 20)); err == nil {
		f.Add(b)
	}
	f.Add(fixture.NewSymbfile().Message(9, fixture.Proto("\xde\xad")).Table("a", "").
		Message(2, va(1).Group(20, fixture.Proto{}.Group(21, fixture.Proto{}.Fixed(1, 1, 2, 3, 4))).Num(9, 0).Num(10, 1).Sub(8, fixture.Proto{}.Num(1, 1<<31).Num(1, 1<<31).Packed(2, 3, 4))).
		Message(3, fixture.Proto{}.Signed(1, -5).Num(2, 0).Packed(3, 1).Num(4, 9)).Bytes())
	f.Add(append(fixture.NewSymbfile().Bytes(), unhex("8a8080808080808080 7e 8280808080808080 8000 60")...))
}

// FuzzReader checks that the reader terminates, that its output is bounded by the
// input, that a source outside of memory and the offsets of records have the same
// results, that a strict reader accepts no more files, and that the dump agrees.
func FuzzReader(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		r := symbfile.NewReader(bytes.NewReader(b))
		var err error
		for last := int64(-1); ; last = r.Offset() {
			var rec symbfile.Record
			if rec, err = r.Next(); err != nil {
				break
			}
			if r.Offset() <= last || r.Offset() >= int64(len(b)) || (rec.Range == nil) == (rec.Pad == nil) {
				t.Fatalf("%v at %d, after %d", rec, r.Offset(), last)
			}
			if x := rec.Range; x != nil && len(x.Func)+len(x.Lines) > len(b) || x == nil && len(rec.Pad.Frames) > len(b) {
				t.Fatalf("more bytes than the input at %d", r.Offset())
			}
		}
		list, whole := read(b)
		if (whole == nil) != (err == io.EOF) {
			t.Fatal(whole, err)
		}
		again, slow := all(symbfile.NewReader(&pieces{b, 0}))
		if (whole == nil) != (slow == nil) || !reflect.DeepEqual(list, again) {
			t.Fatalf("%v, by pieces %v", whole, slow)
		}
		if less, strict := strictly(b); len(less) > len(list) || strict == nil && whole != nil {
			t.Fatalf("%v, strictly %v", whole, strict)
		}
		checkPlaces(t, "by places", b)
		var s strings.Builder
		if dump := symbfile.Dump(&s, bytes.NewReader(b)); (dump == nil) != (whole == nil) {
			t.Fatalf("%v, in the dump %v", whole, dump)
		}
	})
}

// pieces returns a few bytes at a time.
type pieces struct {
	b []byte
	n int
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.b) == 0 {
		return 0, io.EOF
	}
	p.n = p.n%7 + 1
	n := copy(b[:min(len(b), p.n)], p.b)
	p.b = p.b[n:]
	return n, nil
}

// FuzzRoundTrip checks that records can be written, with the same bytes each time,
// and are read again unchanged.
func FuzzRoundTrip(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		list, _ := read(b)
		out, err := write(list)
		if err != nil {
			t.Fatal(err)
		}
		again, err := read(out)
		if err != nil || !reflect.DeepEqual(list, again) {
			t.Fatalf("%v, then %v, %v", list, again, err)
		}
		if same, err := write(again); err != nil || !bytes.Equal(same, out) {
			t.Fatalf("%x, then %x, %v", out, same, err)
		}
	})
}

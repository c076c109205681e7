package ppdb_test

import (
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/fixture"
	"symbolon/internal/format/ppdb"
)

// FuzzOpen checks that every reader terminates, that points are in ascending
// order, and that results are bounded.
func FuzzOpen(f *testing.F) {
	f.Add(sample().Bytes())
	wide := fixture.NewPPDB()
	wide.Wide, wide.Edited = true, true
	f.Add(fill(wide).Bytes())
	most := sample()
	most.Counts = map[int]uint32{fixture.PPDBMethod: 1<<32 - 1}
	f.Add(most.Bytes())
	far := fixture.NewPPDB()
	far.Rows = map[int]uint32{6: 1 << 20}
	f.Add(far.Method(9, fixture.NewPPDBPoints(0).Point(0, 1, 1, 1, 2).Raw(0, 0xc0)).Source(1, 1<<31, nil).Row(fixture.PPDBCustom, "4hh", 54, 1, 9).Bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		x, err := ppdb.Open(bin.Bytes(b))
		if err != nil {
			return
		}
		if n := x.Documents() + x.Methods() + x.Sources(); n > len(b) {
			t.Fatalf("%d rows in %d bytes", n, len(b))
		}
		for d := range min(x.Documents(), 64) {
			if path := x.AppendPath(nil, uint32(d+1)); len(path) > 4<<10 {
				t.Fatalf("a path of %d bytes", len(path))
			}
			if text, _, err := x.Source(uint32(d + 1)); len(text) > len(b) || err != nil && text != nil {
				t.Fatalf("a source of %d bytes, %v", len(text), err)
			}
		}
		for m := range min(x.Methods(), 64) {
			last, n := uint32(0), 0
			for p := x.Points(uint32(m + 1)); p.Next(); n++ {
				if n > 0 && p.IL <= last || n > len(b) {
					t.Fatalf("point %d at %#x after %#x", n, p.IL, last)
				}
				last = p.IL
			}
		}
	})
}

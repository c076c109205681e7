package cab_test

import (
	"io"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/fixture"
	"symbolon/internal/format/cab"
	"symbolon/internal/format/flate"
)

// FuzzReader checks that every file ends, within its size and all within the
// limit, and that a source outside of memory has the same result.
func FuzzReader(f *testing.F) {
	data := samples()["text"][:3000]
	names := []string{`a\b`, "c"}
	for _, method := range []uint16{fixture.CabStored, fixture.CabMSZIP, fixture.CabQuantum, fixture.CabLZX | 15<<8, fixture.CabLZX | 21<<8} {
		f.Add(fixture.CabOf(method, names, data[:1000], data[1000:]).Bytes())
	}
	for _, kind := range []int{fixture.LZXVerbatim, fixture.LZXAligned, fixture.LZXRaw} {
		z := fixture.NewLZX(17)
		z.Kinds, z.Size, z.Calls = []int{kind}, 777, 2000
		c := &fixture.Cab{Prev: "p", Next: "n", Reserve: [3]int{4, 4, 4}, NoSums: true}
		f.Add(c.Folder(fixture.CabLZX|17<<8, z.Blocks(data)...).Folder(fixture.CabMSZIP, fixture.CabZip(data)...).Again().
			File(fixture.CabFile{Name: "x", Size: 3000}).File(fixture.CabFile{Name: "y", Size: 3000, Folder: 1}).
			File(fixture.CabFile{Name: "z", Size: 30, Folder: 2}).File(fixture.CabFile{Name: "e", Size: 40_000, Folder: fixture.CabToNext}).Bytes())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		const limit = 1 << 20
		read := func(src bin.Source) (total int64, list []string) {
			r, err := cab.Open(src, limit)
			if err != nil {
				return 0, []string{err.Error()}
			}
			r.Inflate = flate.Follow
			for range 100 {
				x, err := r.Next()
				if err != nil {
					return total, append(list, err.Error())
				}
				n, err := io.Copy(io.Discard, r)
				if n > x.Size || err == nil && n != x.Size {
					t.Fatalf("%d bytes of %d, %v", n, x.Size, err)
				}
				if total += n; err != nil {
					list = append(list, err.Error())
				}
			}
			return total, list
		}
		n, errs := read(bin.Bytes(b))
		m, same := read(onDisk{bin.Bytes(b)})
		if n > limit || n != m || len(errs) != len(same) {
			t.Fatalf("%d bytes, %q, then %d, %q", n, errs, m, same)
		}
	})
}

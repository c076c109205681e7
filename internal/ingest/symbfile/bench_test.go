package symbfile_test

import (
	"bytes"
	"fmt"
	"testing"

	"symbolon/internal/bucket"
	"symbolon/internal/bucket/mem"
	format "symbolon/internal/format/symbfile"
	"symbolon/internal/ingest/symbfile"
)

// typical is ranges as compilers cause them: functions with lines, and others that
// are inlined.
func typical(count int) []byte {
	var out bytes.Buffer
	w := format.NewWriter(&out)
	at := uint64(0x401000)
	for i := range count {
		fn, file := fmt.Appendf(nil, "geo::shapes::Polygon%d::contains(geo::Point const&) const", i), fmt.Appendf(nil, "/src/app/geo/shapes%d.cpp", i/50)
		x := format.Range{VA: at, Length: 120, Func: fn, File: file}
		for k := range 6 {
			x.Lines = append(x.Lines, format.Line{Offset: uint64(k * 18), Line: uint32(i*7919%900 + k*i%5)})
		}
		inner := format.Range{VA: at + 20, Length: 20, Func: fmt.Appendf(nil, "std::vector::at%d(unsigned long)", i%200), File: []byte("/usr/include/c++/12/bits/stl_vector.h"),
			CallFile: file, CallLine: uint32(i % 900), Depth: 1, Lines: []format.Line{{Offset: 0, Line: 1154}, {Offset: 9, Line: 1155}}}
		for _, r := range []*format.Range{&x, &inner} {
			if err := w.Range(r); err != nil {
				panic(err)
			}
		}
		at += uint64(128 + i*31%64)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return out.Bytes()
}

func BenchmarkTake(b *testing.B) {
	body := typical(100_000)
	for name, bucket := range map[string]bucket.Bucket{"memory": mem.New(), "folder": folder(b)} {
		b.Run(name, func(b *testing.B) {
			n := open(b, bucket, symbfile.Config{})
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				p := part(0, 1)
				p.File[0], p.File[1] = byte(i), byte(i>>8)
				if _, err := n.take(p, body); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("pads", func(b *testing.B) {
		n := open(b, mem.New(), symbfile.Config{})
		body := pads(400_000)
		b.SetBytes(int64(len(body)))
		for i := 0; b.Loop(); i++ {
			p := part(0, 1)
			p.Kind, p.File[0], p.File[1] = symbfile.ReturnPads, byte(i), byte(i>>8)
			if _, err := n.take(p, body); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("parts", func(b *testing.B) {
		n := open(b, mem.New(), symbfile.Config{})
		b.SetBytes(8 * int64(len(body)))
		for i := 0; b.Loop(); i++ {
			for k := range 8 {
				if _, err := n.take(of(fmt.Sprint(i), k, 8), body); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}

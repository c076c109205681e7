package symbfile_test

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"symbolon/internal/format/symbfile"
)

// typical returns typical records: functions with some rows and inlined calls,
// and the pads of their calls.
func typical() (ranges, pads []any) {
	at := uint64(0x401000)
	for i := range 20_000 {
		fn, file := fmt.Appendf(nil, "geo::shapes::Polygon%d::contains(geo::Point const&) const", i), fmt.Appendf(nil, "/src/app/geo/shapes%d.cpp", i/50)
		x := symbfile.Range{VA: at, Length: 120, Func: fn, File: file}
		for k := range 6 {
			x.Lines = append(x.Lines, symbfile.Line{Offset: uint64(k * 18), Line: uint32(i%900 + k)})
		}
		ranges = append(ranges, x)
		inner := fmt.Appendf(nil, "std::vector::at%d(unsigned long)", i%200)
		for k := range 2 {
			ranges = append(ranges, symbfile.Range{VA: at + uint64(20+k*40), Length: 20, Func: inner, File: text("/usr/include/c++/12/bits/stl_vector.h"),
				CallFile: file, CallLine: uint32(i%900 + k), Depth: 1, Lines: []symbfile.Line{{0, 1154}, {9, 1155}}})
			pads = append(pads, symbfile.Pad{VA: at + uint64(30+k*40), Frames: []symbfile.PadFrame{{fn, file, uint32(i % 900)}, {inner, text("/usr/include/c++/12/bits/stl_vector.h"), 1154}}})
		}
		at += 128
	}
	return ranges, pads
}

func BenchmarkReader(b *testing.B) {
	ranges, pads := typical()
	for name, list := range map[string][]any{"ranges": ranges, "pads": pads} {
		file, err := write(list)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(file)))
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				r := symbfile.NewReader(bytes.NewReader(file))
				for {
					if _, err := r.Next(); err != nil {
						break
					}
					n++
				}
			}
			b.ReportMetric(float64(n)/1e6/b.Elapsed().Seconds(), "Mrecords/s")
		})
	}
}

func BenchmarkWriter(b *testing.B) {
	ranges, pads := typical()
	for name, list := range map[string][]any{"ranges": ranges, "pads": pads} {
		file, err := write(list)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(file)))
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				w := symbfile.NewWriter(io.Discard)
				for i := range list {
					switch x := list[i].(type) {
					case symbfile.Range:
						err = w.Range(&x)
					case symbfile.Pad:
						err = w.Pad(&x)
					}
					if err != nil {
						b.Fatal(err)
					}
					n++
				}
				if err := w.Close(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(n)/1e6/b.Elapsed().Seconds(), "Mrecords/s")
		})
	}
}

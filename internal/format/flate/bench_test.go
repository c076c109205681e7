package flate_test

import (
	"bytes"
	"io"
	"testing"

	klauspost "github.com/klauspost/compress/zlib"

	"symbolon/internal/format/flate"
)

// BenchmarkZlib compares this package with klauspost/compress on records like
// those of debug information.
func BenchmarkZlib(b *testing.B) {
	want := samples()["records"]
	src, dst := deflate(b, want, 6), make([]byte, len(want))
	b.Run("own", func(b *testing.B) {
		b.SetBytes(int64(len(want)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := flate.Zlib(dst, src, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("klauspost", func(b *testing.B) {
		b.SetBytes(int64(len(want)))
		b.ReportAllocs()
		r, err := klauspost.NewReader(bytes.NewReader(src))
		for b.Loop() && err == nil {
			if err = r.(klauspost.Resetter).Reset(bytes.NewReader(src), nil); err == nil {
				_, err = io.ReadFull(r, dst)
			}
		}
		if err != nil {
			b.Fatal(err)
		}
	})
}

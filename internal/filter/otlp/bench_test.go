package otlp_test

import (
	"io"
	"testing"

	"symbolon/internal/filter"
	"symbolon/internal/filter/filtertest"
	"symbolon/internal/filter/otlp"
)

// BenchmarkRewrite names 100,000 locations in 100 modules' mappings of one file.
func BenchmarkRewrite(b *testing.B) {
	const locations = 100_000
	known := map[uint64][]filter.Frame{}
	tables := []any{1, "", 1, message(1, 0x1000, 4, textFile, 5, isGNU), 2, ""}
	for i := range locations {
		addr := uint64(0x1000 + 16*i)
		tables = append(tables, 2, message(1, 1, 2, addr, 4, []byte{isNative}))
		known[addr] = names[app][0x1010]
	}
	data := profiles(tables...)
	run := &filter.Run{Names: filtertest.Names{app: known}}
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if err := otlp.Rewrite(b.Context(), run, data, io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}

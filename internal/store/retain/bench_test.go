package retain_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"symbolon/internal/bucket/dir"
	"symbolon/internal/store"
	"symbolon/internal/store/retain"
)

// BenchmarkCollect collects a folder with 10,000 uploads of one file.
func BenchmarkCollect(b *testing.B) {
	folder, err := dir.Open(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	defer folder.Close()
	log := slog.New(slog.DiscardHandler)
	s := store.New(store.Config{}, store.Deps{Bucket: folder, Now: time.Now, Log: log})
	k := retain.New(store.Config{Keep: []store.Rule{{Keep: "30d after upload"}}}, retain.Deps{Store: s, Bucket: folder, Now: time.Now, Log: log})
	for n := range 10_000 {
		d := s.Begin("a", nil, "")
		if _, err := d.Add(b.Context(), fmt.Sprint(n), strings.NewReader(symbols(n))); err != nil {
			b.Fatal(err)
		}
		if _, err := d.Commit(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := k.Collect(b.Context(), false); err != nil {
			b.Fatal(err)
		}
	}
}

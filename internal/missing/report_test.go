package missing_test

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"symbolon/internal/bucket/mem"
	"symbolon/internal/missing"
)

func TestRequestsAreCountedByHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := missing.New(mem.New(), time.Now, slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go l.Run(ctx)
		begin := time.Now()
		jar, lid := module(t, "jar.pdb", "A"), module(t, "lid.pdb", "B")
		l.Note(missing.Client{Door: "mozilla"}, jar, "not found")
		l.Note(missing.Client{Door: "mozilla"}, lid, "not found")
		time.Sleep(2*time.Hour + time.Second) // of the fake clock: the first hour is written
		l.Note(missing.Client{Door: "mozilla"}, jar, "not found")
		for name, want := range map[string][]float64{"": {2, 0, 1}, "lid.pdb": {1, 0, 0}} {
			r, err := l.Report(t.Context(), begin, func(r *missing.Row) bool { return name == "" || r.DebugFile == name })
			if err != nil {
				t.Fatal(err)
			}
			if got := r.PerHour(begin, time.Now()); !slices.Equal(got, want) {
				t.Errorf("of %q: %v, want %v", name, got, want)
			}
		}
		cancel()
		synctest.Wait()
	})
}

package pprof_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"symbolon/internal/filter"
	"symbolon/internal/filter/pprof"
	"symbolon/internal/filter/wire"
)

// warm are names that cost nothing: those of 100,000 functions, in the order of
// their addresses.
type warm struct {
	frames [][]filter.Frame
	q      *filter.Query
}

func (w *warm) Look(_ context.Context, q *filter.Query) (filter.Answer, error) {
	w.q = q
	return w, nil
}
func (w *warm) Missing(int32) error { return nil }
func (w *warm) Release()            {}
func (w *warm) Frames(i int) []filter.Frame {
	return w.frames[w.q.Addresses[i].Addr%moduleSize*uint64(len(w.frames))/moduleSize]
}

const moduleSize = 1 << 28

// BenchmarkRewrite adds names to a profile of a million locations in four modules.
func BenchmarkRewrite(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	names := &warm{}
	for i := range 100_000 {
		frame := filter.Frame{
			Function: fmt.Appendf(nil, "std::vector<mozilla::Thing%d>::push_back(mozilla::Thing%d const&)", i, i),
			Raw:      fmt.Appendf(nil, "_ZNSt6vectorIN7mozilla7Thing%dEE9push_backERKS1_", i),
			File:     fmt.Appendf(nil, "/builds/worker/checkouts/gecko/dom/base/file%d.cpp", i/20),
			Line:     uint32(i % 5000),
		}
		frames := []filter.Frame{frame}
		if i%3 == 0 && i > 0 {
			frames = append(frames, names.frames[i-1][0])
		}
		names.frames = append(names.frames, frames)
	}
	data := message(1, message(1, 1, 2, 2), 6, "", 6, "samples", 6, "count", 6, app)
	for m := range 4 {
		data = append(data, message(3, message(1, m+1, 2, m<<32, 3, (m+1)<<32, 4, 0x1000, 6, 3))...)
	}
	for i := range 1_000_000 {
		m := r.IntN(4)
		loc := message(1, i+1, 2, m+1, 3, m<<32+r.IntN(moduleSize))
		data = wire.AppendBytes(data, 4, loc)
	}
	for b.Loop() {
		if err := pprof.Rewrite(b.Context(), &filter.Run{Names: names}, data, io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}

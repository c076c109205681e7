package store_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"symbolon/internal/bucket/buckettest"
	"symbolon/internal/store"
)

// generated is a Breakpad file of n bytes.
type generated struct {
	id, line, n int
	random      *rand.ChaCha8 // nil: records that can be compressed
	rest        []byte
}

func (g *generated) Read(p []byte) (int, error) {
	if g.n <= 0 {
		return 0, io.EOF
	}
	if len(g.rest) == 0 {
		if g.rest = g.rest[:0]; g.line == 0 {
			g.rest = append(g.rest, symbols(g.id, "INFO ")...)
		}
		if g.random != nil {
			g.rest = append(g.rest, make([]byte, 1<<20)...)
			g.random.Read(g.rest[len(g.rest)-1<<20:])
			g.line++
		} else {
			for range 10_000 {
				g.line++
				g.rest = fmt.Appendf(g.rest, "\nFUNC %x 40 0 kettle::boil<%d>(int)\n%x 10 %d 3\n%x 30 %d 3", g.line*64, g.line%7919, g.line*64, g.line%1000, g.line*64+16, g.line%997)
			}
		}
	}
	n := copy(p[:min(len(p), g.n)], g.rest)
	g.rest, g.n = g.rest[n:], g.n-n
	return n, nil
}

// peak returns a function that returns the largest size of the heap since.
func peak() func() int64 {
	runtime.GC()
	debug.FreeOSMemory()
	var most atomic.Int64
	done, ended := make(chan bool), make(chan bool)
	go func() {
		defer close(ended)
		var m runtime.MemStats
		for {
			select {
			case <-done:
				return
			case <-time.After(5 * time.Millisecond):
				runtime.ReadMemStats(&m)
				most.Store(max(most.Load(), int64(m.HeapInuse+m.StackInuse)))
			}
		}
	}()
	return func() int64 { close(done); <-ended; return most.Load() }
}

// BenchmarkAdd adds a large file to a folder.
func BenchmarkAdd(b *testing.B) {
	for _, kind := range []string{"text", "random"} {
		b.Run(kind, func(b *testing.B) {
			s := open(b, buckettest.Folder(b))
			const size = 1 << 30
			b.SetBytes(size)
			heap := peak()
			for i := 0; b.Loop(); i++ {
				d := s.Begin("a", nil, "")
				g := &generated{id: i + 1, n: size}
				if kind == "random" {
					g.random = rand.NewChaCha8([32]byte{byte(i)})
				}
				if _, err := d.Add(b.Context(), "big.sym", g); err != nil {
					b.Fatal(err)
				}
				if _, err := d.Commit(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(heap())/(1<<20), "MiB-heap")
			r, err := s.Open(b.Context(), &find(b, s, store.Question{Module: module(1)}, "a")[0])
			if err != nil {
				b.Fatal(err)
			}
			defer r.Close()
			if n, err := io.Copy(io.Discard, io.NewSectionReader(r, 0, r.Size())); err != nil || n != size {
				b.Fatalf("read %d bytes, %v", n, err)
			}
		})
	}
}

// BenchmarkDraft adds 10,000 small files to a folder in one upload.
func BenchmarkDraft(b *testing.B) {
	const files = 10_000
	base := string(must(io.ReadAll(&generated{id: 1, n: 20_000})))
	_, records, _ := strings.Cut(base, "\n")
	for b.Loop() {
		s := open(b, buckettest.Folder(b))
		d := s.Begin("a", nil, "")
		for i := range files {
			if _, err := d.Add(b.Context(), fmt.Sprintf("%d.sym", i), strings.NewReader(symbols(i+1, records))); err != nil {
				b.Fatal(err)
			}
		}
		if _, err := d.Commit(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(files*b.N)/b.Elapsed().Seconds(), "files/s")
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

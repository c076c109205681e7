package symbfile_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"symbolon/internal/bucket"
	"symbolon/internal/bucket/dir"
	"symbolon/internal/cache"
	"symbolon/internal/fault"
	format "symbolon/internal/format/symbfile"
	"symbolon/internal/ident"
	"symbolon/internal/ingest"
	"symbolon/internal/ingest/symbfile"
)

var fileID = ident.FileID{0xef, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}

// node is a store over a bucket, with a clock of its own.
type node struct {
	*symbfile.Store
	t      testing.TB
	bucket bucket.Bucket
	clock  *clock
	spools *atomic.Int64
}

type clock struct {
	at   atomic.Int64
	goes bool // it tells the real time
}

func (c *clock) now() time.Time {
	if c.goes {
		return time.Now()
	}
	return time.Unix(0, c.at.Load())
}

func (c *clock) pass(d time.Duration) { c.at.Add(int64(d)) }

// spool is a file without a name.
type spool struct {
	*os.File
	n    int64
	open *atomic.Int64
}

func (s *spool) Write(p []byte) (int, error) {
	n, err := s.File.Write(p)
	s.n += int64(n)
	return n, err
}

func (s *spool) Size() int64 { return s.n }

func (s *spool) Close() error {
	s.open.Add(-1)
	return s.File.Close()
}

func folder(t testing.TB) *dir.Bucket {
	t.Helper()
	b, err := dir.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

func open(t testing.TB, b bucket.Bucket, cfg symbfile.Config) *node {
	t.Helper()
	c := &clock{}
	c.at.Store(time.Now().UnixNano())
	return beside(t, b, cfg, c)
}

// beside is another store, as that of another process.
func beside(t testing.TB, b bucket.Bucket, cfg symbfile.Config, c *clock) *node {
	temp, spools := os.TempDir(), &atomic.Int64{}
	n := &node{t: t, bucket: b, clock: c, spools: spools}
	n.Store = symbfile.New(cfg, ingest.Deps{Bucket: b, Now: c.now, Log: slog.New(slog.DiscardHandler), Spool: func() (cache.Spool, error) {
		f, err := os.CreateTemp(temp, "ingest-")
		if err != nil {
			return nil, err
		}
		os.Remove(f.Name())
		spools.Add(1)
		return &spool{File: f, open: spools}, nil
	}})
	t.Cleanup(func() {
		if left := spools.Load(); left != 0 {
			t.Errorf("%d spools are left open", left)
		}
	})
	return n
}

// part is the part k of n.
func part(k, n int) symbfile.Part { return symbfile.Part{File: fileID, Index: k, Count: n} }

func of(upload string, k, n int) symbfile.Part {
	p := part(k, n)
	p.Upload = upload
	return p
}

func (n *node) take(p symbfile.Part, body []byte) (bool, error) {
	i, err := n.Take(context.Background(), p, bytes.NewReader(body))
	return i != nil, err
}

// sent demands that a part is taken, and whether that publishes.
func (n *node) sent(p symbfile.Part, body []byte, publishes bool) {
	n.t.Helper()
	if published, err := n.take(p, body); err != nil || published != publishes {
		n.t.Fatalf("part %d of %d: %v, %v; want %v", p.Index, p.Count, published, err, publishes)
	}
}

func (n *node) refused(p symbfile.Part, body []byte, why ingest.Reason) *ingest.Refusal {
	n.t.Helper()
	_, err := n.take(p, body)
	return refusal(n.t, err, why)
}

func refusal(t testing.TB, err error, why ingest.Reason) *ingest.Refusal {
	t.Helper()
	var r *ingest.Refusal
	var f *fault.Error
	if !errors.As(err, &r) || r.Why != why || !errors.As(r.Err, &f) {
		t.Fatalf("%v, want a refusal: %v", err, why)
	}
	return r
}

// published returns the published symbfile, nil if it is missing.
func (n *node) published(k symbfile.Kind) []byte {
	n.t.Helper()
	r, _, err := n.Open(context.Background(), fileID, k, 0)
	if fault.KindOf(err) == fault.NotFound && err != nil {
		return nil
	}
	if err != nil {
		n.t.Fatal(err)
	}
	defer r.Close()
	z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
	if err != nil {
		n.t.Fatal(err)
	}
	defer z.Close()
	b, err := io.ReadAll(z)
	if err != nil {
		n.t.Fatal(err)
	}
	return b
}

// records returns the records of a file as texts.
func records(b []byte) ([]string, error) {
	r := format.NewReader(bytes.NewReader(b))
	r.Strict = true
	var list []string
	for {
		switch rec, err := r.Next(); {
		case err == io.EOF:
			return list, nil
		case err != nil:
			return nil, err
		case rec.Range != nil:
			x := rec.Range
			list = append(list, fmt.Sprintf("%x+%x %q %q %q:%d %d %v", x.VA, x.Length, x.Func, x.File, x.CallFile, x.CallLine, x.Depth, x.Lines))
		default:
			text := fmt.Sprintf("%x", rec.Pad.VA)
			for _, f := range rec.Pad.Frames {
				text += fmt.Sprintf(" %q %q:%d", f.Func, f.File, f.Line)
			}
			list = append(list, text)
		}
	}
}

func must(t testing.TB, b []byte) []string {
	t.Helper()
	list, err := records(b)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// holds demands that what is published has the records of these parts.
func (n *node) holds(parts ...[]byte) {
	n.t.Helper()
	var want []string
	for _, p := range parts {
		want = append(want, must(n.t, p)...)
	}
	got := n.published(symbfile.Ranges)
	if got == nil {
		n.t.Fatal("nothing is published")
	}
	if list := must(n.t, got); !slices.Equal(list, want) {
		n.t.Fatalf("published are %d records %.300q, want %d %.300q", len(list), list, len(want), want)
	}
}

// ranges returns a file of count ranges with text in their names.
func ranges(text string, first, count int) []byte {
	var out bytes.Buffer
	w := format.NewWriter(&out)
	for i := first; i < first+count; i++ {
		fn, file := fmt.Appendf(nil, "%s::function%d(int)", text, i), fmt.Appendf(nil, "/src/%s/%d.cpp", text, i/10)
		err := w.Range(&format.Range{VA: 0x1000 + uint64(i)*64, Length: 60, Func: fn, File: file,
			Lines: []format.Line{{Offset: 0, Line: uint32(i)}, {Offset: 9, Line: uint32(i + 1)}}})
		if err != nil {
			panic(err)
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return out.Bytes()
}

func pads(count int) []byte {
	var out bytes.Buffer
	w := format.NewWriter(&out)
	for i := range count {
		if err := w.Pad(&format.Pad{VA: uint64(i) * 5, Frames: []format.PadFrame{{Func: []byte("main"), File: []byte("main.c"), Line: uint32(i)}}}); err != nil {
			panic(err)
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return out.Bytes()
}

// split is an upload in stand-alone parts.
func split(text string, n int) [][]byte {
	var parts [][]byte
	for k := range n {
		parts = append(parts, ranges(text, k*20, 20))
	}
	return parts
}

// cut cuts a file into raw pieces.
func cut(file []byte, at ...int) [][]byte {
	var parts [][]byte
	last := 0
	for _, n := range append(at, len(file)) {
		parts = append(parts, file[last:n])
		last = n
	}
	return parts
}

// round returns the number of the last round of an upload, 0 before the first.
func (n *node) round(upload string, count int) (number int64) {
	n.t.Helper()
	r, _, err := n.bucket.Get(n.t.Context(), folderOf(upload, count)+"round", 0, -1)
	if fault.KindOf(err) == fault.NotFound && err != nil {
		return 0
	}
	if err != nil {
		n.t.Fatal(err)
	}
	defer r.Close()
	var mark struct{ Round int64 }
	if err := json.NewDecoder(r).Decode(&mark); err != nil {
		n.t.Fatal(err)
	}
	for {
		if _, err := n.bucket.Stat(n.t.Context(), fmt.Sprint(folderOf(upload, count), mark.Round, "/over")); err != nil {
			return mark.Round
		}
		mark.Round++
	}
}

func folderOf(upload string, count int) string {
	return fmt.Sprintf("incoming/%s/ranges/%d/%s~/", fileID.Base64(), count, upload)
}

// keyOf is where the part k of the current round waits.
func (n *node) keyOf(upload string, k, count int) string {
	return fmt.Sprint(folderOf(upload, count), n.round(upload, count), "/", k)
}

// waiting are the places of the current round that have a part.
func (n *node) waiting(upload string, count int) (held []int) {
	n.t.Helper()
	for k := range count {
		_, err := n.bucket.Stat(n.t.Context(), n.keyOf(upload, k, count))
		if err == nil {
			held = append(held, k)
		} else if fault.KindOf(err) != fault.NotFound {
			n.t.Fatal(err)
		}
	}
	return held
}

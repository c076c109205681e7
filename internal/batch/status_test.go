package batch_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"symbolon/internal/batch"
	"symbolon/internal/bucket"
	"symbolon/internal/bucket/dir"
	"symbolon/internal/fault"
	"symbolon/internal/filter"
)

// clock advances by two seconds with each call.
func clock() func() time.Time {
	var calls atomic.Int64
	return func() time.Time { return time.Unix(1_800_000_000+2*calls.Add(1), 0) }
}

// counting counts the blobs that are read.
type counting struct {
	bucket.Bucket
	reads atomic.Int64
}

func (c *counting) Get(ctx context.Context, key string, off, n int64) (io.ReadCloser, bucket.Attrs, error) {
	c.reads.Add(1)
	return c.Bucket.Get(ctx, key, off, n)
}

func watch(t *testing.T, out string) (*batch.Watcher, *counting) {
	t.Helper()
	b, err := dir.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	c := &counting{Bucket: b}
	return &batch.Watcher{Output: c, Now: clock()}, c
}

func status(t *testing.T, w *batch.Watcher) *batch.Status {
	t.Helper()
	s, err := w.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStatusOfACompleteJobHasItsTotals(t *testing.T) {
	out := t.TempDir()
	o := options(out, folder(t, map[string]string{"a.json": text(0, 7)}))
	o.Now = clock()
	r := do(t, o)
	w, _ := watch(t, out)
	s := status(t, w)
	if !s.IsComplete || s.IsEstimated || s.Units != 3 || s.All != 3 || s.Inputs != 1 || s.UnitRows != 3 {
		t.Errorf("the status is %+v", s)
	}
	if s.Rows != r.Rows || s.Addresses != r.Addresses || s.Named != r.Named {
		t.Errorf("the counts are %+v, want %+v", s.Counts, r.Counts)
	}
	if s.PerSecond <= 0 || s.PerSecond > 3 || s.Newest.IsZero() {
		t.Errorf("%v rows a second until %v", s.PerSecond, s.Newest)
	}
}

// TestStatusOfAnUnfinishedJobIsEstimated removes the last of three inputs of one size.
func TestStatusOfAnUnfinishedJobIsEstimated(t *testing.T) {
	out := t.TempDir()
	do(t, options(out, folder(t, map[string]string{"a.json": text(0, 6), "b.json": text(0, 6), "c.json": text(0, 6)})))
	for _, name := range []string{"part/000002-000000.json", "part/000002-000001.json"} {
		if err := os.Remove(filepath.Join(out, name)); err != nil {
			t.Fatal(err)
		}
	}
	w, _ := watch(t, out)
	if s := status(t, w); s.IsComplete || !s.IsEstimated || s.Units != 4 || s.All != 6 || s.Rows != 12 {
		t.Errorf("the status is %+v", s)
	}
}

func TestStatusHasTheMissingModules(t *testing.T) {
	out := t.TempDir()
	o := options(out, folder(t, map[string]string{"a.json": text(0, 7)}))
	o.NewRun = func() *filter.Run {
		return &filter.Run{Names: &failing{Names: names, why: fault.New(fault.NotFound, "", "gone")}}
	}
	do(t, o)
	w, _ := watch(t, out)
	s := status(t, w)
	if len(s.Modules) != 1 || s.Modules[0].Name != "kettle.pdb" || s.Modules[0].ID != kettle || s.Modules[0].Reason != "not found" || s.Modules[0].Addresses < 1 {
		t.Errorf("the missing modules are %+v", s.Modules)
	}
}

// TestStatusReadsCountsOnce reads a job of more units than a status reads.
func TestStatusReadsCountsOnce(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	do(t, options(out, folder(t, map[string]string{"a.json": text(0, 1800)})))
	w, b := watch(t, out)
	for i, want := range []int{500, 600, 600} {
		before := b.reads.Load()
		s := status(t, w)
		if s.Read != want || s.Rows != 3*want || !s.IsComplete || s.All != 600 {
			t.Errorf("status %d has %d of %d units and %d rows, want %d", i, s.Read, s.All, s.Rows, want)
		}
		if got := b.reads.Load() - before; i == 2 && got != 1 {
			t.Errorf("the third status reads %d files, want job.json alone", got)
		}
		for range 30 { // the clock goes on
			w.Now()
		}
	}
}

func TestStatusIsKeptForSomeSeconds(t *testing.T) {
	out := t.TempDir()
	do(t, options(out, folder(t, map[string]string{"a.json": text(0, 1)})))
	w, b := watch(t, out)
	w.Now = func() time.Time { return time.Unix(1, 0) }
	first, before := status(t, w), b.reads.Load()
	if status(t, w) != first || b.reads.Load() != before {
		t.Error("the same status was read twice")
	}
}

func TestStatusWithoutAJobIsNotFound(t *testing.T) {
	w, _ := watch(t, t.TempDir())
	if _, err := w.Status(t.Context()); fault.KindOf(err) != fault.NotFound {
		t.Errorf("got %v, want not found", err)
	}
}

func TestStatusOfDamagedFilesIsAnError(t *testing.T) {
	for _, name := range []string{"job.json", "part/000000-000000.json"} {
		out := t.TempDir()
		do(t, options(out, folder(t, map[string]string{"a.json": text(0, 1)})))
		if err := os.WriteFile(filepath.Join(out, name), []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
		w, _ := watch(t, out)
		if _, err := w.Status(t.Context()); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func BenchmarkStatusOfTenThousandUnits(b *testing.B) {
	out := b.TempDir()
	if err := os.Mkdir(filepath.Join(out, "part"), 0o700); err != nil {
		b.Fatal(err)
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(out, name), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	write("job.json", `{"format":1,"unit":3,"inputs":[{"name":"a","size":100}]}`)
	for i := range 10_000 {
		write(fmt.Sprintf("part/000000-%06d.json", i), `{"rows":3,"failed":0,"addresses":9,"named":9,"size":1,"sha256":"00"}`)
	}
	folder, err := dir.Open(out)
	if err != nil {
		b.Fatal(err)
	}
	w := &batch.Watcher{Output: folder, Now: clock()}
	for b.Loop() {
		for range 30 {
			w.Now()
		}
		if _, err := w.Status(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

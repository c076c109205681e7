package numbered_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"symbolon/internal/bucket"
	"symbolon/internal/bucket/mem"
	"symbolon/internal/bucket/numbered"
)

func TestConcurrentChangesAreAllMade(t *testing.T) {
	v := numbered.Versions{Bucket: mem.New(), Prefix: "count"}
	var all sync.WaitGroup
	for w := range 8 {
		all.Go(func() {
			for i := range 5 {
				_, err := v.Change(t.Context(), 0, func(text []byte) ([]byte, error) {
					return fmt.Appendf(text, "%d.%d\n", w, i), nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	n, err := v.Newest(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	text, _, err := v.Read(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(string(text), "\n"); n != 40 || lines != 40 {
		t.Errorf("version %d has %d lines after 40 changes", n, lines)
	}
}

func TestNewestVersionIsFound(t *testing.T) {
	v := numbered.Versions{Bucket: mem.New(), Prefix: "p"}
	for n := range 70 {
		for known := range n + 1 {
			if got, err := v.Newest(t.Context(), known); err != nil || got != n {
				t.Fatalf("Newest(%d) = %d, %v; want %d", known, got, err, n)
			}
		}
		if created, err := v.Create(t.Context(), n+1, nil); err != nil || !created {
			t.Fatalf("Create(%d): %v, %v", n+1, created, err)
		}
	}
}

// lossy stores blobs and loses the answers: the next try finds them.
type lossy struct{ bucket.Bucket }

func (l lossy) Put(ctx context.Context, key string, r io.Reader, a bucket.Attrs) (bool, error) {
	_, err := l.Bucket.Put(ctx, key, r, a)
	return false, err
}

func TestWriterWhoseAnswerIsLostRecognizesItsVersion(t *testing.T) {
	v := numbered.Versions{Bucket: lossy{mem.New()}, Prefix: "p"}
	for i, c := range []struct {
		text string
		own  bool
	}{{"mine", true}, {"other", false}} {
		if created, err := v.Create(t.Context(), 1, []byte(c.text)); err != nil || created != c.own {
			t.Errorf("writer %d: created %v, %v", i, created, err)
		}
	}
}

func TestTooLargeVersionIsRefused(t *testing.T) {
	v := numbered.Versions{Bucket: mem.New(), Prefix: "p"}
	created, err := v.Create(t.Context(), 1, make([]byte, numbered.MaxText+1))
	if err == nil || created {
		t.Fatal("it was created")
	}
	if !strings.Contains(err.Error(), fmt.Sprint(numbered.MaxText)) {
		t.Errorf("the error does not name the limit: %v", err)
	}
}

func TestOneCallerWaitsForABucketThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var hangs atomic.Bool
		var value atomic.Int32
		c := numbered.Cached[int32]{Now: time.Now, Failed: func(error) {}, Read: func(ctx context.Context, _ int32) (int32, error) {
			if hangs.Load() {
				<-ctx.Done()
				return 0, ctx.Err()
			}
			return value.Load(), nil
		}}
		get := func(want int32, wait time.Duration) {
			t.Helper()
			start := time.Now()
			if got, err := c.Get(t.Context()); got != want || err != nil || time.Since(start) != wait {
				t.Errorf("Get is %d, %v after %v; want %d after %v", got, err, time.Since(start), want, wait)
			}
		}
		get(0, 0)
		hangs.Store(true)
		time.Sleep(10 * time.Second)
		get(0, 3*time.Second)
		for range 3 {
			time.Sleep(10 * time.Second)
			get(0, 0)
		}
		time.Sleep(10 * time.Second)
		hangs.Store(false)
		value.Store(1)
		get(0, 0) // it is read in the background
		synctest.Wait()
		get(1, 0)
		value.Store(2)
		time.Sleep(10 * time.Second)
		get(2, 0)
		for wait, next := range map[string]func(){"a long time": func() { time.Sleep(time.Hour) }, "Expire": c.Expire} {
			hangs.Store(true)
			time.Sleep(10 * time.Second)
			get(value.Load(), 3*time.Second)
			hangs.Store(false)
			value.Add(1)
			next()
			if got, err := c.Get(t.Context()); got != value.Load() {
				t.Errorf("after a failure and %s, Get is %d, %v; want %d", wait, got, err, value.Load())
			}
		}
	})
}

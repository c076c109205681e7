package bucket_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"symbolon/internal/bucket"
	"symbolon/internal/bucket/buckettest"
	"symbolon/internal/bucket/mem"
	"symbolon/internal/fault"
)

// counting counts the conditional creates of a bucket. If it is careless, it
// ignores the condition.
type counting struct {
	bucket.Bucket
	isCareless bool
	creates    atomic.Int32
}

func (c *counting) Put(ctx context.Context, key string, r io.Reader, a bucket.Attrs) (bool, error) {
	if a.IfAbsent {
		c.creates.Add(1)
		a.IfAbsent = !c.isCareless
	}
	return c.Bucket.Put(ctx, key, r, a)
}

func TestExclusiveBucket(t *testing.T) {
	buckettest.Run(t, func(*testing.T) bucket.Bucket { return &bucket.Exclusive{Bucket: mem.New()} })
}

func TestStoreIsProbedBeforeTheFirstCreate(t *testing.T) {
	c := &counting{Bucket: mem.New()}
	b := &bucket.Exclusive{Bucket: c}
	for i, want := range []int32{0, 3, 4} { // a probe creates twice
		a := bucket.Attrs{IfAbsent: i > 0}
		if _, err := b.Put(t.Context(), "k", strings.NewReader("x"), a); err != nil {
			t.Fatal(err)
		}
		if got := c.creates.Load(); got != want {
			t.Errorf("%d creates after Put %d, want %d", got, i, want)
		}
	}
	if left, _, err := c.List(t.Context(), "", "", 10); len(left) != 1 || err != nil {
		t.Errorf("keys after the probe: %q, %v", left, err)
	}
}

func TestStoreThatIgnoresConditionsIsRefused(t *testing.T) {
	c := &counting{Bucket: mem.New(), isCareless: true}
	b := &bucket.Exclusive{Bucket: c}
	for range 2 {
		_, err := b.Put(t.Context(), "k", strings.NewReader("x"), bucket.Attrs{IfAbsent: true})
		if fault.KindOf(err) != fault.Unsupported || !errors.Is(err, bucket.ErrConditions) {
			t.Errorf("conditional Put: %v", err)
		}
	}
	if _, err := b.Put(t.Context(), "k", strings.NewReader("x"), bucket.Attrs{}); err != nil {
		t.Errorf("Put: %v", err)
	}
}

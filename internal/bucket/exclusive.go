package bucket

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"strings"
	"sync/atomic"

	"symbolon/internal/fault"
)

// ErrConditions means that a bucket cannot create keys conditionally.
var ErrConditions = errors.New("the store does not support conditional creates")

// Exclusive is a bucket whose conditional creates are exclusive. Some stores ignore
// the condition, so that every writer of a key seems to have created it. Before the
// first conditional create, Exclusive creates a key of its own twice; if both
// succeed, the create fails with ErrConditions. A bucket that is only read is not
// probed, so it may be read-only or unavailable.
type Exclusive struct {
	Bucket
	probed atomic.Bool
}

// Put is Put of the bucket, after a probe if a has IfAbsent.
func (e *Exclusive) Put(ctx context.Context, key string, r io.Reader, a Attrs) (bool, error) {
	if a.IfAbsent && !e.probed.Load() {
		if err := probe(ctx, e.Bucket); err != nil {
			return false, err
		}
		e.probed.Store(true)
	}
	return e.Bucket.Put(ctx, key, r, a)
}

// probe creates a key twice. The second create must not succeed.
func probe(ctx context.Context, b Bucket) error {
	key := "probe/" + rand.Text()
	first, err := b.Put(ctx, key, strings.NewReader("first"), Attrs{IfAbsent: true})
	if err != nil {
		return err
	}
	defer b.Delete(context.WithoutCancel(ctx), key)
	second, err := b.Put(ctx, key, strings.NewReader("second"), Attrs{IfAbsent: true})
	switch {
	case err != nil:
		return err
	case second:
		return fault.New(fault.Unsupported, key, "%w", ErrConditions)
	case !first: // its answer was lost
		return fault.New(fault.Transport, key, "the store reports a new key as existing")
	}
	return nil
}

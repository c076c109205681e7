package buckettest

import (
	"context"
	"io"

	"symbolon/internal/bucket"
	"symbolon/internal/fault"
)

// Failing is the bucket of a process that fails or crashes.
type Failing struct {
	bucket.Bucket
	// Fails decides a request, as of the method "Put": whether it fails, and whether
	// it happens nevertheless.
	Fails func(method, key string) (fails, happens bool)
}

var errFailed = fault.New(fault.Transport, "bucket", "the request failed")

// Put stores a blob.
func (f *Failing) Put(ctx context.Context, key string, r io.Reader, a bucket.Attrs) (created bool, err error) {
	fails, happens := f.Fails("Put", key)
	if happens {
		created, err = f.Bucket.Put(ctx, key, r, a)
	}
	if fails {
		return false, errFailed
	}
	return created, err
}

// Delete deletes a blob.
func (f *Failing) Delete(ctx context.Context, key string) (err error) {
	fails, happens := f.Fails("Delete", key)
	if happens {
		err = f.Bucket.Delete(ctx, key)
	}
	if fails {
		return errFailed
	}
	return err
}

// Get opens a blob.
func (f *Failing) Get(ctx context.Context, key string, off, n int64) (io.ReadCloser, bucket.Attrs, error) {
	if fails, _ := f.Fails("Get", key); fails {
		return nil, bucket.Attrs{}, errFailed
	}
	return f.Bucket.Get(ctx, key, off, n)
}

// Stat describes a blob.
func (f *Failing) Stat(ctx context.Context, key string) (bucket.Attrs, error) {
	if fails, _ := f.Fails("Stat", key); fails {
		return bucket.Attrs{}, errFailed
	}
	return f.Bucket.Stat(ctx, key)
}

// List lists keys.
func (f *Failing) List(ctx context.Context, prefix, after string, n int) ([]string, bool, error) {
	if fails, _ := f.Fails("List", prefix); fails {
		return nil, false, errFailed
	}
	return f.Bucket.List(ctx, prefix, after, n)
}

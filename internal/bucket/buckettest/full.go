package buckettest

import (
	"context"
	"io"
	"syscall"

	"symbolon/internal/bucket"
	"symbolon/internal/fault"
)

// Full is a bucket on a disk that is full for some keys.
type Full struct {
	bucket.Bucket
	IsFull func(key string) bool
}

// Put stores a blob.
func (f *Full) Put(ctx context.Context, key string, r io.Reader, a bucket.Attrs) (bool, error) {
	if f.IsFull(key) {
		return false, fault.New(fault.Internal, key, "%w", syscall.ENOSPC)
	}
	return f.Bucket.Put(ctx, key, r, a)
}

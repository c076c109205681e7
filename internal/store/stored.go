package store

import (
	"context"
	"io"
	"sync"

	"symbolon/internal/bucket"
)

// stored is a blob of a bucket as a bin.Source. Reads that follow one another share a
// request.
type stored struct {
	ctx    context.Context
	bucket bucket.Bucket
	key    string
	size   int64

	mu   sync.Mutex
	at   int64         // the end of the last read
	rest io.ReadCloser // the bytes from there on; nil: not requested
}

// Size returns the size of the blob.
func (b *stored) Size() int64 { return b.size }

// ReadAt reads a part of the blob.
func (b *stored) ReadAt(p []byte, off int64) (n int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	length := min(int64(len(p)), b.size-off)
	if off < 0 || length <= 0 {
		return 0, io.EOF
	}
	follows := off > 0 && off == b.at
	if b.rest == nil || !follows {
		b.drop()
		n := length
		if follows {
			n = -1
		}
		if b.rest, _, err = b.bucket.Get(b.ctx, b.key, off, n); err != nil {
			b.rest = nil
			return 0, err
		}
	}
	n, err = io.ReadFull(b.rest, p[:length])
	b.at = off + int64(n)
	if err != nil || !follows || b.at == b.size {
		b.drop()
	}
	if err == nil && n < len(p) {
		err = io.EOF
	}
	return n, err
}

// drop ends the request.
func (b *stored) drop() {
	if b.rest != nil {
		_ = b.rest.Close() // it was only read
		b.rest = nil
	}
}

// Close ends the use of the blob.
func (b *stored) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.drop()
	return nil
}

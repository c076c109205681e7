package dir

import (
	"context"
	"io"
	"sync"

	"symbolon/internal/bucket"
)

// Later is the bucket in a folder that need not be there yet: until it is, every
// method fails as Open does. Make it with NewLater.
type Later struct {
	folder string
	opener func(folder string) (*Bucket, error)
	mu     sync.Mutex
	there  *Bucket
}

// NewLater is the bucket in a folder that may appear later, which is then opened
// by Open or OpenFollowing.
func NewLater(folder string, open func(folder string) (*Bucket, error)) *Later {
	return &Later{folder: folder, opener: open}
}

func (l *Later) open() (*Bucket, error) {
	l.mu.Lock()
	b := l.there
	l.mu.Unlock()
	if b != nil {
		return b, nil
	}
	b, err := l.opener(l.folder) // which may take long; nobody else waits for it
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.there == nil {
		l.there = b
	}
	return l.there, nil
}

// Get reads a range of a file.
func (l *Later) Get(ctx context.Context, key string, off, n int64) (io.ReadCloser, bucket.Attrs, error) {
	b, err := l.ready(ctx, key)
	if err != nil {
		return nil, bucket.Attrs{}, err
	}
	return b.Get(ctx, key, off, n)
}

// Stat is the size of a file.
func (l *Later) Stat(ctx context.Context, key string) (bucket.Attrs, error) {
	b, err := l.ready(ctx, key)
	if err != nil {
		return bucket.Attrs{}, err
	}
	return b.Stat(ctx, key)
}

// Put writes a file; it does not make the folder.
func (l *Later) Put(ctx context.Context, key string, r io.Reader, a bucket.Attrs) error {
	b, err := l.ready(ctx, key)
	if err != nil {
		return err
	}
	return b.Put(ctx, key, r, a)
}

// Delete removes a file.
func (l *Later) Delete(ctx context.Context, key string) error {
	b, err := l.ready(ctx, key)
	if err != nil {
		return err
	}
	return b.Delete(ctx, key)
}

func (l *Later) ready(ctx context.Context, key string) (*Bucket, error) {
	if err := bucket.Begin(ctx, key); err != nil {
		return nil, err
	}
	return l.open()
}

// Spell is the key that differs from key only in the case of letters, as that of
// a Bucket is.
func (l *Later) Spell(key string) string {
	b, err := l.open()
	if err != nil {
		return ""
	}
	return b.Spell(key)
}

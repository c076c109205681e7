// Package mem implements a bucket in memory, for tests and demonstrations. Its
// size is not limited. A Bucket is safe for concurrent use.
package mem

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	"symbolon/internal/bucket"
	"symbolon/internal/fault"
)

// Bucket is a bucket in memory. New creates it.
type Bucket struct {
	mu    sync.RWMutex
	blobs map[string]blob
	puts  int
}

type blob struct {
	data     []byte
	encoding string
	number   int // of the Put that stored it
}

func (b blob) attrs() bucket.Attrs {
	return bucket.Attrs{Size: int64(len(b.data)), Encoding: b.encoding, Version: strconv.Itoa(b.number)}
}

// New returns an empty bucket.
func New() *Bucket { return &Bucket{blobs: map[string]blob{}} }

// Get reads a range of a blob.
func (b *Bucket) Get(ctx context.Context, key string, off, n int64) (io.ReadCloser, bucket.Attrs, error) {
	found, err := b.find(ctx, key)
	if err != nil {
		return nil, bucket.Attrs{}, err
	}
	from, length := bucket.Cut(off, n, int64(len(found.data)))
	r := bytes.NewReader(found.data[from : from+length])
	return io.NopCloser(bucket.Bound(ctx, r)), found.attrs(), nil
}

// Spell returns the key that differs from key only in case, "" without one.
func (b *Bucket) Spell(key string) string {
	b.mu.RLock()
	defer b.mu.RUnlock()
	least := ""
	for k := range b.blobs {
		if strings.EqualFold(k, key) && (least == "" || k < least) {
			least = k
		}
	}
	return least
}

// Put stores a blob.
func (b *Bucket) Put(ctx context.Context, key string, r io.Reader, a bucket.Attrs) (bool, error) {
	if err := bucket.Begin(ctx, key); err != nil {
		return false, err
	}
	var data bytes.Buffer
	if _, err := bucket.Copy(ctx, &data, r, a); err != nil {
		return false, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, exists := b.blobs[key]; exists && a.IfAbsent {
		return false, nil
	}
	b.puts++
	b.blobs[key] = blob{data.Bytes(), a.Encoding, b.puts}
	return true, nil
}

// Stat returns the Attrs of a blob.
func (b *Bucket) Stat(ctx context.Context, key string) (bucket.Attrs, error) {
	found, err := b.find(ctx, key)
	if err != nil {
		return bucket.Attrs{}, err
	}
	return found.attrs(), nil
}

// Delete removes a blob.
func (b *Bucket) Delete(ctx context.Context, key string) error {
	if err := bucket.Begin(ctx, key); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.blobs, key)
	return nil
}

// List returns a page of keys.
func (b *Bucket) List(ctx context.Context, prefix, after string, n int) ([]string, bool, error) {
	n, err := bucket.BeginList(ctx, prefix, after, n)
	if n == 0 || err != nil {
		return nil, false, err
	}
	b.mu.RLock()
	defer b.mu.RUnlock()
	var keys []string
	for key := range b.blobs {
		if strings.HasPrefix(key, prefix) && key > after {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys[:min(n, len(keys))], len(keys) > n, nil
}

func (b *Bucket) find(ctx context.Context, key string) (blob, error) {
	if err := bucket.Begin(ctx, key); err != nil {
		return blob{}, err
	}
	b.mu.RLock()
	defer b.mu.RUnlock()
	found, ok := b.blobs[key]
	if !ok {
		return blob{}, fault.New(fault.NotFound, key, "no such key")
	}
	return found, nil
}

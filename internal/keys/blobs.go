package keys

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"symbolon/internal/bucket"
	"symbolon/internal/fault"
)

const (
	lifetime   = 5 * time.Second // of the keys in memory
	maxBlob    = 1 << 20
	maxRetries = 100 // of a change that others come before
)

// blobKey returns the key of a blob in the bucket.
func blobKey(n int) string { return "keys/" + strconv.Itoa(n) }

// valid returns the keys that are valid now, those of the last read if they cannot
// be read again.
func (r *Ring) valid(ctx context.Context) ([]Key, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.read.IsZero() || r.now().Sub(r.read) >= lifetime {
		if err := r.load(ctx); err != nil {
			if r.read.IsZero() {
				return nil, err
			}
			r.log.Warn("cannot read the keys again; the last ones stay valid", "error", err)
			r.read = r.now()
		}
	}
	return slices.Concat(r.fixed, r.created), nil
}

// change writes the blob after the last one, with changed keys. If another process
// is faster, it changes the keys of that one.
func (r *Ring) change(ctx context.Context, do func([]Key) ([]Key, error)) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for range maxRetries {
		if err := r.load(ctx); err != nil {
			return err
		}
		all, err := do(r.created)
		if err != nil {
			return err
		}
		text, err := json.Marshal(all)
		switch {
		case err != nil:
			return err
		case len(text) > maxBlob && len(all) > len(r.created):
			return fmt.Errorf("too many keys, or too long names: all keys together must take at most %d bytes", maxBlob)
		}
		next := blobKey(r.last + 1)
		created, err := r.bucket.Put(ctx, next, bytes.NewReader(text), bucket.Attrs{Size: int64(len(text)), IfAbsent: true})
		if err != nil {
			return err
		}
		if !created { // or the answer of an earlier try was lost
			blob, _, err := r.blob(ctx, next)
			if err != nil {
				return err
			}
			created = bytes.Equal(blob, text)
		}
		if created {
			return r.load(ctx)
		}
	}
	return fault.New(fault.Transport, blobKey(r.last), "the keys changed %d times meanwhile; try again", maxRetries)
}

// load reads the created keys if their blob is not the last one, or was replaced
// together with the bucket. The caller holds mu.
func (r *Ring) load(ctx context.Context) error {
	last, version := r.last, r.version
	if last > 0 {
		switch a, err := r.bucket.Stat(ctx, blobKey(last)); {
		case fault.KindOf(err) == fault.NotFound, err == nil && a.Version != version:
			last, version = 0, "" // the bucket is another one
		case err != nil:
			return err
		}
	}
	newest, err := r.newest(ctx, last)
	switch {
	case err != nil:
		return err
	case newest == r.last && version == r.version:
		r.read = r.now()
		return nil
	}
	var all []Key
	if newest > 0 {
		var text []byte
		if text, version, err = r.blob(ctx, blobKey(newest)); err != nil {
			return err
		}
		if err := json.Unmarshal(text, &all); err != nil {
			return fault.New(fault.Malformed, blobKey(newest), "read the keys: %w", err)
		}
	}
	r.last, r.version = newest, version
	wasClosed := isClosed(r.fixed) || isClosed(r.created)
	r.created, r.read = all, r.now()
	if !wasClosed && isClosed(all) && r.OnClose != nil {
		r.OnClose()
	}
	return nil
}

// newest returns the number of the last blob. Blobs up to known exist, and none is
// missing after it, so twice as many requests as the number of later ones has
// binary digits are enough.
func (r *Ring) newest(ctx context.Context, known int) (int, error) {
	var failed error
	exists := func(n int) bool {
		_, err := r.bucket.Stat(ctx, blobKey(n))
		if err != nil && fault.KindOf(err) != fault.NotFound {
			failed = err
		}
		return err == nil
	}
	step := 1
	for exists(known + step) {
		known, step = known+step, 2*step
	}
	for step > 1 && failed == nil {
		if step /= 2; exists(known + step) {
			known += step
		}
	}
	return known, failed
}

// blob reads a blob, and its version.
func (r *Ring) blob(ctx context.Context, key string) ([]byte, string, error) {
	body, a, err := r.bucket.Get(ctx, key, 0, maxBlob)
	if err != nil {
		return nil, "", err
	}
	defer body.Close()
	text, err := io.ReadAll(body)
	return text, a.Version, err
}

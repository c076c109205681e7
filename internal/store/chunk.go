package store

import (
	"bytes"
	"context"
	"crypto/sha1"
	"hash"
	"io"
	"slices"
	"time"

	"symbolon/internal/bucket"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
)

// ChunkFolder returns the folder of the pieces that arrive on the day of a time. Those of
// the day before are still used.
func ChunkFolder(t time.Time) string { return "chunk/" + t.UTC().Format(time.DateOnly) + "/" }

// chunkKeys returns the keys that a piece of a holder may have: of today, and of
// yesterday.
func (s *Store) chunkKeys(holder string, sum ident.SHA1) (keys [2]string) {
	text := sum.String()
	now := s.deps.Now()
	for i := range keys {
		keys[i] = ChunkFolder(now.AddDate(0, 0, -i)) + holder + "/" + text[:2] + "/" + text
	}
	return keys
}

// hasChunk reports whether a piece is stored.
func (s *Store) hasChunk(ctx context.Context, holder string, sum ident.SHA1) (bool, error) {
	for _, key := range s.chunkKeys(holder, sum) {
		if has, err := s.exists(ctx, key); err != nil || has {
			return has, err
		}
	}
	return false, nil
}

// openChunk opens a piece.
func (s *Store) openChunk(ctx context.Context, holder string, sum ident.SHA1) (r io.ReadCloser, err error) {
	for _, key := range s.chunkKeys(holder, sum) {
		if r, _, err = s.deps.Bucket.Get(ctx, key, 0, -1); fault.KindOf(err) != fault.NotFound {
			return r, err
		}
	}
	return nil, err
}

// PutChunk stores a piece of a file, which must have this sum, for a day at least. Holder
// separates the pieces of different clients: it is a segment of a key. Another content
// is a *Refusal.
func (s *Store) PutChunk(ctx context.Context, holder string, sum ident.SHA1, r io.Reader) error {
	in := &summed{in: s.bound("chunks of "+holder, r), sum: sha1.New(), want: sum}
	_, err := s.deps.Bucket.Put(ctx, s.chunkKeys(holder, sum)[0], in, bucket.Attrs{Later: true})
	if in.isOther {
		return refuse(fault.Malformed, "chunk "+sum.String(), "its content has another SHA-1")
	}
	return err
}

// RemoveChunks removes all pieces of a holder, so that a full disk has space.
func (s *Store) RemoveChunks(ctx context.Context, holder string) error {
	var keys []string
	for i := range 2 { // days
		for key, err := range s.keys(ctx, ChunkFolder(s.deps.Now().AddDate(0, 0, -i))+holder+"/") {
			if err != nil {
				return err
			}
			keys = append(keys, key)
		}
	}
	return bucket.Each(len(keys), func(i int) error { return s.deps.Bucket.Delete(ctx, keys[i]) })
}

// MissingChunks returns the pieces of a list that are not stored, each once, in the
// order of the list.
func (s *Store) MissingChunks(ctx context.Context, holder string, sums []ident.SHA1) ([]ident.SHA1, error) {
	isThere := make([]bool, len(sums))
	err := bucket.Each(len(sums), func(i int) (err error) {
		isThere[i], err = s.hasChunk(ctx, holder, sums[i])
		return err
	})
	if err != nil {
		return nil, err
	}
	missing, isListed := []ident.SHA1{}, map[ident.SHA1]bool{}
	for i, sum := range sums {
		if !isThere[i] && !isListed[sum] {
			missing = append(missing, sum)
			isListed[sum] = true
		}
	}
	return missing, nil
}

// OpenChunks returns the content of pieces, one after the other. A missing piece is an
// error of a Read, NotFound. Damage is not detected: the caller compares the checksum of
// the whole, and calls CheckChunks if it differs.
func (s *Store) OpenChunks(ctx context.Context, holder string, sums []ident.SHA1) io.ReadCloser {
	return &chunks{store: s, ctx: ctx, holder: holder, left: slices.Clone(sums)}
}

// CheckChunks reads pieces, and removes the first damaged one. That, or a missing piece, is
// NotFound.
func (s *Store) CheckChunks(ctx context.Context, holder string, sums []ident.SHA1) error {
	for i, want := range sums {
		in := s.OpenChunks(ctx, holder, sums[i:i+1])
		sum := sha1.New()
		_, err := io.Copy(sum, in)
		_ = in.Close() // it was only read
		switch {
		case err != nil:
			return err
		case ident.SHA1(sum.Sum(nil)) != want:
			for _, key := range s.chunkKeys(holder, want) {
				_ = s.deps.Bucket.Delete(ctx, key) // else it expires
			}
			return fault.New(fault.NotFound, "chunk "+want.String(), "the piece was damaged")
		}
	}
	return nil
}

// chunks reads pieces.
type chunks struct {
	store  *Store
	ctx    context.Context
	holder string
	left   []ident.SHA1
	body   io.ReadCloser // nil: the next one is not open
	err    error
}

// Read reads the next bytes.
func (c *chunks) Read(p []byte) (n int, err error) {
	for n == 0 && c.err == nil && len(p) > 0 {
		if c.body == nil {
			if len(c.left) == 0 {
				return 0, io.EOF
			}
			if c.body, c.err = c.store.openChunk(c.ctx, c.holder, c.left[0]); c.err != nil {
				c.body = nil
				break
			}
		}
		if n, c.err = c.body.Read(p); c.err == io.EOF {
			c.err = c.Close()
			c.left = c.left[1:]
		}
	}
	return n, c.err
}

// Close ends reading.
func (c *chunks) Close() error {
	if c.body == nil {
		return nil
	}
	body := c.body
	c.body = nil
	return body.Close()
}

// summed is a reader of content that must have a sum. Else it ends with an error.
type summed struct {
	in      io.Reader
	sum     hash.Hash
	want    ident.SHA1
	isOther bool
}

var errOther = fault.New(fault.Malformed, "chunk", "the content has another SHA-1")

func (r *summed) Read(p []byte) (n int, err error) {
	n, err = r.in.Read(p)
	r.sum.Write(p[:n])
	if err == io.EOF && !bytes.Equal(r.sum.Sum(nil), r.want[:]) {
		r.isOther = true
		return n, errOther
	}
	return n, err
}

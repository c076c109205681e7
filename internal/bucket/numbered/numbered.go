// Package numbered stores values that change in a bucket whose blobs never change: every
// version is a blob of its own, PREFIX/1, PREFIX/2 and so on, and the last one is
// current.
//
// A version is created conditionally. Of several writers one creates it; the others read
// it, and make their change on top of it. A writer whose answer was lost recognizes its
// version by the text, so writers whose equal texts mean different things must make them
// unique.
package numbered

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"

	"symbolon/internal/bucket"
	"symbolon/internal/fault"
)

// MaxText is the largest size of a version.
const MaxText = 1 << 20

const maxRetries = 100 // of a change that others come before

// Versions are the versions of a value. It is safe for concurrent use.
type Versions struct {
	Bucket bucket.Bucket
	Prefix string
}

// Key returns the key of version n.
func (v Versions) Key(n int) string { return v.Prefix + "/" + strconv.Itoa(n) }

// Newest returns the number of the last version, at least known, which exists unless it
// is zero. No version after it is missing, so twice as many requests as the number of
// later ones has binary digits are enough.
func (v Versions) Newest(ctx context.Context, known int) (int, error) {
	var failed error
	exists := func(n int) bool {
		_, err := v.Bucket.Stat(ctx, v.Key(n))
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

// Read reads version n, and the version that the bucket has for its blob.
func (v Versions) Read(ctx context.Context, n int) (text []byte, version string, err error) {
	body, a, err := v.Bucket.Get(ctx, v.Key(n), 0, MaxText)
	if err != nil {
		return nil, "", err
	}
	defer body.Close()
	text, err = io.ReadAll(body)
	return text, a.Version, err
}

// Create creates version n. It returns false if another writer was first.
func (v Versions) Create(ctx context.Context, n int, text []byte) (bool, error) {
	if len(text) > MaxText {
		return false, fmt.Errorf("version %d of %s has %d bytes: must have at most %d", n, v.Prefix, len(text), MaxText)
	}
	created, err := v.Bucket.Put(ctx, v.Key(n), bytes.NewReader(text), bucket.Attrs{Size: int64(len(text)), IfAbsent: true})
	if err != nil || created {
		return created, err
	}
	now, _, err := v.Read(ctx, n) // it may be ours: the answer to an earlier try may be lost
	return bytes.Equal(now, text), err
}

// Change creates the version after the last one, with the text that do returns for the
// text of the last one, which is nil without one. If another writer is first, do is
// called again for its text. Version known exists, unless it is zero. Change returns
// the number of the new version.
func (v Versions) Change(ctx context.Context, known int, do func(text []byte) ([]byte, error)) (n int, err error) {
	for range maxRetries {
		if known, err = v.Newest(ctx, known); err != nil {
			return 0, err
		}
		var text []byte
		if known > 0 {
			if text, _, err = v.Read(ctx, known); err != nil {
				return 0, err
			}
		}
		if text, err = do(text); err != nil {
			return 0, err
		}
		created, err := v.Create(ctx, known+1, text)
		if err != nil || created {
			return known + 1, err
		}
	}
	return 0, fault.New(fault.Transport, v.Key(known), "%d others changed it meanwhile; try again", maxRetries)
}

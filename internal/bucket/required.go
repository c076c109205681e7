package bucket

import (
	"context"
	"errors"
	"io"

	"symbolon/internal/fault"
)

// Required is a bucket of the server, which must exist and accept its credentials.
// Otherwise the calls fail with Transport: NotFound would mean that the bucket does not
// have the key, and Denied that the client of the server may not do this. The answers of
// an object store to a Stat and a Delete do not tell a missing bucket from a missing key.
type Required struct{ Bucket }

// Get implements Bucket.
func (r Required) Get(ctx context.Context, key string, off, n int64) (io.ReadCloser, Attrs, error) {
	body, a, err := r.Bucket.Get(ctx, key, off, n)
	return body, a, required(err)
}

// Put implements Bucket.
func (r Required) Put(ctx context.Context, key string, body io.Reader, a Attrs) (bool, error) {
	created, err := r.Bucket.Put(ctx, key, body, a)
	return created, required(err)
}

// Stat implements Bucket.
func (r Required) Stat(ctx context.Context, key string) (Attrs, error) {
	a, err := r.Bucket.Stat(ctx, key)
	return a, required(err)
}

// Delete implements Bucket.
func (r Required) Delete(ctx context.Context, key string) error {
	return required(r.Bucket.Delete(ctx, key))
}

// List implements Bucket.
func (r Required) List(ctx context.Context, prefix, after string, n int) ([]string, bool, error) {
	keys, more, err := r.Bucket.List(ctx, prefix, after, n)
	return keys, more, required(err)
}

// required returns a failure of the whole bucket as one of transport.
func required(err error) error {
	if !errors.Is(err, ErrNoBucket) && fault.KindOf(err) != fault.Denied {
		return err
	}
	f := *fault.Of(err)
	f.Kind = fault.Transport
	return &f
}

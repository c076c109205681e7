package bucket

import (
	"context"
	"io"
	"iter"
)

// Read returns n bytes of a blob from offset off on, to its end if n is negative.
func Read(ctx context.Context, b Bucket, key string, off, n int64) ([]byte, error) {
	r, _, err := b.Get(ctx, key, off, n)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

// Keys returns all keys with a prefix that are greater than after, page by page. An
// error is the last element.
func Keys(ctx context.Context, b Bucket, prefix, after string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for more := true; more; {
			var page []string
			var err error
			if page, more, err = b.List(ctx, prefix, after, MaxPage); err != nil {
				yield("", err)
				return
			}
			for _, after = range page {
				if !yield(after, nil) {
					return
				}
			}
		}
	}
}

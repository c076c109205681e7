package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"

	"symbolon/internal/fault"
	"symbolon/internal/transfer"
)

// Part is a Get from a store over HTTP.
type Part struct {
	Key, Place string // of the blob; Place is for messages
	// Ask sends the request with these headers. It returns unsuccessful answers
	// only if accept returns true for the status.
	Ask   func(header map[string]string, accept func(status int) bool) (*http.Response, error)
	Attrs func(resp *http.Response, size int64) Attrs
	Stat  func(ctx context.Context, key string) (Attrs, error)
}

// Get reads n bytes at off. It checks that the store sent the requested range.
func (p Part) Get(ctx context.Context, off, n int64) (io.ReadCloser, Attrs, error) {
	if err := Begin(ctx, p.Key); err != nil {
		return nil, Attrs{}, err
	}
	off = max(off, 0)
	if n != 0 {
		resp, err := p.Ask(rangeHeader(off, n), isBeyondEnd)
		if err != nil {
			return nil, Attrs{}, err
		}
		if !isBeyondEnd(resp.StatusCode) {
			r, size, err := answer(resp, off, n)
			if err != nil {
				resp.Body.Close()
				return nil, Attrs{}, fault.New(fault.Transport, p.Place, "%w", err)
			}
			return r, p.Attrs(resp, size), nil
		}
	}
	a, err := p.Stat(ctx, p.Key)
	if err != nil {
		return nil, Attrs{}, err
	}
	return http.NoBody, a, nil
}

func isBeyondEnd(status int) bool { return status == http.StatusRequestedRangeNotSatisfiable }

// rangeHeader returns the header for the off and n of a Get.
func rangeHeader(off, n int64) map[string]string {
	switch {
	case n >= 0 && n <= math.MaxInt64-off:
		return map[string]string{"Range": fmt.Sprintf("bytes=%d-%d", off, off+n-1)}
	case off > 0:
		return map[string]string{"Range": fmt.Sprintf("bytes=%d-", off)}
	}
	return map[string]string{}
}

// answer returns the body of the answer to a Get for a range, and the size of
// the whole blob.
func answer(resp *http.Response, off, n int64) (io.ReadCloser, int64, error) {
	if resp.StatusCode == http.StatusPartialContent {
		first, last, size, ok := transfer.ContentRange(resp.Header.Get("Content-Range"))
		from, length := Cut(off, n, size)
		if !ok || first != from || last != from+length-1 || resp.ContentLength >= 0 && resp.ContentLength != length {
			return nil, 0, errors.New("the store sent another range")
		}
		return resp.Body, size, nil
	}
	size := resp.ContentLength
	switch {
	case resp.StatusCode != http.StatusOK:
		return nil, 0, fmt.Errorf("unexpected status %d", resp.StatusCode)
	case size < 0:
		return nil, 0, errors.New("the answer has no size")
	case off > 0:
		return nil, 0, errors.New("the store does not support ranges")
	case n < 0 || n >= size:
		return resp.Body, size, nil
	}
	return struct {
		io.Reader
		io.Closer
	}{io.LimitReader(resp.Body, n), resp.Body}, size, nil
}

package bucket

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
)

// RangeHeader asks for what off and n of a Get stand for, empty if that is the
// whole blob.
func RangeHeader(off, n int64) string {
	switch {
	case n >= 0 && n <= math.MaxInt64-off:
		return fmt.Sprintf("bytes=%d-%d", off, off+n-1)
	case off > 0:
		return fmt.Sprintf("bytes=%d-", off)
	}
	return ""
}

// Answer is the body of the answer to a Get that asked for RangeHeader, and the
// size of the whole blob. It checks that the store has sent what was asked for,
// and closes the body if not.
func Answer(resp *http.Response, off, n int64) (io.ReadCloser, int64, error) {
	r, size, err := answer(resp, off, n)
	if err != nil {
		resp.Body.Close()
	}
	return r, size, err
}

func answer(resp *http.Response, off, n int64) (io.ReadCloser, int64, error) {
	if resp.StatusCode == http.StatusPartialContent {
		first, last, size, ok := contentRange(resp.Header.Get("Content-Range"))
		from, length := Cut(off, n, size)
		if !ok || first != from || last != from+length-1 || resp.ContentLength >= 0 && resp.ContentLength != length {
			return nil, 0, errors.New("the store has sent another range")
		}
		return resp.Body, size, nil
	}
	size := resp.ContentLength
	switch {
	case resp.StatusCode != http.StatusOK:
		return nil, 0, fmt.Errorf("status %d is no answer to a read", resp.StatusCode)
	case size < 0:
		return nil, 0, errors.New("the store does not tell the size")
	case off > 0:
		return nil, 0, errors.New("the store does not know ranges")
	case n < 0 || n >= size:
		return resp.Body, size, nil
	}
	return struct {
		io.Reader
		io.Closer
	}{io.LimitReader(resp.Body, n), resp.Body}, size, nil
}

// contentRange reads "bytes 0-99/1000".
func contentRange(text string) (first, last, size int64, ok bool) {
	text, ok = strings.CutPrefix(text, "bytes ")
	span, whole, _ := strings.Cut(text, "/")
	from, to, _ := strings.Cut(span, "-")
	number := func(text string) int64 {
		v, err := strconv.ParseUint(text, 10, 63)
		ok = ok && err == nil
		return int64(v)
	}
	return number(from), number(to), number(whole), ok
}

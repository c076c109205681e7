package web

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"symbolon/internal/fault"
	"symbolon/internal/source"
	"symbolon/internal/transfer"
)

// whole is a file in progress, parts of which may be requested again. An answer whose
// headers contradict those of the first one belongs to another version.
type whole struct {
	*fetch
	by    way
	size  int64
	tag   string // ETag
	since string // Last-Modified
	cond  string // If-Range
	codes string // Content-Encoding

	mu    sync.Mutex
	first io.ReadCloser // body of the first answer, until it is opened
	next  io.ReadCloser // body of the second piece, if the server supports ranges
	broke *failure      // how the last connection broke
}

// body returns a reader of the file of an answer. If the server supports ranges,
// the reader resumes after a broken connection, and reads a long file over several
// connections in parallel. done ends reading and returns the number of repeated
// requests.
func (f *fetch) body(total context.Context, by way, resp *http.Response) (in io.Reader, done func() int) {
	first := &body{resp.Body, f, by.ctx, by.guard}
	w := &whole{
		fetch: f, by: by, size: resp.ContentLength, first: first, codes: codings(resp.Header),
		tag: tag(resp.Header), since: since(resp.Header),
	}
	w.cond = w.since
	if w.tag != "" && !strings.HasPrefix(w.tag, "W/") {
		w.cond = w.tag
	}
	if w.size <= 0 || w.cond == "" || strings.EqualFold(resp.Header.Get("Accept-Ranges"), "none") {
		return first, func() int { _ = first.Close(); return 0 }
	}
	ranged := source.NewResumed(total, w.size, w.open)
	if w.size > source.Piece && w.widen(total) {
		ranged = source.NewRanged(total, w.size, w.client.ahead, w.open)
	}
	return ranged, func() int {
		_ = ranged.Close() // it was only read
		for _, b := range []io.Closer{w.first, w.next} {
			if b != nil {
				_ = b.Close()
			}
		}
		return ranged.Resumed()
	}
}

// widen requests the second piece, and reports whether the server sends it.
func (w *whole) widen(ctx context.Context) bool {
	next, err := w.part(ctx, source.Piece, min(source.Piece, w.size-source.Piece))
	if err == nil {
		w.next = next
	}
	return err == nil
}

// open opens a part of the file.
func (w *whole) open(ctx context.Context, off, n int64) (io.ReadCloser, error) {
	w.mu.Lock()
	have := io.ReadCloser(nil)
	switch {
	case off == 0 && w.first != nil:
		have, w.first = w.first, nil
	case off == source.Piece && w.next != nil:
		have, w.next = w.next, nil
	}
	w.mu.Unlock()
	if have == nil {
		var err error
		if have, err = w.part(ctx, off, n); err != nil {
			return nil, err
		}
	}
	return &watched{have, w}, nil
}

// watched is a part that stores in its file how it broke.
type watched struct {
	io.ReadCloser
	of *whole
}

func (p *watched) Read(b []byte) (int, error) {
	n, err := p.ReadCloser.Read(b)
	if broke, ok := err.(lost); ok {
		p.of.mu.Lock()
		p.of.broke = broke.failure
		p.of.mu.Unlock()
	}
	return n, err
}

// part requests n bytes from off on, of the file in the state of the first answer.
func (w *whole) part(parent context.Context, off, n int64) (io.ReadCloser, error) {
	if why := w.deny.blocked(w.host); why != "" {
		return nil, source.Final{Err: w.lost(why)}
	}
	ctx, guard := transfer.NewGuard(parent, w.client.cfg.ReadTimeout)
	header := w.extra.Clone()
	header.Del("If-None-Match")
	header.Del("If-Modified-Since")
	header.Set("Range", fmt.Sprintf("bytes=%d-%d", off, off+n-1))
	header.Set("If-Range", w.cond)
	resp, err := w.send(ctx, w.by.at, w.by.home, header)
	if err != nil {
		defer guard.Close()
		failed := w.client.broken(w.caller, ctx, w.attempt.URL, err)
		if !failed.again {
			return nil, source.Final{Err: lost{failed}}
		}
		return nil, lost{failed}
	}
	if failed := verdict(w.attempt.URL, resp.StatusCode); failed != nil && resp.StatusCode != http.StatusPartialContent {
		defer guard.Close()
		discard(resp)
		if failed.again {
			return nil, lost{failed}
		}
		return nil, w.refused("the rest of the file is not given: " + failed.Detail)
	}
	length, ok := w.covers(resp, off, n)
	if !ok {
		defer guard.Close()
		_ = resp.Body.Close() // it may be the whole of a large file
		return nil, w.refused("the file was replaced while it was read")
	}
	b := &body{resp.Body, w.fetch, ctx, guard}
	return &bounded{io.LimitReader(b, length), b}, nil
}

// covers reports whether an answer is a part of the file from off on, and how many
// of the n requested bytes it has.
func (w *whole) covers(resp *http.Response, off, n int64) (length int64, ok bool) {
	from, to, size, ok := transfer.ContentRange(resp.Header.Get("Content-Range"))
	switch {
	case resp.StatusCode != http.StatusPartialContent || !ok:
		return 0, false
	case from != off || to >= off+n || size != w.size:
		return 0, false
	case resp.ContentLength >= 0 && resp.ContentLength != to-from+1, codings(resp.Header) != w.codes:
		return 0, false
	}
	again, when := tag(resp.Header), since(resp.Header)
	return to - from + 1, cmp.Or(again, w.tag) == w.tag && cmp.Or(when, w.since) == w.since
}

// refused returns the final error of a part: the failure of the connection before,
// if there was one, or otherwise why.
func (w *whole) refused(why string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.broke != nil {
		return source.Final{Err: lost{w.broke}}
	}
	return source.Final{Err: w.lost(why)}
}

func (w *whole) lost(why string) error {
	return lost{&failure{Error: fault.New(fault.Transport, w.attempt.URL, "%s", why), again: true}}
}

// bounded is a body with a limit.
type bounded struct {
	io.Reader
	io.Closer
}

// validator returns the validator of a file, unless it has a secret of the source.
func (f *fetch) validator(h http.Header) string {
	text := cmp.Or(tag(h), since(h))
	if f.scrub(text) != text {
		return ""
	}
	return text
}

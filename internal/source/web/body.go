package web

import (
	"context"
	"io"
	"net/http"
	"strings"
	"time"

	"symbolon/internal/transfer"
)

// body is the body of an answer. It cancels its request when it stalls, fails
// with a lost, and does not end with io.EOF after a part.
type body struct {
	in    io.ReadCloser
	fetch *fetch
	ctx   context.Context // of the request
	guard *transfer.Guard // of ctx
}

// lost is the failure that ended a body.
type lost struct{ failure *failure }

func (l lost) Error() string { return l.failure.Error.Error() }

// Unwrap returns the failure as a fault.
func (l lost) Unwrap() error { return l.failure.Error }

func (b *body) Read(p []byte) (int, error) {
	b.guard.Start()
	n, err := b.in.Read(p)
	b.guard.Stop()
	if err == io.EOF && b.ctx.Err() != nil {
		// A server may end its answer regularly when it notices that the request
		// is canceled, so that a part looks like the whole.
		err = b.ctx.Err()
	}
	if err == nil || err == io.EOF {
		return n, err
	}
	return n, lost{b.fetch.client.broken(b.fetch.caller, b.ctx, b.fetch.attempt.URL, err)}
}

// Close ends the request.
func (b *body) Close() error {
	b.guard.Close()
	return b.in.Close()
}

// codings returns the codings of the body of an answer.
func codings(h http.Header) string { return strings.Join(h.Values("Content-Encoding"), ",") }

const (
	drainBytes   = 32 << 10 // of an answer without a file, to reuse its connection
	drainTimeout = 300 * time.Millisecond
)

// discard reads the short body of an answer without a file, so that the connection can be
// reused. It stops if the body is long or slow.
func discard(resp *http.Response) {
	defer resp.Body.Close()
	if resp.ContentLength > drainBytes {
		return
	}
	timer := time.AfterFunc(drainTimeout, func() { resp.Body.Close() })
	defer timer.Stop()
	_, _ = io.CopyN(io.Discard, resp.Body, drainBytes) // only the connection is at stake
}

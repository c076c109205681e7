package web

import (
	"context"
	"io"

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
		// is cancelled, so that a part looks like the whole.
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

package web

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// body is the body of an answer. It gives its request up when nothing comes for
// too long, says in a failure how it broke, and never takes a part for the
// whole.
type body struct {
	in     io.ReadCloser
	fetch  *fetch
	ctx    context.Context // of the request
	cancel context.CancelCauseFunc
	timer  *time.Timer // nil: there is no bound
}

// lost is the failure that ended a body.
type lost struct{ failure *failure }

func (l lost) Error() string { return l.failure.Error.Error() }

// Unwrap is the failure as a fault.
func (l lost) Unwrap() error { return l.failure.Error }

func (f *fetch) reads(ctx context.Context, cancel context.CancelCauseFunc, resp *http.Response) *body {
	b := &body{in: resp.Body, fetch: f, ctx: ctx, cancel: cancel}
	if limit := f.client.cfg.ReadTimeout; limit > 0 {
		b.timer = time.AfterFunc(limit, func() { cancel(errIdle) })
		b.timer.Stop()
	}
	return b
}

func (b *body) Read(p []byte) (int, error) {
	if b.timer != nil {
		b.timer.Reset(b.fetch.client.cfg.ReadTimeout)
		defer b.timer.Stop()
	}
	n, err := b.in.Read(p)
	if err == io.EOF && b.ctx.Err() != nil {
		// A server that learns that we leave may still get a regular end
		// through, so that a part looks like the whole.
		err = b.ctx.Err()
	}
	if err == nil || err == io.EOF {
		return n, err
	}
	return n, lost{b.fetch.client.broken(b.fetch.caller, b.ctx, b.fetch.attempt.URL, err)}
}

// Close lets go of the request.
func (b *body) Close() error {
	if b.timer != nil {
		b.timer.Stop()
	}
	b.cancel(errors.New("closed"))
	return b.in.Close()
}

package transfer

import (
	"context"
	"errors"
	"io"
	"time"
)

// ErrStalled is the cause with which a Guard cancels its context.
var ErrStalled = errors.New("the transfer stalled")

// Overdue is the cause with which a transfer is canceled that takes longer than this.
type Overdue time.Duration

func (o Overdue) Error() string { return "not finished within " + time.Duration(o).String() }

// Guard cancels the context of a transfer that stalls.
type Guard struct {
	limit  time.Duration
	timer  *time.Timer
	cancel context.CancelCauseFunc
}

// NewGuard returns a guard, and the context that it cancels when nothing has
// moved for limit. With a limit that is not positive it never does. Close
// releases both.
func NewGuard(ctx context.Context, limit time.Duration) (context.Context, *Guard) {
	ctx, cancel := context.WithCancelCause(ctx)
	g := &Guard{limit: limit, cancel: cancel, timer: time.AfterFunc(time.Hour, func() { cancel(ErrStalled) })}
	g.timer.Stop()
	return ctx, g
}

// Start begins to wait for the other side, or notes that something moved.
func (g *Guard) Start() {
	if g.limit > 0 {
		g.timer.Reset(g.limit)
	}
}

// Stop ends waiting for the other side.
func (g *Guard) Stop() { g.timer.Stop() }

// Close cancels the context.
func (g *Guard) Close() {
	g.timer.Stop()
	g.cancel(nil)
}

// Reader returns a reader of r that notes each read.
func (g *Guard) Reader(r io.Reader) io.Reader { return &guarded{r, g} }

type guarded struct {
	r io.Reader
	g *Guard
}

func (r *guarded) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	r.g.Start()
	return n, err
}

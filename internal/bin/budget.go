package bin

import (
	"context"
	"sync"
)

// Budget is memory that work of one sort may use at a time. Who wants some
// waits in line until it is there; what is more than all of it gets all of it.
// A nil Budget has no bound. It is safe for concurrent use.
//
// Nobody may wait for a Budget who holds a part of it, or two would wait for
// each other.
type Budget struct {
	max  int64
	mu   sync.Mutex
	free int64
	line []*claim // first come, first served
}

type claim struct {
	n     int64
	ready chan struct{} // closed when the claim is met
}

// NewBudget is a Budget of max bytes.
func NewBudget(max int64) *Budget { return &Budget{max: max, free: max} }

// Acquire waits for n bytes. The function that it returns gives them back; only
// its first call counts. The error is that of a ctx that ended before.
func (b *Budget) Acquire(ctx context.Context, n int64) (release func(), err error) {
	if b == nil || n <= 0 {
		return func() {}, nil
	}
	n = min(n, b.max)
	b.mu.Lock()
	if len(b.line) == 0 && b.free >= n {
		b.free -= n
		b.mu.Unlock()
		return b.back(n), nil
	}
	mine := &claim{n: n, ready: make(chan struct{})}
	b.line = append(b.line, mine)
	b.mu.Unlock()
	select {
	case <-mine.ready:
		return b.back(n), nil
	case <-ctx.Done():
	}
	if !b.leave(mine) {
		b.back(n)()
	}
	return nil, context.Cause(ctx)
}

// Max returns the bytes of the whole budget.
func (b *Budget) Max() int64 { return b.max }

// Wanted tells whether somebody waits.
func (b *Budget) Wanted() bool {
	if b == nil {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.line) > 0
}

// back is what gives n bytes back.
func (b *Budget) back(n int64) func() {
	var once sync.Once
	return func() {
		once.Do(func() {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.free += n
			b.serve()
		})
	}
}

// serve meets the claims that are first in the line. mu is held.
func (b *Budget) serve() {
	for len(b.line) > 0 && b.line[0].n <= b.free {
		b.free -= b.line[0].n
		close(b.line[0].ready)
		b.line = b.line[1:]
	}
}

// leave takes a claim out of the line. It is false if it was met meanwhile.
func (b *Budget) leave(mine *claim) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, c := range b.line {
		if c == mine {
			b.line = append(b.line[:i:i], b.line[i+1:]...)
			b.serve() // who stood behind a large claim may be served now
			return true
		}
	}
	return false
}

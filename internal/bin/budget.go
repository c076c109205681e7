package bin

import (
	"context"
	"sync"
)

// A Budget limits the memory that concurrent work may use. Acquire waits in
// order of arrival until enough is free; a request for more than the budget is
// cut to the budget. A nil Budget has no limit. It is safe for concurrent use.
//
// A goroutine that holds a part of a Budget must not acquire more of it: two such
// goroutines could wait for each other.
type Budget struct {
	max   int64
	mu    sync.Mutex
	free  int64
	queue []*claim // first come, first served
}

type claim struct {
	n     int64
	ready chan struct{} // closed when the memory has been granted
}

// NewBudget returns a Budget of max bytes.
func NewBudget(max int64) *Budget { return &Budget{max: max, free: max} }

// Acquire waits for n bytes and returns the function that releases them; only
// its first call has an effect. If ctx ends first, the error is its cause.
func (b *Budget) Acquire(ctx context.Context, n int64) (release func(), err error) {
	if b == nil || n <= 0 {
		return func() {}, nil
	}
	n = min(n, b.max)
	b.mu.Lock()
	if len(b.queue) == 0 && b.free >= n {
		b.free -= n
		b.mu.Unlock()
		return b.releaser(n), nil
	}
	mine := &claim{n: n, ready: make(chan struct{})}
	b.queue = append(b.queue, mine)
	b.mu.Unlock()
	select {
	case <-mine.ready:
		return b.releaser(n), nil
	case <-ctx.Done():
	}
	if !b.cancel(mine) {
		b.releaser(n)()
	}
	return nil, context.Cause(ctx)
}

// Max returns the bytes of the whole budget.
func (b *Budget) Max() int64 { return b.max }

// HasWaiters reports whether a call of Acquire is waiting.
func (b *Budget) HasWaiters() bool {
	if b == nil {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.queue) > 0
}

// releaser returns a function that releases n bytes once.
func (b *Budget) releaser(n int64) func() {
	var once sync.Once
	return func() {
		once.Do(func() {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.free += n
			b.grant()
		})
	}
}

// grant grants the first claims of the queue while they fit. mu is held.
func (b *Budget) grant() {
	for len(b.queue) > 0 && b.queue[0].n <= b.free {
		b.free -= b.queue[0].n
		close(b.queue[0].ready)
		b.queue = b.queue[1:]
	}
}

// cancel removes a claim from the queue. It returns false if the claim was
// granted meanwhile.
func (b *Budget) cancel(mine *claim) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, c := range b.queue {
		if c == mine {
			b.queue = append(b.queue[:i:i], b.queue[i+1:]...)
			b.grant() // a large claim may have blocked smaller ones
			return true
		}
	}
	return false
}

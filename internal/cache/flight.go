package cache

import (
	"context"
	"sync"

	"symbolon/internal/fault"
)

// Flight lets callers that need the result for one key at the same time share
// one piece of work. It is safe for concurrent use.
//
// A result may have to be released, such as an open file with a reference
// count. The work returns it with one reference. The last of the callers that
// still wait gets that one, and share acquires one for each of the others. A
// caller that gets an error has nothing to release, and drop releases a result
// without callers. For plain values share and drop are nil.
type Flight[K comparable, T any] struct {
	// Keep lets the work continue without callers, because it fills a cache. Otherwise
	// its context is canceled then. It is set before the first Do.
	Keep bool

	share  func(T) T
	drop   func(T)
	mu     sync.Mutex
	calls  map[K]*call[T]
	closed bool
	runs   sync.WaitGroup
}

// call is one piece of work and its waiters. The Flight's mu guards all fields.
type call[T any] struct {
	cancel  context.CancelFunc
	waiters map[chan result[T]]struct{} // each has room for its one result
	done    bool                        // every waiter has its result or will get it
}

type result[T any] struct {
	value T
	err   error
}

// NewFlight returns a Flight. share and drop may be nil.
func NewFlight[K comparable, T any](share func(T) T, drop func(T)) *Flight[K, T] {
	return &Flight[K, T]{share: share, drop: drop, calls: map[K]*call[T]{}}
}

// Do returns the result of work for key: of this caller's work, or of the work
// that is in progress for an earlier caller. Work that returns an error must not
// hold anything that needs releasing.
//
// The work has a context of its own, with the values of ctx and without its deadline.
// When ctx ends, this caller gets the error of ctx, and the work continues for the
// others. When the contexts of all callers have ended, the work is canceled, unless Keep
// is set, and the next caller starts it again. Work that panics is a fault of kind
// Internal for all. Work must not call Do with its own key.
func (f *Flight[K, T]) Do(ctx context.Context, key K, work func(context.Context) (T, error)) (T, error) {
	var none T
	if err := ctx.Err(); err != nil {
		return none, err
	}
	mine := make(chan result[T], 1)
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return none, context.Canceled
	}
	c := f.calls[key]
	if c == nil {
		own, cancel := context.WithCancel(context.WithoutCancel(ctx))
		c = &call[T]{cancel: cancel, waiters: map[chan result[T]]struct{}{}}
		f.calls[key] = c
		f.runs.Go(func() { f.run(own, key, c, work) })
	}
	c.waiters[mine] = struct{}{}
	f.mu.Unlock()

	select {
	case r := <-mine:
		return r.value, r.err
	case <-ctx.Done():
	}
	if f.leave(key, c, mine) {
		return none, ctx.Err()
	}
	r := <-mine
	return r.value, r.err
}

// Close cancels all work and waits for its end. After it, Do starts no work.
func (f *Flight[K, T]) Close() {
	f.mu.Lock()
	f.closed = true
	for _, c := range f.calls {
		c.cancel()
	}
	f.mu.Unlock()
	f.runs.Wait()
}

// leave removes a waiter from a call, unless its result is about to arrive.
func (f *Flight[K, T]) leave(key K, c *call[T], mine chan result[T]) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if c.done {
		return false
	}
	delete(c.waiters, mine)
	if len(c.waiters) == 0 && !f.Keep {
		c.cancel()
		f.forget(key, c)
	}
	return true
}

// forget makes the next Do of key start new work. mu is held.
func (f *Flight[K, T]) forget(key K, c *call[T]) {
	if f.calls[key] == c {
		delete(f.calls, key)
	}
}

func (f *Flight[K, T]) run(ctx context.Context, key K, c *call[T], work func(context.Context) (T, error)) {
	defer c.cancel()
	var r result[T]
	ended := false // work has returned
	defer func() {
		if p := recover(); p != nil {
			r = result[T]{err: fault.Panicked("", p)}
		} else if !ended { // runtime.Goexit
			r = result[T]{err: fault.New(fault.Internal, "", "the work ended without a result")}
		}
		f.deliver(key, c, r)
	}()
	r.value, r.err = work(ctx)
	ended = true
}

// deliver sends every waiter its own result.
func (f *Flight[K, T]) deliver(key K, c *call[T], r result[T]) {
	f.mu.Lock()
	c.done = true
	f.forget(key, c)
	f.mu.Unlock()
	// From here on no waiter joins or leaves.
	if r.err != nil {
		r = result[T]{err: r.err}
	}
	left := len(c.waiters)
	for w := range c.waiters {
		own := r
		if left--; left > 0 && r.err == nil && f.share != nil {
			own.value = f.share(r.value)
		}
		w <- own
	}
	if len(c.waiters) == 0 && r.err == nil && f.drop != nil {
		f.drop(r.value)
	}
}

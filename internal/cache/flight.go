package cache

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"

	"symbolon/internal/fault"
)

// Flight lets callers who ask for one key at one time share one piece of
// work. It is safe for concurrent use.
//
// A result that must be released, such as an open file with a count of its
// users, is handed out as follows. The work returns it with one reference. Of
// the callers that still wait the last one gets that, and share makes one for
// each of the others. A caller that gets an error has nothing to release, and
// drop gives up a result that nobody waits for any more. For plain values share
// and drop are nil.
type Flight[K comparable, T any] struct {
	// Keep lets the work go on when nobody waits for it any more, for what it
	// leaves behind. Without it the context of the work ends then. It is set
	// before the first Do.
	Keep bool

	share  func(T) T
	drop   func(T)
	mu     sync.Mutex
	calls  map[K]*call[T]
	closed bool
	runs   sync.WaitGroup
}

// call is one piece of work and those who wait for it. All is guarded by the
// Flight's mu.
type call[T any] struct {
	cancel  context.CancelFunc
	waiters map[chan result[T]]struct{} // each has room for its one result
	done    bool                        // every waiter has a result or is about to get it
}

type result[T any] struct {
	value T
	err   error
}

// NewFlight makes a Flight. share and drop say how results are handed out.
func NewFlight[K comparable, T any](share func(T) T, drop func(T)) *Flight[K, T] {
	return &Flight[K, T]{share: share, drop: drop, calls: map[K]*call[T]{}}
}

// Do returns what work returns for key: the work of this caller, or of one who
// came before and whose work is not done. Work that returns an error must not
// hold anything that needs releasing.
//
// The work has a context of its own, with the values of ctx and without its
// end. When ctx ends, this caller gets the error of ctx, and the work goes on
// for the others; with the last one it is cancelled, unless Keep is set, and
// who asks after that begins anew. Work that panics is a fault of kind Internal
// for all, whose cause is a *Panic. Work must not Do its own key.
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

// Close cancels all work and waits for its end. Nothing begins afterwards.
func (f *Flight[K, T]) Close() {
	f.mu.Lock()
	f.closed = true
	for _, c := range f.calls {
		c.cancel()
	}
	f.mu.Unlock()
	f.runs.Wait()
}

// leave takes a waiter out of a call, unless its result is on the way.
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

// forget makes the next Do of key begin anew. mu is held.
func (f *Flight[K, T]) forget(key K, c *call[T]) {
	if f.calls[key] == c {
		delete(f.calls, key)
	}
}

func (f *Flight[K, T]) run(ctx context.Context, key K, c *call[T], work func(context.Context) (T, error)) {
	defer c.cancel()
	var r result[T]
	ended := false // work came back, by return or by panic
	defer func() {
		if p := recover(); p != nil {
			r = result[T]{err: panicked(p)}
		} else if !ended { // runtime.Goexit
			r = result[T]{err: fault.New(fault.Internal, "", "the work ended without a result")}
		}
		f.deliver(key, c, r)
	}()
	r.value, r.err = work(ctx)
	ended = true
}

// deliver gives every waiter its own result.
func (f *Flight[K, T]) deliver(key K, c *call[T], r result[T]) {
	f.mu.Lock()
	c.done = true
	f.forget(key, c)
	f.mu.Unlock()
	// Nobody joins or leaves any more.
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

// Panic is what was thrown by work, and where.
type Panic struct {
	Value any
	Stack []byte
}

func (p *Panic) Error() string { return fmt.Sprintf("panic: %v\n\n%s", p.Value, p.Stack) }

func panicked(value any) *fault.Error {
	return &fault.Error{
		Kind:   fault.Internal,
		Detail: fmt.Sprintf("panic: %v", value),
		Cause:  &Panic{Value: value, Stack: debug.Stack()},
	}
}

package source

import (
	recent "container/list"
	"context"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"symbolon/internal/fault"
)

// leastRoom is what anything on a shelf takes, in bytes, with what holds it.
const leastRoom = 512

// Shelf keeps what sources say of themselves: indexes and lists. What is on it
// is made once for all who ask at one time and holds for a while; where it
// cannot be made anew, what was there before goes on holding. Of all of it no
// more is kept than there is room for: what was used longest ago goes first. A
// Shelf is safe for concurrent use.
type Shelf struct {
	room  int64
	now   func() time.Time
	log   *slog.Logger
	heavy chan struct{} // room for makers that need much memory

	mu    sync.Mutex
	used  int64
	items map[slot]*item
	order recent.List // of *item, what was used last is in front
}

// slot names a thing on a shelf: whose, and which.
type slot struct {
	owner any
	name  string
}

type item struct {
	slot
	value  any   // nil: there is none
	err    error // why there is none
	bytes  int64
	made   time.Time // when it was put here
	until  time.Time // then it is made anew
	flight *flight   // nil: nobody makes it
	forgot bool      // what the flight makes holds for no longer than rest
	rest   time.Duration
	place  *recent.Element
}

// flight is a thing that is being made.
type flight struct {
	done  chan struct{}
	value any
	err   error
}

// NewShelf makes a shelf with room for this many bytes.
func NewShelf(room int64, now func() time.Time, log *slog.Logger) *Shelf {
	return &Shelf{room: room, now: now, log: log, heavy: make(chan struct{}, 4), items: map[slot]*item{}}
}

// Wish says what is wanted from a shelf, and how it is made.
type Wish[T any] struct {
	Owner  any // a pointer or a text: things of different owners have nothing to do with each other
	Source string
	Name   string
	Life   func(T) time.Duration // how long it holds
	Retry  time.Duration         // after a failure
	Limit  time.Duration         // in which it must be made
	Stale  bool                  // what was there before is good enough while it is made anew
	Quiet  bool                  // nobody is told of a failure
	Make   func(ctx context.Context) (value T, bytes int64, err error)
}

// Keep gives what is on the shelf, or makes it. Who leaves cancels nothing.
func Keep[T any](ctx context.Context, s *Shelf, w Wish[T]) (T, error) {
	f := s.look(ctx, slot{w.Owner, w.Name}, w.Stale, func(ctx context.Context, it *item, f *flight) {
		ctx, cancel := context.WithTimeout(ctx, w.Limit)
		defer cancel()
		value, bytes, err := safely(ctx, w.Make)
		life := w.Retry
		if err == nil {
			life, f.value = w.Life(value), value
		} else if f.err = err; !w.Quiet {
			s.log.Warn("a source does not say what it has", "source", w.Source, "what", w.Name, "retry", life, "error", err)
		}
		s.put(it, f, bytes+int64(len(w.Name)), life)
	})
	var none T
	select {
	case <-f.done:
	case <-ctx.Done():
		return none, fault.New(fault.KindOf(ctx.Err()), "", "given up by the asker: %w", ctx.Err())
	}
	if f.err != nil {
		return none, f.err
	}
	return f.value.(T), nil // it is what make made
}

func safely[T any](ctx context.Context, do func(context.Context) (T, int64, error)) (value T, bytes int64, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fault.New(fault.Internal, "", "panic: %v\n%s", p, debug.Stack())
		}
	}()
	return do(ctx)
}

// look finds a flight that has what is in a slot, or will have.
func (s *Shelf) look(ctx context.Context, at slot, stale bool, fill func(context.Context, *item, *flight)) *flight {
	s.mu.Lock()
	defer s.mu.Unlock()
	it := s.items[at]
	if it == nil {
		it = &item{slot: at}
		s.items[at] = it
	}
	if it.place != nil {
		s.order.MoveToFront(it.place)
	}
	if fresh := it.place != nil && it.until.After(s.now()); fresh {
		return landed(it)
	}
	if it.flight == nil {
		it.flight = &flight{done: make(chan struct{})}
		go fill(context.WithoutCancel(ctx), it, it.flight)
	}
	if stale && it.value != nil {
		return landed(it)
	}
	return it.flight
}

// landed is what is there as a flight that is over.
func landed(it *item) *flight {
	f := &flight{done: make(chan struct{}), value: it.value, err: it.err}
	close(f.done)
	return f
}

// put puts on the shelf what a flight has made. A failure leaves what was there
// before.
func (s *Shelf) put(it *item, f *flight, bytes int64, life time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer close(f.done)
	it.flight, it.made = nil, s.now()
	if it.forgot {
		life, it.forgot = min(life, it.rest), false
	}
	it.until = it.made.Add(life)
	if f.err != nil && it.value != nil {
		f.value, f.err = it.value, nil
		return
	}
	if it.value, it.err = f.value, f.err; it.place == nil {
		it.place = s.order.PushFront(it)
	}
	s.used -= it.bytes
	it.bytes = leastRoom + bytes
	s.used += it.bytes
	for last := s.order.Back(); last != nil && s.used > s.room; last = s.order.Back() {
		s.drop(last.Value.(*item)) // nothing else is in the list
	}
}

// Forget has the things with names of this kind made anew when they are wanted
// next.
func (s *Shelf) Forget(kind func(name string) bool) { s.forget(kind, 0) }

// ForgetIndexes has indexes read anew when they are wanted next, each when the
// last reading of it was a while ago. Until then the old one holds.
func (s *Shelf) ForgetIndexes() {
	s.forget(func(name string) bool { return name == indexName }, indexRetry)
}

// forget lets things hold for no longer than rest after they were made.
func (s *Shelf) forget(kind func(name string) bool, rest time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for at, it := range s.items {
		if !kind(at.name) {
			continue
		}
		it.forgot, it.rest = it.flight != nil, rest
		if end := it.made.Add(rest); it.until.After(end) {
			it.until = end
		}
	}
}

// drop takes a thing off the shelf. One that is being made anew comes back.
func (s *Shelf) drop(it *item) {
	s.order.Remove(it.place)
	s.used -= it.bytes
	it.place, it.value, it.err, it.bytes = nil, nil, nil, 0
	if it.flight == nil {
		delete(s.items, it.slot)
	}
}

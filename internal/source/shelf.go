package source

import (
	recent "container/list"
	"context"
	"log/slog"
	"sync"
	"time"

	"symbolon/internal/fault"
)

// leastRoom is the size of an item in bytes without its value.
const leastRoom = 512

// Shelf caches the indexes and lists that sources have of their files. An item is
// made once for all concurrent callers and expires after a while; if it cannot be
// renewed, the stale one is used. Beyond the room of the shelf the least recently
// used items are evicted. A Shelf is safe for concurrent use.
type Shelf struct {
	room  int64
	now   func() time.Time
	log   *slog.Logger
	heavy chan struct{} // limits the makers that need much memory

	mu    sync.Mutex
	used  int64
	items map[slot]*item
	order recent.List // of *item, most recently used first
}

// slot identifies an item by its owner and its name.
type slot struct {
	owner any
	name  string
}

type item struct {
	slot
	value  any   // nil: not made
	err    error // of making the value
	bytes  int64
	made   time.Time // when value or err was stored
	until  time.Time // when it expires
	flight *flight   // nil: it is not being made
	forgot bool      // the result of the flight expires after rest at the latest
	rest   time.Duration
	place  *recent.Element
}

// flight is an item that is being made.
type flight struct {
	done  chan struct{}
	value any
	err   error
}

// NewShelf returns a shelf with room for this many bytes.
func NewShelf(room int64, now func() time.Time, log *slog.Logger) *Shelf {
	return &Shelf{room: room, now: now, log: log, heavy: make(chan struct{}, 4), items: map[slot]*item{}}
}

// Request describes an item of a shelf, and how to make it.
type Request[T any] struct {
	Owner  any // a pointer or a text: owners do not share items
	Source string
	Name   string
	Life   func(T) time.Duration // until the item expires
	Retry  time.Duration         // until a failure expires
	Limit  time.Duration         // timeout of Make
	Stale  bool                  // a stale item may be used while it is renewed
	Quiet  bool                  // failures are not logged
	Make   func(ctx context.Context) (value T, bytes int64, err error)
}

// Keep returns an item of the shelf, or makes it. The end of ctx does not cancel
// making it.
func Keep[T any](ctx context.Context, s *Shelf, w Request[T]) (T, error) {
	f := s.look(ctx, slot{w.Owner, w.Name}, w.Stale, func(ctx context.Context, it *item, f *flight) {
		ctx, cancel := context.WithTimeout(ctx, w.Limit)
		defer cancel()
		value, bytes, err := safely(ctx, w.Make)
		life := w.Retry
		if err == nil {
			life, f.value = w.Life(value), value
		} else if f.err = err; !w.Quiet {
			s.log.Warn("cannot read the list of files of a source", "source", w.Source, "what", w.Name, "retry", life, "error", err)
		}
		s.put(it, f, bytes+int64(len(w.Name)), life)
	})
	var none T
	select {
	case <-f.done:
	case <-ctx.Done():
		return none, fault.New(fault.KindOf(ctx.Err()), "", "canceled by the caller: %w", ctx.Err())
	}
	if f.err != nil {
		return none, f.err
	}
	return f.value.(T), nil // Make returns a T
}

// safely calls do, and returns a panic as an error.
func safely[T any](ctx context.Context, do func(context.Context) (T, int64, error)) (value T, bytes int64, err error) {
	defer fault.Recover("", &err)
	return do(ctx)
}

// look returns a flight with the item of a slot, ended or in progress.
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

// landed returns the current item as a flight that has ended.
func landed(it *item) *flight {
	f := &flight{done: make(chan struct{}), value: it.value, err: it.err}
	close(f.done)
	return f
}

// put stores the result of a flight. After a failure the value before stays.
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
		s.drop(last.Value.(*item)) // the list has no other values
	}
}

// Forget invalidates the items whose names are of this kind.
func (s *Shelf) Forget(kind func(name string) bool) { s.forget(kind, 0) }

// ForgetIndexes invalidates indexes, each as soon as a minimum time since it was
// read has passed. Until then the old one is used.
func (s *Shelf) ForgetIndexes() {
	s.forget(func(name string) bool { return name == indexName }, indexRetry)
}

// forget makes items expire at the latest rest after they were made.
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

// drop removes an item. One that is being made is stored again.
func (s *Shelf) drop(it *item) {
	s.order.Remove(it.place)
	s.used -= it.bytes
	it.place, it.value, it.err, it.bytes = nil, nil, nil, 0
	if it.flight == nil {
		delete(s.items, it.slot)
	}
}

package bucket

import (
	"context"
	"sync"
	"time"

	"symbolon/internal/fault"
)

const (
	renewalTime  = 30 * time.Second // for one renewal
	renewalPause = 10 * time.Second // after one that failed, while the old value is still good
)

// Renewed is a value that expires, such as credentials, and is renewed before
// it does: by one flight however many wait, and without anybody waiting as
// long as the old one is good. It is safe for concurrent use.
type Renewed[T any] struct {
	Fetch func(ctx context.Context) (value T, expires time.Time, err error)
	Now   func() time.Time
	Early time.Duration // before it expires

	mu      sync.Mutex
	value   T
	expires time.Time // of value; zero: there is none
	pause   time.Time // no renewal of a good value before this
	flight  *renewal
}

type renewal struct {
	done chan struct{}
	err  error
}

// Get is a value that is good now.
func (r *Renewed[T]) Get(ctx context.Context) (T, error) {
	for {
		r.mu.Lock()
		now := r.Now()
		good := now.Before(r.expires)
		if r.flight == nil && (!good || !now.Before(r.expires.Add(-r.Early)) && !now.Before(r.pause)) {
			r.flight = &renewal{done: make(chan struct{})}
			go r.renew(context.WithoutCancel(ctx), r.flight)
		}
		value, flight := r.value, r.flight
		r.mu.Unlock()
		if good {
			return value, nil
		}
		select {
		case <-flight.done:
			if flight.err != nil {
				return *new(T), flight.err
			}
		case <-ctx.Done():
			return *new(T), fault.New(fault.KindOf(ctx.Err()), "", "%w", ctx.Err())
		}
	}
}

// Drop forgets the value if same says so: it is not good any more.
func (r *Renewed[T]) Drop(same func(T) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if same(r.value) {
		r.expires = time.Time{}
	}
}

func (r *Renewed[T]) renew(ctx context.Context, f *renewal) {
	ctx, cancel := context.WithTimeout(ctx, renewalTime)
	defer cancel()
	value, expires, err := r.Fetch(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil && !r.Now().Before(expires) {
		err = fault.New(fault.Denied, "", "the new credentials have expired already")
	}
	if err == nil {
		r.value, r.expires = value, expires
	}
	r.pause = r.Now().Add(renewalPause)
	r.flight, f.err = nil, err
	close(f.done)
}

package bucket

import (
	"context"
	"sync"
	"time"

	"symbolon/internal/fault"
)

const (
	renewalTime  = 30 * time.Second // timeout of a renewal
	renewalPause = 10 * time.Second // delay after a failed renewal while the old value is valid
)

// Renewed is a value that expires, such as credentials, and is renewed before:
// by a single flight for all callers, without delay for callers as long as the
// old value is valid. It is safe for concurrent use.
type Renewed[T any] struct {
	Fetch func(ctx context.Context) (value T, expires time.Time, err error)
	Now   func() time.Time
	Early time.Duration // time before expiry at which renewal starts

	mu      sync.Mutex
	value   T
	expires time.Time // of value; zero: value is unset
	pause   time.Time // no renewal of a valid value before this
	flight  *renewal
}

type renewal struct {
	done chan struct{}
	err  error
}

// Get returns a valid value.
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

// Drop discards the value if same returns true for it: it is not valid any
// longer.
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
		err = fault.New(fault.Denied, "", "the new credentials have already expired")
	}
	if err == nil {
		r.value, r.expires = value, expires
	}
	r.pause = r.Now().Add(renewalPause)
	r.flight, f.err = nil, err
	close(f.done)
}

package numbered

import (
	"context"
	"sync"
	"time"
)

const (
	lifetime     = 5 * time.Second  // of a value in memory
	firstTimeout = 10 * time.Second // with a bucket
	timeout      = 3 * time.Second  // if the value was read before
	maxLate      = 15 * time.Second // since the last try, for a value that is read in the background
)

// A Cached is a value of a bucket in memory. It is safe for concurrent use.
type Cached[T any] struct {
	Read   func(ctx context.Context, was T) (T, error) // was is the value of the last read
	Now    func() time.Time
	Failed func(error) // logs that Get could not read

	reading sync.Mutex // of the one caller that reads
	mu      sync.Mutex
	last    reading[T]
}

// reading is a read of a value.
type reading[T any] struct {
	value   T
	isRead  bool
	tried   time.Time // zero: never, or the value has expired
	failure error     // of the first read
	isLate  bool      // the last try to read it again failed
	expired int       // how often the value has
}

// Get returns the value. It reads the value at most every five seconds, unless it has
// expired. If it cannot be read again, or another caller is reading it, Get returns the
// value of the last read; if there was none, an error. For 15 seconds after a read that
// failed, the next one is in the background, so that no more callers wait for the bucket.
func (c *Cached[T]) Get(ctx context.Context) (T, error) {
	was := c.current()
	switch {
	case c.isFresh(was):
		return was.value, was.failure
	case was.isLate && !was.tried.IsZero() && c.Now().Sub(was.tried) < maxLate:
		if c.reading.TryLock() {
			go c.read(ctx, c.current())
		}
		return was.value, nil
	case !was.isRead, was.tried.IsZero():
		c.reading.Lock()
	case !c.reading.TryLock():
		return was.value, nil
	}
	if was = c.current(); c.isFresh(was) {
		c.reading.Unlock()
		return was.value, was.failure
	}
	c.read(ctx, was)
	now := c.current()
	return now.value, now.failure
}

// read reads the value, and notes a failure. It releases the lock of the reader.
func (c *Cached[T]) read(ctx context.Context, was reading[T]) {
	defer c.reading.Unlock()
	wait := firstTimeout
	if was.isRead {
		wait = timeout
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), wait) // other callers use the result too
	defer cancel()
	if _, err := c.renew(ctx, was); err != nil {
		c.Failed(err)
		was.tried, was.isLate = c.Now(), was.isRead
		if !was.isRead {
			was.failure = err
		}
		c.set(was)
	}
}

// Renew reads the value now.
func (c *Cached[T]) Renew(ctx context.Context) (T, error) {
	c.reading.Lock()
	defer c.reading.Unlock()
	return c.renew(ctx, c.current())
}

func (c *Cached[T]) renew(ctx context.Context, was reading[T]) (T, error) {
	value, err := c.Read(ctx, was.value)
	if err == nil {
		c.set(reading[T]{value: value, isRead: true, tried: c.Now(), expired: was.expired})
	}
	return value, err
}

// set sets the last read. A value that has expired meanwhile is read again.
func (c *Cached[T]) set(now reading[T]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last.expired != now.expired {
		now.expired, now.tried = c.last.expired, time.Time{}
	}
	c.last = now
}

// Expire makes the next Get read the value.
func (c *Cached[T]) Expire() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last.tried = time.Time{}
	c.last.expired++
}

func (c *Cached[T]) current() reading[T] {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last
}

func (c *Cached[T]) isFresh(r reading[T]) bool {
	return !r.tried.IsZero() && c.Now().Sub(r.tried) < lifetime
}

package transfer

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

// Backoff bounds the waits before retries.
type Backoff struct {
	First    time.Duration // the longest wait before the second try; doubled before each further one
	Max      time.Duration // the longest wait
	MaxAfter time.Duration // the longest wait that a server may ask for
}

// Wait waits before a retry, after so many tries, and reports whether to retry. The wait
// is random, so that the clients of a server that recovers do not all return at once, but
// not shorter than after, which the server requested. Wait returns false at once if the
// server asks for more than MaxAfter or ctx ends before, and as soon as ctx is canceled.
func (b Backoff) Wait(ctx context.Context, tries int, after time.Duration) bool {
	wait := max(after, rand.N(min(b.First<<min(tries-1, 10), b.Max))+1)
	if end, ok := ctx.Deadline(); after > b.MaxAfter || ok && time.Until(end) < wait {
		return false
	}
	select {
	case <-time.After(wait):
		return true
	case <-ctx.Done():
		return false
	}
}

// RetryAfter returns the wait that a header Retry-After asks for, as seconds or
// as a date: zero if there is none.
func RetryAfter(header string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(header, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if date, err := http.ParseTime(header); err == nil {
		return max(date.Sub(now), 0)
	}
	return 0
}

// IsTransient reports whether a request that was answered with a status may succeed later.
func IsTransient(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway,
		http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

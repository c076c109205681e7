// Package waittest is how tests wait. The first choice is an event: a channel, the
// end of a goroutine. Then testing/synctest, whose clock costs nothing: Listen has
// connections for it. Until and Becomes are for conditions without an event, as in
// other processes and the kernel. Their bound only ends a test that hangs, so it is
// generous and proves nothing about speed. Delay is for peers that are slow.
//
// Tests call time.Sleep nowhere else, except with the clock of testing/synctest:
// TestTestsDoNotSleep in internal/arch checks that. All functions but Until may be
// called by any goroutine.
package waittest

import (
	"context"
	"testing"
	"time"
)

const bound = time.Minute

// Until waits until a condition is true, and fails the test if it remains false for a
// minute. The message ends with state, which is formatted then: a log, say.
func Until(t testing.TB, what string, condition func() bool, state ...any) {
	t.Helper()
	if !Becomes(condition) {
		t.Fatal(append([]any{"not within a minute: " + what}, state...)...)
	}
}

// Becomes waits until a condition is true, and reports false if it remains false for
// a minute.
func Becomes(condition func() bool) bool {
	start := time.Now()
	for !condition() {
		waited := time.Since(start)
		if waited > bound {
			return false
		}
		// Looks may cost the process that is waited for something.
		time.Sleep(min(max(waited/20, time.Millisecond), 50*time.Millisecond))
	}
	return true
}

// Settle waits until a value has not changed for so long, and fails the test if it
// changes for a minute. It is for an end that cannot be seen, as of the work of a
// process after its answer.
func Settle[T comparable](t testing.TB, what string, long time.Duration, value func() T) {
	t.Helper()
	last, since := value(), time.Now()
	Until(t, what, func() bool {
		if now := value(); now != last {
			last, since = now, time.Now()
		}
		return time.Since(since) >= long
	})
}

// Delay lets a simulated peer be slow: it waits for d, or until ctx is done.
func Delay(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

package transfer

import (
	"sync"
	"time"
)

// period is the length of the periods in which failures are counted.
const period = 5 * time.Second

// Breaker counts the failures of a service and reports when there are too many
// of them, so that its user opens the circuit: it stops using the service for a
// while.
type Breaker struct {
	Limit int // failures that open the circuit

	// Window is how long a failure counts. A success makes up for the last one,
	// so a service that fails for some requests stays in use for the others. With
	// zero only failures in a row count.
	Window time.Duration

	mu       sync.Mutex
	failures []failures // oldest first
}

// failures are the failures of one period.
type failures struct {
	start time.Time
	n     int
}

// Fail counts a failure and reports whether it opens the circuit. Then the count
// begins again.
func (b *Breaker) Fail(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.Window > 0 && len(b.failures) > 0 && now.Sub(b.failures[0].start) >= b.Window {
		b.failures = b.failures[1:]
	}
	if last := len(b.failures) - 1; last >= 0 && now.Sub(b.failures[last].start) < period {
		b.failures[last].n++
	} else {
		b.failures = append(b.failures, failures{now, 1})
	}
	total := 0
	for _, f := range b.failures {
		total += f.n
	}
	if total < b.Limit {
		return false
	}
	b.failures = nil
	return true
}

// Succeed counts a success.
func (b *Breaker) Succeed() {
	b.mu.Lock()
	defer b.mu.Unlock()
	last := len(b.failures) - 1
	switch {
	case last < 0:
	case b.Window == 0:
		b.failures = nil
	default:
		if b.failures[last].n--; b.failures[last].n == 0 {
			b.failures = b.failures[:last]
		}
	}
}

// IsIdle reports whether no failure counts any more.
func (b *Breaker) IsIdle(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	last := len(b.failures) - 1
	return last < 0 || b.Window > 0 && now.Sub(b.failures[last].start) >= b.Window
}

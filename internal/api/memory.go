package api

import (
	"context"
	"net/http"
	"time"

	"symbolon/internal/metric"
)

// memoryTimeout is the time that a large request waits for memory.
const memoryTimeout = 20 * time.Second

// Reserve reserves n bytes for a request, besides those of the decoder of its body, if it
// has fewer. Handlers that learn the size while they read call it. It may wait. The error
// is a *Refusal.
func Reserve(r *http.Request, n int64) error {
	b, ok := r.Body.(*body)
	if !ok || b.memory.load == nil { // of an exempt route
		return nil
	}
	if n += b.decoderMemory(); n <= b.memory.n {
		return nil
	}
	if b.memory.isSecond {
		// A request that waits is not counted with the memory of its first
		// reservation, so only one of them may wait at a time.
		if !b.memory.load.growing.CompareAndSwap(false, true) {
			return errTooMany()
		}
		defer b.memory.load.growing.Store(false)
	}
	if refused := b.reserve(r, n); refused != nil {
		return refused
	}
	b.memory.isSecond = true
	return nil
}

func errTooMany() *Refusal {
	metric.Refused.Add(1, "memory")
	return refuse(http.StatusServiceUnavailable, "too many large requests at the same time", false, nil)
}

// reserve replaces the reservation of a request by one of n bytes. While it waits,
// the request has none; otherwise two requests could wait for each other.
func (b *body) reserve(r *http.Request, n int64) *Refusal {
	m := &b.memory
	m.release()
	m.n, m.release = 0, func() {}
	start := m.load.now()
	release, refused := m.load.acquire(r, n)
	if refused != nil {
		return refused
	}
	m.n, m.release = n, release
	b.sent.start = b.sent.start.Add(m.load.now().Sub(start)) // the client was not the cause
	return nil
}

// acquire acquires n bytes for a request. It may wait for them.
func (l *load) acquire(r *http.Request, n int64) (release func(), refused *Refusal) {
	ctx, cancel := context.WithTimeout(r.Context(), memoryTimeout)
	defer cancel()
	timer := time.AfterFunc(time.Millisecond, l.setDeadlines) // it waits
	defer timer.Stop()
	budget := l.large
	if n <= l.mediumLimit {
		budget = l.medium
	}
	release, err := budget.Acquire(ctx, n)
	if err != nil {
		return nil, errTooMany()
	}
	return release, nil
}

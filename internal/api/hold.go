package api

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/metric"
)

const (
	// memoryPatience is how long a large request waits for memory.
	memoryPatience = 20 * time.Second
	// hurryStep bytes each hurryTime is what is asked of a client that holds what
	// others want.
	hurryStep = 64 << 10
	hurryTime = 1500 * time.Millisecond
	// hurryOn is how long the hurry lasts after somebody was turned away.
	hurryOn = 5 * time.Second
)

// holds are the requests that are worked on: each holds a place, and a large
// one memory. When somebody else wants some, their clients must hurry, or they
// lose it.
type holds struct {
	// Two budgets, so that some giants do not keep all others waiting.
	medium, large *bin.Budget
	border        int64 // the largest need that is a medium one
	now           func() time.Time
	growing       atomic.Bool // a request waits for more than it has claimed before

	mu    sync.Mutex
	all   map[*hold]struct{}
	until time.Time // those who were turned away want places until then
}

// hold is one request, and how its client gets on.
type hold struct {
	of      *holds
	control *http.ResponseController

	mu    sync.Mutex
	phase phase
	since time.Time // when the phase began, or the last step was done
	left  time.Time // when the client was waited for last
	n     int64     // bytes of the next step
}

// phase is what a request waits for.
type phase uint8

const (
	working   phase = iota // nothing from the client
	receiving              // the client sends
	sending                // the client reads
)

// join enters a request.
func (h *holds) join(w *writer) *hold {
	one := &hold{of: h, control: w.control}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.all == nil {
		h.all = map[*hold]struct{}{}
	}
	h.all[one] = struct{}{}
	return one
}

func (h *holds) leave(one *hold) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.all, one)
}

// take gets n bytes for a request, and waits for them if it must.
func (h *holds) take(r *http.Request, n int64) (release func(), refused *BodyError) {
	ctx, cancel := context.WithTimeout(r.Context(), memoryPatience)
	defer cancel()
	timer := time.AfterFunc(time.Millisecond, h.press) // it has to wait
	defer timer.Stop()
	memory := h.large
	if n <= h.border {
		memory = h.medium
	}
	release, err := memory.Acquire(ctx, n)
	if err != nil {
		return nil, errTooMany()
	}
	return release, nil
}

// memory is what a request has of a budget.
type memory struct {
	of      *holds
	n       int64
	claimed bool // it may be taken up by now
	release func()
}

// Claim has a request hold n bytes from now on, besides what unpacks its body, if it
// holds less: a handler calls it that finds out while it reads. It waits for them if
// it must. The error is a *BodyError.
func Claim(r *http.Request, n int64) error {
	b, ok := r.Body.(*body)
	if !ok || b.memory.of == nil { // an exempt route
		return nil
	}
	if n += b.decoding(); n <= b.memory.n {
		return nil
	}
	if b.memory.claimed {
		// While it waits it is not counted that it has what was claimed before, so one
		// at a time may.
		if !b.memory.of.growing.CompareAndSwap(false, true) {
			return errTooMany()
		}
		defer b.memory.of.growing.Store(false)
	}
	if refused := b.claim(r, n); refused != nil {
		return refused
	}
	b.memory.claimed = true
	return nil
}

func errTooMany() *BodyError {
	metric.Refused.Add(1, "memory")
	return &BodyError{Status: http.StatusServiceUnavailable, Title: "503 Service Unavailable: too many large requests at the same time"}
}

// claim gets n bytes in place of what the request holds. While it waits it holds
// nothing, or two would wait for each other.
func (b *body) claim(r *http.Request, n int64) *BodyError {
	m := &b.memory
	m.release()
	m.n, m.release = 0, func() {}
	start := m.of.now()
	release, refused := m.of.take(r, n)
	if refused != nil {
		return refused
	}
	m.n, m.release = n, release
	b.sent.start = b.sent.start.Add(m.of.now().Sub(start)) // the client did not make us wait
	return nil
}

// full says that somebody was turned away.
func (h *holds) full() {
	h.mu.Lock()
	h.until = h.now().Add(hurryOn)
	h.mu.Unlock()
	h.press()
}

// wanted tells whether somebody wants what is held.
func (h *holds) wanted(now time.Time) bool {
	if h.medium.HasWaiters() || h.large.HasWaiters() {
		return true
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return now.Before(h.until)
}

// press hurries the clients that something is waited for.
func (h *holds) press() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for one := range h.all {
		one.press()
	}
}

func (h *hold) press() {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch h.phase {
	case receiving:
		_ = h.control.SetReadDeadline(h.since.Add(hurryTime))
	case sending:
		_ = h.control.SetWriteDeadline(h.since.Add(hurryTime))
	}
}

// wait begins to wait for the client, and set sets the deadline of it: end, or
// the time of the next step if others want what is held. Time that was not
// spent waiting for the client does not count.
func (h *hold) wait(p phase, end time.Time, set func(time.Time) error) {
	if h == nil {
		_ = set(end) // what is no connection cannot stall
		return
	}
	now := h.of.now()
	wanted := h.of.wanted(now)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.phase == p {
		h.since = h.since.Add(now.Sub(h.left))
	} else {
		h.phase, h.since, h.n = p, now, 0
	}
	h.left = now
	if step := h.since.Add(hurryTime); wanted && step.Before(end) {
		end = step
	}
	_ = set(end)
}

// passed counts bytes that came or went.
func (h *hold) passed(n int) {
	if h == nil {
		return
	}
	now := h.of.now()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.left = now
	if h.n += int64(n); h.n >= hurryStep {
		h.since, h.n = now, 0
	}
}

// done ends receiving: what is still read of the connection is not the body.
func (h *hold) done() {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.phase == receiving {
		h.phase = working
	}
}

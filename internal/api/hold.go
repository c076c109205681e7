package api

import (
	"context"
	"net/http"
	"sync"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/metric"
)

const (
	// memoryPatience is how long a large request waits for memory.
	memoryPatience = 20 * time.Second
	// hurryStep bytes each hurryTime is what is asked of a client whose large
	// request holds memory that others wait for.
	hurryStep = 64 << 10
	hurryTime = 1500 * time.Millisecond
)

// holds are the large requests that hold memory. When one has to wait, the
// clients of the others must hurry, or they lose it.
type holds struct {
	memory *bin.Budget
	now    func() time.Time

	mu  sync.Mutex
	all map[*hold]struct{}
}

// hold is the memory of one large request, and how its client gets on. A nil
// one hurries nobody.
type hold struct {
	of      *holds
	control *http.ResponseController

	mu    sync.Mutex
	phase phase
	since time.Time // when the phase began, or the last step was done
	n     int64     // bytes of the next step
}

// phase is what a request waits for.
type phase uint8

const (
	receiving phase = iota // the client sends
	working                // nothing from the client
	sending                // the client reads
)

// take gets n bytes, and waits for them if it must.
func (h *holds) take(r *http.Request, w *writer, n int64) (*hold, func(), *BodyError) {
	ctx, cancel := context.WithTimeout(r.Context(), memoryPatience)
	defer cancel()
	timer := time.AfterFunc(time.Millisecond, h.press) // it has to wait
	release, err := h.memory.Acquire(ctx, n)
	timer.Stop()
	if err != nil {
		metric.Refused.Add(1, "memory")
		return nil, nil, &BodyError{Status: http.StatusServiceUnavailable, Title: "503 Service Unavailable: too many large requests at the same time"}
	}
	mine := &hold{of: h, control: w.control, since: h.now()}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.all == nil {
		h.all = map[*hold]struct{}{}
	}
	h.all[mine] = struct{}{}
	return mine, func() {
		h.mu.Lock()
		delete(h.all, mine)
		h.mu.Unlock()
		release()
	}, nil
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

// enter begins a phase, unless it is in it already, and set sets its deadline:
// end, or the time of the next step if others wait.
func (h *hold) enter(p phase, end time.Time, set func(time.Time) error) {
	if h == nil {
		_ = set(end) // what is no connection cannot stall
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.phase != p {
		h.phase, h.since, h.n = p, h.of.now(), 0
	}
	if h.of.memory.Wanted() {
		if step := h.since.Add(hurryTime); step.Before(end) {
			end = step
		}
	}
	_ = set(end)
}

// passed counts bytes that came or went.
func (h *hold) passed(n int) {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.n += int64(n); h.n >= hurryStep {
		h.since, h.n = h.of.now(), 0
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

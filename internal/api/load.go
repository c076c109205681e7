package api

import (
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"symbolon/internal/bin"
)

const (
	// paceBytes in each paceTime is the pace that clients must keep under pressure:
	// 43 KiB a second, which a mobile connection has.
	paceBytes = 64 << 10
	paceTime  = 1500 * time.Millisecond
	// pressureTime is how long the pressure lasts after a request was refused.
	pressureTime = 5 * time.Second
)

// load has the requests that are served. Each has a place, and a large one
// memory. Under pressure, when other requests wait for these, clients that do not
// keep the pace lose their connection.
type load struct {
	// Two budgets, so that a few very large requests do not stop all others.
	medium, large *bin.Budget
	mediumLimit   int64 // the largest reservation from medium
	now           func() time.Time
	growing       atomic.Bool // a request waits for its second reservation

	mu    sync.Mutex
	all   map[*served]struct{}
	until time.Time // the end of the pressure because of refused requests
}

// served is a request that is served, and the pace of its client.
type served struct {
	load    *load
	control *http.ResponseController

	mu    sync.Mutex
	phase phase
	since time.Time // the beginning of the phase, or of the present step of the pace
	left  time.Time // the time when the last wait for the client ended
	n     int64     // bytes of the present step
}

// phase is the event that a request waits for.
type phase uint8

const (
	working   phase = iota // not for the client
	receiving              // the client sends
	sending                // the client reads
)

func (l *load) add(control *http.ResponseController) *served {
	s := &served{load: l, control: control}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all == nil {
		l.all = map[*served]struct{}{}
	}
	l.all[s] = struct{}{}
	return s
}

func (l *load) remove(s *served) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.all, s)
}

// reservation is the memory of a request.
type reservation struct {
	load     *load
	n        int64
	isSecond bool // by Reserve
	release  func()
}

// refused starts the pressure after a request was refused.
func (l *load) refused() {
	l.mu.Lock()
	l.until = l.now().Add(pressureTime)
	l.mu.Unlock()
	l.setDeadlines()
}

// isUnderPressure reports whether requests wait for memory or were refused.
func (l *load) isUnderPressure(now time.Time) bool {
	if l.medium.HasWaiters() || l.large.HasWaiters() {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return now.Before(l.until)
}

// setDeadlines sets the deadlines of the pace for clients that requests wait for.
func (l *load) setDeadlines() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for s := range l.all {
		s.setDeadline()
	}
}

func (s *served) setDeadline() {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch s.phase {
	case receiving:
		_ = s.control.SetReadDeadline(s.since.Add(paceTime))
	case sending:
		_ = s.control.SetWriteDeadline(s.since.Add(paceTime))
	}
}

// wait begins a wait for the client. It calls set with the deadline: end, or that
// of the pace under pressure. Time in which the request did not wait for the
// client does not count.
func (s *served) wait(p phase, end time.Time, set func(time.Time) error) {
	if s == nil {
		_ = set(end) // not a connection: it cannot stall
		return
	}
	now := s.load.now()
	isUnderPressure := s.load.isUnderPressure(now)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.phase == p {
		s.since = s.since.Add(now.Sub(s.left))
	} else {
		s.phase, s.since, s.n = p, now, 0
	}
	s.left = now
	if step := s.since.Add(paceTime); isUnderPressure && step.Before(end) {
		end = step
	}
	_ = set(end)
}

// count counts bytes that were received or sent.
func (s *served) count(n int) {
	if s == nil {
		return
	}
	now := s.load.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left = now
	if s.n += int64(n); s.n >= paceBytes {
		s.since, s.n = now, 0
	}
}

// endReceiving ends the phase: later reads of the connection are not of the body.
func (s *served) endReceiving() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.phase == receiving {
		s.phase = working
	}
}

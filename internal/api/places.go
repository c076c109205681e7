package api

import (
	"context"
	"net/http"
	"sync"
	"time"

	"symbolon/internal/metric"
)

// places limits the requests that are served, in all and of each client. A
// negative limit does not count.
type places struct {
	max, perClient int

	mu      sync.Mutex
	n       int
	clients map[string]int // by address; empty if perClient is not below max
	freed   chan struct{}  // closed when a place is free; nil: no request waits
}

// full is why there is no place for a request.
type full string

const (
	isBusy    full = "busy"
	hasEnough full = "client"
)

// refuse returns the answer for a request without a place.
func (f full) refuse() *Refusal {
	metric.Refused.Add(1, string(f))
	if f == isBusy {
		return refuse(http.StatusServiceUnavailable, "too many requests at the same time", false, nil)
	}
	return refuse(http.StatusTooManyRequests, "too many requests of yours at the same time", false, nil)
}

// acquire takes a place for a request of a client. Without one release is nil.
func (p *places) acquire(client string) (release func(), why full) {
	if p.perClient < 0 || p.max > 0 && p.perClient >= p.max {
		client = "" // not counted
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.max > 0 && p.n >= p.max:
		return nil, isBusy
	case client != "" && p.clients[client] >= p.perClient:
		return nil, hasEnough
	}
	p.n++
	if client != "" {
		p.clients[client]++
	}
	return func() { p.release(client) }, ""
}

// wait takes a place as soon as there is one, within a time.
func (p *places) wait(ctx context.Context, client string, limit time.Duration) (release func(), why full) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for {
		p.mu.Lock()
		if p.freed == nil {
			p.freed = make(chan struct{})
		}
		freed := p.freed
		p.mu.Unlock()
		if release, why = p.acquire(client); release != nil {
			return release, ""
		}
		select {
		case <-freed:
		case <-timer.C:
			return nil, why
		case <-ctx.Done():
			return nil, why
		}
	}
}

func (p *places) release(client string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.freed != nil {
		close(p.freed)
		p.freed = nil
	}
	p.n--
	if client == "" {
		return
	}
	if p.clients[client]--; p.clients[client] == 0 {
		delete(p.clients, client)
	}
}

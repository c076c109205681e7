package api

import (
	"net/http"
	"sync"

	"symbolon/internal/metric"
)

// places limits the requests that are served, in all and of each client. A
// negative limit does not count.
type places struct {
	max, perClient int

	mu      sync.Mutex
	n       int
	clients map[string]int // by address; empty if perClient is not below max
}

// acquire takes a place for a request of a client, or returns the reason to
// refuse it.
func (p *places) acquire(client string) (release func(), refused *BodyError) {
	if p.perClient < 0 || p.max > 0 && p.perClient >= p.max {
		client = "" // not counted
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.max > 0 && p.n >= p.max:
		metric.Refused.Add(1, "busy")
		return nil, refuse(http.StatusServiceUnavailable, "too many requests at the same time", false, nil)
	case client != "" && p.clients[client] >= p.perClient:
		metric.Refused.Add(1, "client")
		return nil, refuse(http.StatusTooManyRequests, "too many requests of yours at the same time", false, nil)
	}
	p.n++
	if client != "" {
		p.clients[client]++
	}
	return func() { p.release(client) }, nil
}

func (p *places) release(client string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.n--
	if client == "" {
		return
	}
	if p.clients[client]--; p.clients[client] == 0 {
		delete(p.clients, client)
	}
}

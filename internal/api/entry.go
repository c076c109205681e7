package api

import (
	"net/http"
	"sync"

	"symbolon/internal/metric"
)

// door counts the requests that are worked on, in all and of each client. A
// negative bound is none.
type door struct {
	max, each int

	mu      sync.Mutex
	in      int
	clients map[string]int // by address; none if each is not below max
}

// enter lets a request of a client in, or says why not.
func (d *door) enter(client string) (leave func(), refused *BodyError) {
	if d.each < 0 || d.max > 0 && d.each >= d.max {
		client = "" // no bound of its own
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.max > 0 && d.in >= d.max:
		metric.Refused.Add(1, "busy")
		return nil, &BodyError{Status: http.StatusServiceUnavailable, Title: "503 Service Unavailable: too many requests at the same time"}
	case client != "" && d.clients[client] >= d.each:
		metric.Refused.Add(1, "client")
		return nil, &BodyError{Status: http.StatusTooManyRequests, Title: "429 Too Many Requests: too many requests of yours at the same time"}
	}
	d.in++
	if client != "" {
		d.clients[client]++
	}
	return func() { d.leave(client) }, nil
}

func (d *door) leave(client string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.in--
	if client == "" {
		return
	}
	if d.clients[client]--; d.clients[client] == 0 {
		delete(d.clients, client)
	}
}

package web

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	bucketSpan = 5 * time.Second // failures are counted in buckets of this length
	maxHosts   = 10_000          // that are kept in mind
)

// denyList keeps hosts that fail again and again from being asked. A good answer
// makes up for one failure, so that a host which fails only for some files goes
// on being asked for the others. It is safe for concurrent use.
type denyList struct {
	threshold int // no list when negative
	window    time.Duration
	block     time.Duration
	never     []string // hosts that are always asked
	now       func() time.Time

	mu    sync.Mutex
	hosts map[string]*health
}

// health is how a host did lately.
type health struct {
	failures []bucketCount // oldest first
	until    time.Time     // blocked until then
	why      string        // the failure that led to the block
}

type bucketCount struct {
	start time.Time
	n     int
}

// blocked says why host is not asked now; it is empty if host may be asked.
func (d *denyList) blocked(host string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	h := d.hosts[host]
	if h == nil || !h.until.After(d.now()) {
		return ""
	}
	return fmt.Sprintf("host %s is not asked before %s, after %d failures within %v; the last was: %s",
		host, h.until.UTC().Format(time.RFC3339), d.threshold, d.window, h.why)
}

// failed counts a failure of host and tells whether the host is blocked by it.
func (d *denyList) failed(host, why string) bool {
	if d.threshold < 0 || d.exempt(host) {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.now()
	h := d.hosts[host]
	if h == nil {
		if len(d.hosts) >= maxHosts {
			d.tidy(now)
		}
		if len(d.hosts) >= maxHosts {
			return false
		}
		h = &health{}
		d.hosts[host] = h
	}
	if h.count(now, d.window) < d.threshold {
		return false
	}
	*h = health{until: now.Add(d.block), why: why}
	return true
}

// exempt tells whether a host is never left alone.
func (d *denyList) exempt(host string) bool {
	name := (&url.URL{Host: host}).Hostname()
	return slices.ContainsFunc(d.never, func(n string) bool { return strings.EqualFold(n, name) || strings.EqualFold(n, host) })
}

// answered takes a failure of host back, the last one.
func (d *denyList) answered(host string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	h := d.hosts[host]
	if h == nil || len(h.failures) == 0 {
		return
	}
	last := len(h.failures) - 1
	if h.failures[last].n--; h.failures[last].n == 0 {
		h.failures = h.failures[:last]
	}
}

// count adds a failure and is the number of those within the window.
func (h *health) count(now time.Time, window time.Duration) int {
	for len(h.failures) > 0 && now.Sub(h.failures[0].start) >= window {
		h.failures = h.failures[1:]
	}
	if last := len(h.failures) - 1; last >= 0 && now.Sub(h.failures[last].start) < bucketSpan {
		h.failures[last].n++
	} else {
		h.failures = append(h.failures, bucketCount{now, 1})
	}
	total := 0
	for _, b := range h.failures {
		total += b.n
	}
	return total
}

// tidy forgets hosts that are neither blocked nor failed lately.
func (d *denyList) tidy(now time.Time) {
	for host, h := range d.hosts {
		last := len(h.failures) - 1
		if !h.until.After(now) && (last < 0 || now.Sub(h.failures[last].start) >= d.window) {
			delete(d.hosts, host)
		}
	}
}

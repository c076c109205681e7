package web

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"symbolon/internal/fault"
	"symbolon/internal/transfer"
)

// maxHosts is the largest number of hosts whose failures are counted.
const maxHosts = 10_000

// denyList blocks requests to hosts that fail again and again. It is safe for
// concurrent use.
type denyList struct {
	threshold int // negative: no host is blocked
	window    time.Duration
	block     time.Duration
	never     []string // hosts that are never blocked
	now       func() time.Time

	mu    sync.Mutex
	hosts map[string]*health
}

// health is the state of a host.
type health struct {
	breaker transfer.Breaker
	until   time.Time // when the block ends
	why     string    // the failure that led to the block
}

// blocked returns the reason why host is blocked; it is empty if host is not.
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

// Block is a host that is blocked for a while.
type Block struct {
	Until time.Time
	Why   string // the failure that led to it
}

// Blocked returns the hosts of configured sources that are blocked now.
func (c *Client) Blocked() map[string]Block {
	d := c.deny
	d.mu.Lock()
	defer d.mu.Unlock()
	list := map[string]Block{}
	for host, h := range d.hosts {
		if h.until.After(d.now()) {
			list[host] = Block{h.until, h.why}
		}
	}
	return list
}

// failed counts a failure of host and reports whether that blocks the host.
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
		h = &health{breaker: transfer.Breaker{Limit: d.threshold, Window: d.window}}
		d.hosts[host] = h
	}
	if !h.breaker.Fail(now) {
		return false
	}
	h.until, h.why = now.Add(d.block), why
	return true
}

// count counts the outcome of a request to a host; nil is a good answer. An answer that
// there is no such file, or that it is denied, is good, too.
func (c *Client) count(d *denyList, host string, failed *failure) {
	if failed == nil || failed.Kind == fault.NotFound || failed.Kind == fault.Denied {
		d.answered(host)
	} else if failed.down && d.failed(host, failed.Kind.String()+": "+failed.Detail) {
		c.log.Warn("symbol server failing, backing off", "host", host, "for", c.cfg.DenyListBlockTime, "error", failed.Error)
	}
}

// exempt reports whether a host is never blocked.
func (d *denyList) exempt(host string) bool {
	name := (&url.URL{Host: host}).Hostname()
	return slices.ContainsFunc(d.never, func(n string) bool { return strings.EqualFold(n, name) || strings.EqualFold(n, host) })
}

// answered counts a good answer of host.
func (d *denyList) answered(host string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if h := d.hosts[host]; h != nil {
		h.breaker.Succeed()
	}
}

// tidy removes hosts that are not blocked and have not failed recently.
func (d *denyList) tidy(now time.Time) {
	for host, h := range d.hosts {
		if !h.until.After(now) && h.breaker.IsIdle(now) {
			delete(d.hosts, host)
		}
	}
}

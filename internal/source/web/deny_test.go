package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"symbolon/internal/fault"
	"symbolon/internal/metric"
	"symbolon/internal/source"
	"symbolon/internal/source/web"
)

// clock is one that only moves when told to.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

func newClock() *clock { return &clock{t: time.Date(2031, 2, 3, 4, 5, 0, 0, time.UTC)} }

func TestFailingHostIsLeftAlone(t *testing.T) {
	var status, requests atomic.Int64
	server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		w.WriteHeader(int(status.Load()))
	})
	time := newClock()
	client, log := newLoggedClient(t, web.Config{MaxTries: 1, DenyListThreshold: 3, ConnectToReservedIPs: true}, time.now)
	s := newSource(t, client, config(server.URL))
	ask := func(answer int, kind fault.Kind, words string) {
		t.Helper()
		status.Store(int64(answer))
		_, _, err := get(t, s)
		wantError(t, err, kind, words)
	}
	for range 5 { // none of these says that the host is broken
		ask(404, fault.NotFound, "404")
		ask(403, fault.Denied, "403")
	}
	ask(500, fault.Transport, "500")
	time.pass(30e9)
	ask(500, fault.Transport, "500")
	time.pass(31e9) // the first failure is out of the window
	ask(500, fault.Transport, "500")
	time.pass(1e9)
	before := requests.Load()
	ask(502, fault.Transport, "502")
	host := strings.TrimPrefix(server.URL, "http://")
	ask(200, fault.Transport, "host "+host+" is not asked before 2031-02-03T04:07:02Z, after 3 failures within 1m0s; the last was: transport: 502 Bad Gateway")
	if n := requests.Load() - before; n != 1 {
		t.Errorf("%d requests, want 1 before the block and none after it", n)
	}
	if !strings.Contains(log.String(), "backing off") || !strings.Contains(log.String(), host) {
		t.Errorf("log %s", log)
	}
	until := time.now().Add(60e9)
	if b := client.Blocked(); len(b) != 1 || !b[host].Until.Equal(until) || b[host].Why != "transport: 502 Bad Gateway" {
		t.Errorf("the blocked hosts are %+v", b)
	}
	status.Store(200)
	if _, _, err := get(t, newGuarded(t, client, config(server.URL))); err != nil {
		t.Errorf("the block of a configured source stops others: %v", err)
	}
	time.pass(60e9)
	if b := client.Blocked(); len(b) != 0 {
		t.Errorf("after the block it is still reported: %+v", b)
	}
	if _, _, err := get(t, s); err != nil {
		t.Errorf("still blocked: %v", err)
	}
	ask(500, fault.Transport, "500") // it begins again
}

func TestHostThatFailsForSomeFilesIsAskedForOthers(t *testing.T) {
	var status atomic.Int64
	server := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(int(status.Load())) })
	client, _ := newLoggedClient(t, web.Config{MaxTries: 1, DenyListThreshold: 3}, newClock().now)
	s := newSource(t, client, config(server.URL))
	for i := range 30 {
		status.Store([]int64{500, 404, 500, 200, 500, 403}[i%6])
		if _, _, err := get(t, s); err != nil && strings.Contains(err.Error(), "is not asked before") {
			t.Fatalf("request %d: %v", i, err)
		}
	}
	status.Store(500)
	for range 3 {
		_, _, _ = get(t, s)
	}
	_, _, err := get(t, s)
	wantError(t, err, fault.Transport, "is not asked before")
}

func TestSomeHostsAreAlwaysAsked(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) })
	for never, blocked := range map[string]bool{
		"127.0.0.1": false, strings.TrimPrefix(server.URL, "http://"): false, "127.0.0.1:1": true, "127.0.0": true,
	} {
		s := newSource(t, newClient(t, web.Config{MaxTries: 1, DenyListThreshold: 2, DenyListNeverBlock: []string{"other", never}}), config(server.URL))
		var err error
		for range 4 {
			_, _, err = get(t, s)
		}
		if strings.Contains(err.Error(), "is not asked before") != blocked {
			t.Errorf("never %s: %v", never, err)
		}
	}
}

func TestBlockHoldsForRedirectsToTheHost(t *testing.T) {
	broken := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) })
	front := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, broken.URL+"/x?signature=s", http.StatusFound)
	})
	client, _ := newLoggedClient(t, web.Config{MaxTries: 1, DenyListThreshold: 2}, newClock().now)
	s := newSource(t, client, config(front.URL))
	for _, words := range []string{"500", "500", "host " + strings.TrimPrefix(broken.URL, "http://") + " is not asked before"} {
		_, _, err := get(t, s)
		wantError(t, err, fault.Transport, words)
	}
}

func TestDenyListCanBeTurnedOff(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) })
	s := newSource(t, newClient(t, web.Config{MaxTries: 1, DenyListThreshold: -1}), config(server.URL))
	for range 30 {
		_, _, err := get(t, s)
		wantError(t, err, fault.Transport, "500 Internal Server Error")
	}
}

func TestMemoryForFailingHostsIsBounded(t *testing.T) {
	time := newClock()
	client, _ := newLoggedClient(t, web.Config{DenyListThreshold: 2}, time.now)
	for i := range 10_000 {
		client.Fail(fmt.Sprint("host", i))
	}
	if client.Fail("late"); client.Fail("late") {
		t.Error("a host is remembered that there was no room for")
	}
	time.pass(61e9) // and now there is
	if client.Fail("late"); !client.Fail("late") {
		t.Error("hosts that failed long ago are not forgotten")
	}
}

func TestDownloadsAreCounted(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/yes") {
			fmt.Fprint(w, "text")
			return
		}
		w.WriteHeader(404)
	})
	client := newClient(t, web.Config{ConnectToReservedIPs: true})
	for _, guarded := range []bool{false, true} {
		for _, at := range []string{"/yes", "/no"} {
			cfg := config(server.URL + at)
			cfg.ID = "counted"
			label, s := "counted", source.Source(nil)
			if guarded {
				label, s = "request", newGuarded(t, client, cfg)
			} else {
				s = newSource(t, client, cfg)
			}
			outcome := map[string]string{"/yes": "ok", "/no": "not_found"}[at]
			files, bytes := metric.Downloads.Value(label, outcome), metric.DownloadBytes.Value(label)
			_, a, _ := get(t, s)
			if n := metric.Downloads.Value(label, outcome) - files; n != 1 {
				t.Errorf("%s %s: counted %d", label, outcome, n)
			}
			if n := metric.DownloadBytes.Value(label) - bytes; n != a.Wire {
				t.Errorf("%s %s: counted %d bytes of %d", label, outcome, n, a.Wire)
			}
		}
	}
}

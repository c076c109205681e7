package api_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"symbolon/internal/api"
	"symbolon/internal/waittest"
)

func TestClientIsTheRightmostUntrustedAddress(t *testing.T) {
	trusted := []string{"127.0.0.1", "10.0.0.0/8", "2001:db8:1::/48", "::1"}
	for _, c := range []struct {
		remote    string
		forwarded []string
		want      string
	}{
		{"192.0.2.1:5", nil, "192.0.2.1"},
		{"192.0.2.1:5", []string{"198.51.100.7"}, "192.0.2.1"},
		{"127.0.0.1:5", nil, "127.0.0.1"},
		{"127.0.0.1:5", []string{"198.51.100.7"}, "198.51.100.7"},
		{"127.0.0.1:5", []string{"1.1.1.1, 198.51.100.7"}, "198.51.100.7"},
		{"127.0.0.1:5", []string{"1.1.1.1, 198.51.100.7, 10.1.2.3 , 10.3.2.1"}, "198.51.100.7"},
		{"127.0.0.1:5", []string{"1.1.1.1", "198.51.100.7", "10.1.2.3"}, "198.51.100.7"},
		{"127.0.0.1:5", []string{"10.1.2.3"}, "10.1.2.3"},
		{"127.0.0.1:5", []string{"198.51.100.7, unknown, 10.1.2.3"}, "10.1.2.3"},
		{"127.0.0.1:5", []string{"198.51.100.7,"}, "127.0.0.1"},
		{"127.0.0.1:5", []string{""}, "127.0.0.1"},
		{"127.0.0.1:5", []string{"198.51.100.7:4711"}, "198.51.100.7"},
		{"127.0.0.1:5", []string{"[2001:db8:2::1]:4711"}, "2001:db8:2::1"},
		{"127.0.0.1:5", []string{"[2001:db8:2::1]"}, "2001:db8:2::1"},
		{"127.0.0.1:5", []string{"::ffff:198.51.100.7"}, "198.51.100.7"},
		{"127.0.0.1:5", []string{"fe80::1%\x1b[1m"}, "fe80::1"},
		{"[::ffff:10.1.2.3]:5", []string{"2001:DB8:2::1, 2001:db8:1::7"}, "2001:db8:2::1"},
		{"[::1]:5", []string{"198.51.100.7"}, "198.51.100.7"},
		{"[fe80::1%eth0]:5", []string{"198.51.100.7"}, "fe80::1"},
		{"nonsense", []string{"198.51.100.7"}, "nonsense"},
	} {
		log := &waittest.Log{}
		f := api.New(api.Config{TrustedProxies: trusted}, options(log), []api.Route{get("/x", say("x"))})
		r := httptest.NewRequest("GET", "/x", nil)
		r.RemoteAddr = c.remote
		for _, line := range c.forwarded {
			r.Header.Add("X-Forwarded-For", line)
		}
		record(f, r)
		var line struct{ Client string }
		if err := json.Unmarshal([]byte(log.String()), &line); err != nil {
			t.Fatalf("%v in %s", err, log)
		}
		if line.Client != c.want {
			t.Errorf("from %s with %q the log names %q; want %q", c.remote, c.forwarded, line.Client, c.want)
		}
	}
}

// Without the setting anybody could write the header.
func TestSchemeIsThatOfATrustedProxy(t *testing.T) {
	a, _ := access(api.AccessConfig{}, "10.0.0.0/8")
	for peer, want := range map[string]string{"10.1.2.3:5": "https://symbols.example", "192.0.2.1:5": "http://symbols.example"} {
		r := httptest.NewRequest("GET", "http://symbols.example/x", nil)
		r.RemoteAddr = peer
		r.Header.Set("X-Forwarded-Proto", "https")
		if got := a.BaseURL(r); got != want {
			t.Errorf("%s: %s, want %s", peer, got, want)
		}
	}
}

func TestForwardedAddressesAreIgnoredUnlessAProxyIsTrusted(t *testing.T) {
	log := &waittest.Log{}
	f := api.New(api.Config{}, options(log), []api.Route{get("/x", say("x"))})
	r := httptest.NewRequest("GET", "/x", nil)
	r.RemoteAddr = "127.0.0.1:5"
	r.Header.Set("X-Forwarded-For", "198.51.100.7")
	record(f, r)
	if !strings.Contains(log.String(), `"client":"127.0.0.1"`) {
		t.Errorf("the log is %s", log)
	}
}

func TestClientsOfATrustedProxyHaveTheirOwnLimit(t *testing.T) {
	enter, leave := make(chan struct{}), make(chan struct{})
	f := newFront(api.Config{MaxInFlight: 4, MaxPerClient: 1, TrustedProxies: []string{"127.0.0.1"}}, post("/work", func(http.ResponseWriter, *http.Request) {
		enter <- struct{}{}
		<-leave
	}))
	ask := func(client string) int {
		r := httptest.NewRequest("POST", "/work", nil)
		r.RemoteAddr = "127.0.0.1:5"
		r.Header.Set("X-Forwarded-For", client)
		return record(f, r).Code
	}
	done := make(chan int)
	for _, client := range []string{"198.51.100.7", "198.51.100.8"} {
		go func() { done <- ask(client) }()
		select {
		case <-enter:
		case code := <-done:
			t.Fatalf("the first request of %s: %d", client, code)
		}
	}
	if code := ask("203.0.113.9, 198.51.100.7"); code != http.StatusTooManyRequests {
		t.Errorf("the second request of 198.51.100.7: %d", code)
	}
	close(leave)
	for range 2 {
		if code := <-done; code != http.StatusOK {
			t.Errorf("got %d", code)
		}
	}
}

func TestProxiesAreAddressesAndNetworks(t *testing.T) {
	if err := (api.Config{TrustedProxies: []string{"10.0.0.1", "10.0.0.0/8", "::1", "2001:db8::/32"}}).Validate(); err != nil {
		t.Error(err)
	}
	for _, text := range []string{"", "proxy.test", "10.0.0.0/33", "10.0.0.1:80", "*"} {
		err := (api.Config{TrustedProxies: []string{"::1", text}}).Validate()
		if err == nil || !strings.Contains(err.Error(), "trusted_proxies[1] is") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

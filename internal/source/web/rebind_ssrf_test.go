package web_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"symbolon/internal/fault"
	"symbolon/internal/source/web"
)

// pair serves two addresses on one port: the first may be asked by the guarded
// sources of the client, the second must not be reached.
type pair struct {
	client  *web.Client
	port    int
	answers atomic.Int64 // of the name server, of any record
}

const (
	permitted = "127.0.0.1"
	private   = "127.0.0.2"
)

// newPair takes no handler if nothing is to listen at the permitted address.
// The lookup gets its number, counted from one.
func newPair(t *testing.T, outside http.HandlerFunc, lookup func(n int64) []string) *pair {
	t.Helper()
	in, out := listenTwice(t)
	p := &pair{client: newClient(t, web.Config{DenyListThreshold: -1, ConnectTimeout: time.Second}), port: in.Addr().(*net.TCPAddr).Port}
	serveOn(t, in, func(http.ResponseWriter, *http.Request) { t.Error("a guarded source got in") })
	if outside == nil {
		out.Close()
	} else {
		serveOn(t, out, outside)
	}
	p.client.Permit(netip.AddrPortFrom(netip.MustParseAddr(permitted), uint16(p.port)))
	p.client.UseResolver(resolver(nameServer(t, func(string) []string { return lookup(p.answers.Add(1)) })))
	return p
}

// listenTwice listens on one port of both addresses.
func listenTwice(t *testing.T) (in, out net.Listener) {
	t.Helper()
	for range 100 { // the port may be taken on the other address
		in := listen(t, private+":0")
		out, err := net.Listen("tcp", fmt.Sprint(permitted, ":", in.Addr().(*net.TCPAddr).Port))
		if err == nil {
			return in, out
		}
		in.Close()
	}
	t.Fatal("no port is free on both addresses")
	return nil, nil
}

func listen(t *testing.T, address string) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func serveOn(t *testing.T, l net.Listener, h http.HandlerFunc) {
	t.Helper()
	server := &httptest.Server{Listener: l, Config: &http.Server{Handler: h}}
	server.Start()
	t.Cleanup(server.Close)
}

// url is the name that the name server answers for.
func (p *pair) url() string { return fmt.Sprintf("http://rebind.test:%d/", p.port) }

// firstPublic answers the two questions of the first connection, for both
// kinds of address, with the permitted address, and all later ones with the
// private one.
func firstPublic(n int64) []string {
	if n <= 2 {
		return []string{permitted}
	}
	return []string{private}
}

func TestRebindingIsCaughtOnARedirectToTheSameName(t *testing.T) {
	p := newPair(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close")
		http.Redirect(w, r, "http://"+r.Host+"/secret", http.StatusFound)
	}, firstPublic)
	_, a, err := get(t, newGuarded(t, p.client, config(p.url())))
	wantError(t, err, fault.Transport, "destination is restricted")
	if a.Redirects != 1 {
		t.Errorf("%+v; the first answer was not used", a)
	}
}

func TestRebindingIsCaughtOnAnotherTry(t *testing.T) {
	p := newPair(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close")
		w.WriteHeader(http.StatusServiceUnavailable)
	}, firstPublic)
	_, a, err := get(t, newGuarded(t, p.client, config(p.url())))
	wantError(t, err, fault.Transport, "destination is restricted")
	if a.Retries != 1 {
		t.Errorf("%+v; it was not tried again", a)
	}
}

// A name with two addresses is a trick too: the one that may be asked refuses,
// so that the other one is tried.
func TestSecondAddressOfANameIsCheckedToo(t *testing.T) {
	for _, both := range [][]string{{permitted, private}, {private, permitted}} {
		p := newPair(t, nil, func(int64) []string { return both })
		_, _, err := get(t, newGuarded(t, p.client, config(p.url())))
		wantError(t, err, fault.Transport, "")
	}
}

// And with one that answers, the file comes from there, whatever stands first.
func TestPermittedAddressOfANameIsUsed(t *testing.T) {
	p := newPair(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "text") },
		func(int64) []string { return []string{private, permitted} })
	if got, _, err := get(t, newGuarded(t, p.client, config(p.url()))); got != "text" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

// A connection that a source of the configuration has made, and left open, is
// not for those of requests.
func TestGuardedSourceBorrowsNoConnection(t *testing.T) {
	var requests atomic.Int64
	inside := serve(t, func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		fmt.Fprint(w, "text")
	})
	client := newClient(t, web.Config{})
	if got, _, err := get(t, newSource(t, client, config(inside.URL))); got != "text" || err != nil {
		t.Fatalf("got %q, %v", got, err)
	}
	_, _, err := get(t, newGuarded(t, client, config(inside.URL)))
	wantError(t, err, fault.Transport, "destination is restricted")
	if n := requests.Load(); n != 1 {
		t.Errorf("%d requests arrived", n)
	}
}

package trial

import (
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// Upstream is a symbol server with a handler for each path. Other paths are not
// found.
type Upstream struct {
	URL string

	mu     sync.Mutex
	does   map[string]http.Handler
	counts map[string]int
}

// NewUpstream starts a symbol server, over plain HTTP.
func NewUpstream(t testing.TB) *Upstream {
	return newUpstream(t, (*httptest.Server).Start)
}

// NewStranger starts an Upstream over TLS with an untrusted certificate.
func NewStranger(t testing.TB) *Upstream {
	return newUpstream(t, (*httptest.Server).StartTLS)
}

func newUpstream(t testing.TB, start func(*httptest.Server)) *Upstream {
	u := &Upstream{does: map[string]http.Handler{}, counts: map[string]int{}}
	server := httptest.NewUnstartedServer(u)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	start(server)
	t.Cleanup(func() {
		server.CloseClientConnections() // what hangs is to end
		server.Close()
	})
	u.URL = server.URL + "/"
	return u
}

// Do has requests for a path answered by h. The empty path is every other one.
func (u *Upstream) Do(path string, h http.Handler) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.does[path] = h
}

// Count is how often a path was asked for; the empty path: how many requests
// there were.
func (u *Upstream) Count(path string) int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.counts[path]
}

// ServeHTTP implements http.Handler.
func (u *Upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	u.mu.Lock()
	u.counts[""]++
	u.counts[r.URL.Path]++
	h := u.does[r.URL.Path]
	if h == nil {
		h = u.does[""]
	}
	u.mu.Unlock()
	if h == nil {
		http.NotFound(w, r)
		return
	}
	h.ServeHTTP(w, r)
}

// NewListener starts a server that does this with every connection, and is
// where it listens, as HOST:PORT. The connection is closed afterwards.
func NewListener(t testing.TB, do func(net.Conn)) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				do(c)
			}()
		}
	}()
	return l.Addr().String()
}

package api_test

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/waittest"
)

func options(log io.Writer) api.Options {
	return api.Options{
		Log:     slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Now:     time.Now,
		Version: []byte(`{"version":"v1"}`),
	}
}

func newFront(cfg api.Config, routes ...api.Route) *api.Front {
	return api.New(cfg, options(io.Discard), routes)
}

// first is the route of the first page.
func first() api.Route { return get("/", say("the page")) }

// serve runs a front on a real port until the test ends.
func serve(t *testing.T, cfg api.Config, opt api.Options, routes ...api.Route) (base string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	serveOn(t, smallBuffers{ln}, api.New(cfg, opt, routes))
	return "http://" + ln.Addr().String()
}

func serveOn(t *testing.T, ln net.Listener, f *api.Front) {
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- f.Serve(ctx, ln) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
}

// inMemory is a front in a bubble of synctest, where pauses and timeouts cost nothing.
type inMemory struct {
	t      *testing.T
	ln     *waittest.Listener
	client *http.Client
}

// frontURL is the address of every inMemory.
const frontURL = "http://front"

func serveInMemory(t *testing.T, cfg api.Config, opt api.Options, routes ...api.Route) *inMemory {
	t.Helper()
	ln := waittest.Listen()
	serveOn(t, ln, api.New(cfg, opt, routes))
	m := &inMemory{t, ln, &http.Client{Transport: &http.Transport{DialContext: ln.DialContext}}}
	t.Cleanup(m.client.CloseIdleConnections)
	return m
}

// send opens a connection and sends the beginning of a request.
func (m *inMemory) send(text string) net.Conn {
	m.t.Helper()
	c, err := m.ln.DialContext(m.t.Context(), "", "")
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() { _ = c.Close() })
	if _, err := io.WriteString(c, text); err != nil {
		m.t.Fatal(err)
	}
	return c
}

// smallBuffers makes connections whose kernel buffers hold little, so that the
// server feels soon how fast its client reads.
type smallBuffers struct{ net.Listener }

func (l smallBuffers) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.SetWriteBuffer(64 << 10)
	}
	return c, err
}

// do sends a request to a handler without a network in between. Headers are
// pairs of name and value.
func do(h http.Handler, method, target, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// say is a handler that answers with a text.
func say(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(w, text)
	}
}

// echo is a handler that answers with the body it got.
func echo(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		e, ok := err.(*api.Refusal)
		if !ok {
			api.Fail(w, r, http.StatusTeapot, err.Error())
			return
		}
		api.Fail(w, r, e.Status, e.Text)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	_, _ = w.Write(body)
}

func get(pattern string, h http.HandlerFunc) api.Route {
	return api.Route{Methods: []string{"GET"}, Pattern: pattern, Handle: h}
}

func post(pattern string, h http.HandlerFunc) api.Route {
	return api.Route{Methods: []string{"POST"}, Pattern: pattern, Handle: h}
}

func record(h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

package api_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"symbolon/internal/api"
)

// journal is a log that tests can read.
type journal struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (j *journal) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.buf.Write(b)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.buf.String()
}

// await waits until the log has a text.
func (j *journal) await(t *testing.T, text string) {
	t.Helper()
	for range 500 {
		if strings.Contains(j.String(), text) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%q never came into the log, which is\n%s", text, j)
}

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

// serve runs a front on a real port until the test ends.
func serve(t *testing.T, cfg api.Config, opt api.Options, routes ...api.Route) (base string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	f := api.New(cfg, opt, routes)
	go func() { ended <- f.Serve(ctx, smallBuffers{ln}) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return "http://" + ln.Addr().String()
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
		e, ok := err.(*api.BodyError)
		if !ok {
			api.Fail(w, r, http.StatusTeapot, err.Error())
			return
		}
		api.Fail(w, r, e.Status, e.Title)
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

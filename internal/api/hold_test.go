package api_test

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/bin"
)

// Clients of debuginfod take a connection that ends without an answer for a missing
// file; a reset makes them try again.
func TestResetBreaksTheConnection(t *testing.T) {
	reset := get("/reset", func(w http.ResponseWriter, _ *http.Request) { api.Reset(w, 502) })
	base := serve(t, api.Config{}, options(io.Discard), reset)
	_, err := http.Get(base + "/reset")
	if !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the client got %v, want a reset", err)
	}
	f := newFront(api.Config{}, reset)
	s := httptest.NewUnstartedServer(f)
	s.EnableHTTP2 = true
	s.StartTLS()
	defer s.Close()
	if _, err := s.Client().Get(s.URL + "/reset"); err == nil {
		t.Error("over HTTP/2, the client got an answer")
	}
}

// halfReadable is a source that can be read up to its middle.
type halfReadable struct{ bin.Source }

func (b halfReadable) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > b.Size()/2 {
		return 0, errors.New("the disk is damaged")
	}
	return b.Source.ReadAt(p, off)
}

// LLVM keeps what it got of a file after the regular end of a connection.
func TestHalfAFileEndsInAReset(t *testing.T) {
	file := stored{halfReadable{bin.Bytes(make([]byte, 4<<20))}, nil}
	base := serve(t, api.Config{}, options(io.Discard), get("/half", func(w http.ResponseWriter, r *http.Request) { api.SendFile(w, r, file, slog.New(slog.DiscardHandler)) }))
	res, err := http.Get(base + "/half")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if n, err := io.Copy(io.Discard, res.Body); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("got %d bytes and %v, want a reset", n, err)
	}
}

func TestRestOfARawPathIsAsSent(t *testing.T) {
	f := newFront(api.Config{},
		api.Route{Methods: []string{"GET"}, Pattern: "/raw/", Raw: true, Handle: func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, r.PathValue("rest"))
		}}, get("/raw2/{a}", say("")))
	for path, want := range map[string]string{
		"/raw/a/b":                   "a/b",
		"/raw//src//lib/../a%20b.c/": "/src//lib/../a b.c/",
		"/raw/a%2f..%2Fb":            "a/../b",
		"//raw/a":                    "a",
		"/raw/":                      "",
		"/raw2/a":                    "",
	} {
		if w := do(f, "GET", path, ""); w.Code != 200 || w.Body.String() != want {
			t.Errorf("%s: got %d %q, want %q", path, w.Code, w.Body, want)
		}
	}
}

func TestRequestsAreHeldForAPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leave := make(chan struct{})
		work := api.Route{Methods: []string{"GET"}, Pattern: "/work", Handle: func(http.ResponseWriter, *http.Request) { <-leave }}
		held := api.Route{Methods: []string{"GET"}, Pattern: "/held", Hold: 30 * time.Second, Handle: say("")}
		s := serveInMemory(t, api.Config{MaxInFlight: 1}, options(io.Discard), work, held)
		ask := func(path string) <-chan int {
			got := make(chan int, 1)
			go func() {
				res, err := s.client.Get(frontURL + path)
				if err != nil {
					got <- 0
					return
				}
				_ = res.Body.Close()
				got <- res.StatusCode
			}()
			synctest.Wait()
			return got
		}
		first := ask("/work")
		start := time.Now()
		if got := <-ask("/held"); got != 503 || time.Since(start) != 30*time.Second {
			t.Errorf("with a full server: got %d after %v, want 503 after 30 s", got, time.Since(start))
		}
		second := ask("/held")
		leave <- struct{}{}
		if got := <-second; got != 200 || <-first != 200 {
			t.Errorf("when a place became free: got %d, want 200", got)
		}
	})
}

// Package apitest runs the doors for uploads on a real port, over a store in memory.
package apitest

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/bucket/mem"
	"symbolon/internal/cache"
	"symbolon/internal/fixture"
	"symbolon/internal/scratch"
	"symbolon/internal/store"
	"symbolon/internal/token"
)

// A Server is a door and its store.
type Server struct {
	Bucket *mem.Bucket
	Store  *store.Store
	Spool  func() (cache.Spool, error)
	Log    *slog.Logger
	URL    string

	t      testing.TB
	grants map[string]*token.Grant
}

// New returns a Server without a door, for clients with these tokens.
func New(t testing.TB, limits store.Config, grants map[string]*token.Grant, now func() time.Time) *Server {
	s := &Server{t: t, grants: grants, Bucket: mem.New(), Log: slog.New(slog.DiscardHandler)}
	var open atomic.Int64
	t.Cleanup(func() {
		if n := open.Load(); n != 0 {
			t.Errorf("%d temporary files are left open", n)
		}
	})
	s.Spool = func() (cache.Spool, error) {
		open.Add(1)
		spool, err := scratch.NewSpool(t.TempDir())
		return counted{spool, &open}, err
	}
	s.Store = store.New(limits, store.Deps{
		Bucket: s.Bucket, Spool: s.Spool, IsOpen: func(context.Context) bool { return true }, Now: now, Log: s.Log,
	})
	return s
}

// counted is a temporary file that counts itself until it is closed.
type counted struct {
	cache.Spool
	open *atomic.Int64
}

func (c counted) Close() error {
	c.open.Add(-1)
	return c.Spool.Close()
}

// Grant returns the grant of the token in a request.
func (s *Server) Grant(r *http.Request) (*token.Grant, error) {
	if g, ok := s.grants[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]; ok {
		return g, nil
	}
	return nil, token.ErrUnknown
}

// Serve serves the routes of the door until the test ends.
func (s *Server) Serve(cfg api.Config, routes []api.Route) {
	listener := httptest.NewServer(api.New(cfg, api.Options{Log: s.Log, Now: time.Now}, routes))
	s.t.Cleanup(listener.Close)
	s.URL = listener.URL
}

// An Answer is the answer that a client gets.
type Answer struct {
	Status int
	Header http.Header
	Body   string

	t testing.TB
}

// Ask sends a request with a token, if any. The headers are pairs of name and value.
func (s *Server) Ask(secret, method, path, body string, headers ...string) Answer {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.URL+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if secret != "" {
		r.Header.Set("Authorization", "Bearer "+secret)
	}
	for pair := range slices.Chunk(headers, 2) {
		r.Header.Set(pair[0], pair[1])
	}
	got, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return Answer{got.StatusCode, got.Header, string(text), s.t}
}

// Expect ends the test unless the answer has a status, and all of these texts.
func (a Answer) Expect(status int, texts ...string) {
	a.t.Helper()
	missing := slices.DeleteFunc(texts, func(text string) bool { return strings.Contains(a.Body, text) })
	if a.Status != status || len(missing) > 0 {
		a.t.Fatalf("got %d %.800s, want %d with %q", a.Status, a.Body, status, missing)
	}
}

// SymID returns the id of SymFile, which ends in a digit.
func SymID(digit int) string {
	return fmt.Sprintf("%s%d0", fixture.SymID[:len(fixture.SymID)-2], digit)
}

// SymFile returns a symbol file of a library.
func SymFile(name string, digit int) string {
	return "MODULE Linux x86_64 " + SymID(digit) + " " + name + "\nFUNC 1000 10 0 pour_" + name + "\n1000 10 7 0\n"
}

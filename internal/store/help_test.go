package store_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"symbolon/internal/bucket"
	"symbolon/internal/cache"
	"symbolon/internal/cache/cachetest"
	"symbolon/internal/ident"
	"symbolon/internal/store"
)

// open returns a store over a bucket.
func open(t testing.TB, b bucket.Bucket) *store.Store { return openWith(t, b, store.Config{}) }

func openWith(t testing.TB, b bucket.Bucket, cfg store.Config) *store.Store {
	return openAt(t, b, cfg, time.Now)
}

func openAt(t testing.TB, b bucket.Bucket, cfg store.Config, now func() time.Time) *store.Store {
	return store.New(cfg, store.Deps{
		Bucket: b, Now: now, Log: slog.New(slog.DiscardHandler),
		Spool: func() (cache.Spool, error) { return cachetest.Spool(t) },
	})
}

// debugID returns the nth debug id.
func debugID(n int) ident.DebugID {
	id, err := ident.ParseDebugID(fmt.Sprintf("%08x-1111-2222-3333-444455556666", n))
	if err != nil {
		panic(err)
	}
	return id
}

// module returns the module with the nth debug id.
func module(n int) ident.Module { return ident.Module{DebugID: debugID(n)} }

// symbols returns a Breakpad file with the nth debug id.
func symbols(n int, records string) string {
	return fmt.Sprintf("MODULE Linux x86_64 %s kettle.so\n%s", debugID(n).Breakpad(), records)
}

const code = "FUNC 1000 10 0 boil\n1000 10 3 0\n"

// upload uploads files, each with its number as its name.
func upload(t testing.TB, s *store.Store, project string, files ...string) *store.Upload {
	t.Helper()
	d := s.Begin(project, map[string]string{"channel": "beta"}, "ci")
	defer d.Close()
	for i, text := range files {
		if _, err := d.Add(t.Context(), fmt.Sprintf("file%d.sym", i), strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
	}
	u, err := d.Commit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// find returns the files that a store finds in projects.
func find(t testing.TB, s *store.Store, q store.Question, projects ...string) []store.Found {
	t.Helper()
	found, err := s.Find(t.Context(), projects, q)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// content returns the bytes of a found file.
func content(t testing.TB, s *store.Store, f *store.Found) string {
	t.Helper()
	r, err := s.Open(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	b, err := io.ReadAll(io.NewSectionReader(r, 0, r.Size()))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func readAll(b bucket.Bucket, key string) ([]byte, error) {
	r, _, err := b.Get(context.Background(), key, 0, -1)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

// changed collects the debug ids of changes.
type changed struct {
	mu  sync.Mutex
	ids map[ident.DebugID]int
}

func (c *changed) note(ids []ident.Module) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range ids {
		if c.ids == nil {
			c.ids = map[ident.DebugID]int{}
		}
		c.ids[m.DebugID]++
	}
}

func (c *changed) count(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ids[debugID(n)]
}

package locate_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"symbolon/internal/bin"
	dirbucket "symbolon/internal/bucket/dir"
	"symbolon/internal/locate"
	"symbolon/internal/source"
	"symbolon/internal/source/tree"
	"symbolon/internal/trial/rig"
)

// After a day a source is asked whether a file is still the same. Meanwhile, and
// if it does not answer, what is known holds.
func TestChangedFileIsFetchedAgain(t *testing.T) {
	tag, status, sent := "one", 200, 0
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"`+tag+`"`)
		switch {
		case status != 200:
			w.WriteHeader(status)
		case r.Header.Get("If-None-Match") == `"`+tag+`"`:
			w.WriteHeader(http.StatusNotModified)
		default:
			sent++
			fmt.Fprint(w, symbols(id, tag))
		}
	})
	var c rig.Clock
	l := locator(t, locate.Config{KeepOriginals: "all"}, &c, s)
	for _, step := range []struct {
		what   string
		later  time.Duration
		change func()
		asked  int32
		sent   int
		name   string
	}{
		{"the first time", 0, func() {}, 1, 1, "one"},
		{"soon", 23 * time.Hour, func() { tag = "two" }, 1, 1, "one"},
		{"the same", 2 * time.Hour, func() { tag = "one" }, 2, 1, "one"},
		{"another one", 25 * time.Hour, func() { tag = "two" }, 3, 2, "two"},
		{"and soon", time.Hour, func() {}, 3, 2, "two"},
		{"no answer", 25 * time.Hour, func() { status = 403 }, 4, 2, "two"},
		{"not at once again", time.Minute, func() {}, 4, 2, "two"},
		{"but soon", 10 * time.Minute, func() { status, tag = 200, "three" }, 5, 3, "three"},
	} {
		c.Advance(step.later)
		step.change()
		found, trail, err := l.Best(t.Context(), rig.Module("a.so"), locate.Debug)
		if err != nil {
			t.Fatalf("%s: %v", step.what, err)
		}
		obj, _, err := found.File(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", step.what, err)
		}
		name := ""
		if f := obj.Lookup(nil, 0x1000); len(f) == 1 {
			name = string(obj.AppendText(nil, f[0].Func))
		}
		if name != step.name || s.asked.Load() != step.asked || sent != step.sent {
			t.Errorf("%s: %q, asked %d times, sent %d; want %q, %d, %d: %+v", step.what, name, s.asked.Load(), sent, step.name, step.asked, step.sent, trail)
		}
		found.Close()
	}
}

// The users of the invalidated state keep it.
func TestInvalidatedFileInUseIsFetchedAgain(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.so", id, "a.so.sym")
	write := func(name string) {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(symbols(id, name)), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	b, err := dirbucket.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	folder, err := tree.New(source.Config{ID: "folder", Type: source.Filesystem, Path: dir}, b, source.NewDecoder(bin.Limit{}, nil), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	l := locateIn(t, locate.Config{}, &rig.Clock{}, []source.Source{folder})
	best := func() (*locate.Found, string) {
		found, trail, err := l.Best(t.Context(), rig.Module("a.so"), locate.Debug)
		if err != nil {
			t.Fatal(err, trail)
		}
		obj, _, err := found.File(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		f := obj.Lookup(nil, 0x1000)
		if len(f) != 1 {
			t.Fatal(f)
		}
		return found, string(obj.AppendText(nil, f[0].Func))
	}
	write("one")
	first, name := best()
	defer first.Close()
	write("another")
	if again, same := best(); same != name {
		t.Errorf("%q is in use, and %q was given", name, same)
	} else {
		again.Close()
	}
	if err := l.Invalidate(t.Context(), rig.Module("a.so")); err != nil {
		t.Fatal(err)
	}
	other, now := best()
	defer other.Close()
	if now != "another" {
		t.Errorf("after a forget %q was given", now)
	}
}

func TestFailedRenewalAfterForgetIsNotRetriedAtOnce(t *testing.T) {
	status := http.StatusOK
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(status)
		fmt.Fprint(w, symbols(id, "f"))
	})
	var c rig.Clock
	l := locator(t, locate.Config{}, &c, s)
	ask := func(want int32) {
		t.Helper()
		found, trail, err := l.Best(t.Context(), rig.Module("a.so"), locate.SymFirst)
		if err != nil {
			t.Fatal(err, trail)
		}
		found.Close()
		if n := s.asked.Load(); n != want {
			t.Errorf("got %d requests, want %d", n, want)
		}
	}
	ask(1)
	if err := l.Invalidate(t.Context(), rig.Module("a.so")); err != nil {
		t.Fatal(err)
	}
	status = http.StatusInternalServerError
	ask(2)
	ask(2)
	c.Advance(9 * time.Minute)
	ask(2)
	c.Advance(2 * time.Minute)
	ask(3)
}

// The meta has the validator of the original, so that without it the original
// may be an earlier state of the file.
func TestOriginalIsNotUsedWithoutItsMeta(t *testing.T) {
	name := "one"
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, symbols(id, name)) })
	var c rig.Clock
	dir := t.TempDir()
	l := rig.Open(t, rig.Options{Dir: dir, Now: c.Now, Sources: over(t, s), Locate: locate.Config{KeepOriginals: "all"}}).Locator
	found, _ := opened(t, l, locate.SymFirst)
	found.Close()
	name = "two"
	damage(t, dir, "meta")
	if _, got := opened(t, l, locate.SymFirst); got != "two" {
		t.Errorf("got function %q, want %q", got, "two")
	}
}

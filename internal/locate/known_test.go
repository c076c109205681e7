package locate_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"testing"
	"time"

	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/locate"
	"symbolon/internal/source"
	"symbolon/internal/trial/rig"
)

// opened finds the file of a.so; name is what its function is called.
func opened(t *testing.T, l *locate.Locator, p locate.Purpose) (found *locate.Found, name string) {
	t.Helper()
	found, trail, err := l.Best(t.Context(), rig.Module("a.so"), p)
	if err != nil {
		t.Fatal(err, trail)
	}
	t.Cleanup(found.Close)
	o, _, err := found.File(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if frames := o.Lookup(nil, 0x1000); len(frames) == 1 {
		name = string(o.AppendText(nil, frames[0].Func))
	}
	return found, name
}

// A source with another file at the same place: who still reads the first one
// does not bring it back when they are done.
func TestEarlierStateIsNotKeptAsOriginal(t *testing.T) {
	version := "one"
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"`+version+`"`)
		if r.Header.Get("If-None-Match") == `"`+version+`"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		fmt.Fprint(w, symbols(id, version))
	})
	var c rig.Clock
	l := locator(t, locate.Config{}, &c, s)
	reader, name := opened(t, l, locate.Debug)
	reader.Keep()
	first := reader.Tag()
	c.Advance(25 * time.Hour)
	version = "two"
	next, renewed := opened(t, l, locate.Debug)
	if name != "one" || renewed != "two" || next.Tag() == first {
		t.Errorf("it was %q, %s, and is %q, %s", name, first, renewed, next.Tag())
	}
	next.Close()
	reader.Close()
	if _, name := opened(t, l, locate.Debug); name != "two" {
		t.Errorf("later it is %q", name)
	}
}

func TestFailedFetchKeepsTheMeta(t *testing.T) {
	down := false
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if down {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		fmt.Fprint(w, symbols(id, "f"))
	})
	var c rig.Clock
	l := locator(t, locate.Config{}, &c, s)
	found, _ := opened(t, l, locate.Debug)
	found.Close()
	down = true
	for range 2 {
		found, trail, err := l.Best(t.Context(), rig.Module("a.so"), locate.Debug)
		if err != nil {
			t.Fatal(err, trail)
		}
		if _, _, err := found.File(t.Context()); err == nil {
			t.Error("the file came from a source that is down")
		}
		found.Close()
	}
}

func TestFileWithoutSymbolsIsSkipped(t *testing.T) {
	bad := serve(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "\x00asm\x01\x00\x00\x00") })
	good := serve(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, symbols(id, "f")) })
	var c rig.Clock
	if _, name := opened(t, locator(t, locate.Config{}, &c, bad, good), locate.SymFirst); name != "f" {
		t.Errorf("the function is %q", name)
	}
}

// Kinds that lie in one place are one question.
func TestPlaceOfSeveralKindsIsAskedOnce(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) })
	var c rig.Clock
	m := rig.Module("a.so")
	m.Type = ident.TypeUnknown
	_, trail, err := locator(t, locate.Config{}, &c, s).Best(t.Context(), m, locate.Debug)
	seen := map[string]bool{}
	for _, tried := range trail {
		if tried.Location != "" && seen[tried.Location] {
			t.Errorf("%s was asked for twice", tried.Location)
		}
		seen[tried.Location] = true
	}
	if err == nil || len(trail) == 0 {
		t.Error(err, trail)
	}
}

// A mirror of profilers has symbfiles. Another file that lies there would answer by
// addresses that are not meant.
func TestProfilerMirrorServesOnlySymbfiles(t *testing.T) {
	mirror := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if path.Base(r.URL.Path) == source.MetadataFile {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, symbols(id, "f"))
	}))
	defer mirror.Close()
	var c rig.Clock
	l := locateIn(t, locate.Config{}, &c, rig.Web(t, source.Config{Layout: source.Layout{Type: source.Elastic}}, mirror.URL))
	m := rig.Module("a.so")
	m.Type, m.FileID = ident.TypeELF, ident.FileID{1}
	for _, p := range []locate.Purpose{locate.SymFirst, locate.Pads} {
		_, trail, err := l.Best(t.Context(), m, p)
		if len(trail) == 0 {
			t.Fatal(p, err)
		}
		last := trail[len(trail)-1]
		if last.Fault == nil || last.Fault.Kind != fault.Malformed || !strings.Contains(last.Fault.Error(), "not a "+last.Kind+" file") {
			t.Errorf("%v: %v", p, last.Fault)
		}
	}
}

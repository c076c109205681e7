package locate_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"symbolon/internal/ident"
	"symbolon/internal/locate"
	"symbolon/internal/source"
	"symbolon/internal/trial/rig"
)

// debuginfod is a server that has the companion, by its build id alone, and that
// counts the requests for it.
func debuginfod(t *testing.T, public bool) (source.Source, *atomic.Int32) {
	t.Helper()
	var asked atomic.Int32
	text := corpus(t, companion)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/buildid/"+caeeab+"/debuginfo" {
			http.NotFound(w, r)
			return
		}
		asked.Add(1)
		_, _ = w.Write(text) // the client may leave
	}))
	t.Cleanup(s.Close)
	cfg := source.Config{ID: "debuginfod", IsPublic: public, Layout: source.Layout{Type: source.Debuginfod}}
	return rig.Web(t, cfg, s.URL+"/buildid/")[0], &asked
}

// byDebugID is the module of the programs as the interface of Mozilla names it.
func byDebugID(t *testing.T) ident.Module {
	return ident.Module{DebugFile: "kiln", DebugID: kiln(t).DebugID}
}

// outcome returns the source and kind of the chosen file, or the fault.
func outcome(t *testing.T, l *locate.Locator, m ident.Module) string {
	t.Helper()
	found, trail, err := l.Best(t.Context(), m, locate.SymFirst)
	switch {
	case errors.Is(err, source.ErrNoBuildID):
		return "no build id"
	case err != nil:
		return err.Error()
	}
	found.Close()
	for _, tried := range trail {
		if tried.Chosen {
			return tried.Source + " " + tried.Kind
		}
	}
	return "none is said to be chosen"
}

// TestStrippedProgramLeadsToItsCompanion has the program by its debug id in one
// source, and the companion by its build id in another one.
func TestStrippedProgramLeadsToItsCompanion(t *testing.T) {
	server, asked := debuginfod(t, false)
	store := folder(t, "store", map[string][]byte{"kiln/3DABEECA56AC7938C0A40E7BBC2A2AD90/kiln": corpus(t, "debuglink")})
	for _, sources := range [][]source.Source{{store, server}, {server, store}} {
		var c rig.Clock
		asked.Store(0)
		l := locateIn(t, locate.Config{}, &c, sources)
		for try := range 2 {
			if got := outcome(t, l, byDebugID(t)); got != "debuginfod elf_debug" {
				t.Errorf("try %d, %s first: %s", try, sources[0].ID(), got)
			}
		}
		if n := asked.Load(); n > 2 { // Keep was not called
			t.Errorf("%s first: the companion was asked for %d times", sources[0].ID(), n)
		}
	}
}

func TestTrailOfTwoRoundsHasEachPlaceOnce(t *testing.T) {
	server, _ := debuginfod(t, false)
	store := folder(t, "store", map[string][]byte{"kiln/3DABEECA56AC7938C0A40E7BBC2A2AD90/kiln": corpus(t, "debuglink")})
	var c rig.Clock
	found, trail, err := locateIn(t, locate.Config{}, &c, []source.Source{store, server}).Best(t.Context(), byDebugID(t), locate.SymFirst)
	if err != nil {
		t.Fatal(err)
	}
	found.Close()
	seen := map[string]bool{}
	for _, tried := range trail {
		place := tried.Source + " " + tried.Kind + " " + tried.Location
		if seen[place] {
			t.Errorf("%s is on the trail twice", place)
		}
		seen[place] = true
	}
}

func TestBuildIDOfFoundFileIsLearned(t *testing.T) {
	server, _ := debuginfod(t, false)
	var c rig.Clock
	l := locateIn(t, locate.Config{}, &c, []source.Source{server})
	if got := outcome(t, l, byDebugID(t)); got != "no build id" {
		t.Fatalf("before any file was seen: %s", got)
	}
	if l.State(byDebugID(t), locate.Freshness{Seen: time.Now()}) == locate.Invalid {
		t.Error("a build id is said to be learned that was not")
	}
	born := c.Now()
	if got := outcome(t, l, kiln(t)); got != "debuginfod elf_debug" {
		t.Fatalf("with the build id: %s", got)
	}
	if got := outcome(t, l, byDebugID(t)); got != "debuginfod elf_debug" {
		t.Errorf("after the file was seen: %s", got)
	}
	if l.State(byDebugID(t), locate.Freshness{Seen: born}) != locate.Invalid {
		t.Error("a module that had nothing before is not looked up again")
	}
	if l.State(kiln(t), locate.Freshness{Seen: born}) == locate.Invalid {
		t.Error("a module with its build id is looked up again")
	}
}

// TestLearnedBuildIDsStayInTheirScope has scopes over one cache.
func TestLearnedBuildIDsStayInTheirScope(t *testing.T) {
	for _, public := range []bool{false, true} {
		server, _ := debuginfod(t, public)
		var c rig.Clock
		l := locateIn(t, locate.Config{}, &c, nil)
		a, b := l.With("a", []source.Source{server}), l.With("b", []source.Source{server})
		if got := outcome(t, a, kiln(t)); got != "debuginfod elf_debug" {
			t.Fatal(got)
		}
		want := map[bool]string{false: "no build id", true: "debuginfod elf_debug"}[public]
		if got := outcome(t, b, byDebugID(t)); got != want {
			t.Errorf("public %v, in another scope: %s, want %s", public, got, want)
		}
	}
}

// TestSourcesOfRequestsNeitherTeachNorLearnBuildIDs has a public source, once as a
// request names it and once as the configuration does.
func TestSourcesOfRequestsNeitherTeachNorLearnBuildIDs(t *testing.T) {
	server, _ := debuginfod(t, true)
	sources := []source.Source{server}
	for _, requestFirst := range []bool{true, false} {
		var c rig.Clock
		l := locateIn(t, locate.Config{}, &c, sources)
		first, second := l, l.WithRequestSources("", sources)
		if requestFirst {
			first, second = second, first
		}
		if got := outcome(t, first, kiln(t)); got != "debuginfod elf_debug" {
			t.Fatal(got)
		}
		if got := outcome(t, second, byDebugID(t)); got != "no build id" {
			t.Errorf("sources of the request first %v: %s", requestFirst, got)
		}
	}
}

// TestBuildIDWithUnrelatedDebugIDIsNotLearned has a .sym file that
// states another one.
func TestBuildIDWithUnrelatedDebugIDIsNotLearned(t *testing.T) {
	server, asked := debuginfod(t, false)
	other := "0F1E2D3C4B5A69788796A5B4C3D2E1F00"
	sym := folder(t, "sym", map[string][]byte{"kiln/" + other + "/kiln.sym": []byte(
		"MODULE Linux x86_64 " + other + " kiln\nINFO CODE_ID " + caeeab + " kiln\nFUNC 10 10 0 f\n")})
	id, err := ident.ParseDebugID(other)
	if err != nil {
		t.Fatal(err)
	}
	var c rig.Clock
	l := locateIn(t, locate.Config{}, &c, []source.Source{sym, server})
	for _, p := range []locate.Purpose{locate.SymFirst, locate.Debug, locate.Debug} {
		found, _, err := l.Best(t.Context(), ident.Module{DebugFile: "kiln", DebugID: id}, p)
		if err != nil {
			t.Fatal(err)
		}
		found.Close()
	}
	if asked.Load() != 0 {
		t.Error("the server was asked for a build id that is not that of the module")
	}
}

package table_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"symbolon/internal/cache"
	"symbolon/internal/cache/disk"
	"symbolon/internal/fixture"
	"symbolon/internal/ident"
	"symbolon/internal/locate"
	"symbolon/internal/object"
	"symbolon/internal/source"
	"symbolon/internal/table"
	"symbolon/internal/trial/rig"
	"symbolon/internal/waittest"
)

// kilnID is of a program of the corpus.
const kilnID = "caeeab3dac563879c0a40e7bbc2a2ad961b2aa8d"

// symbolsOnly is the program without its debug information.
func symbolsOnly() []byte {
	id := []byte("\xca\xee\xab\x3d\xac\x56\x38\x79\xc0\xa4\x0e\x7b\xbc\x2a\x2a\xd9\x61\xb2\xaa\x8d")
	e := &fixture.ELF{Wide: true, Type: 2, Machine: 62}
	e.Segment(fixture.ELFSegment{Type: 1, Flags: 5, Vaddr: 0x400000, Memsz: 0x10000})
	text := e.Add(fixture.ELFSection{Name: ".text", Type: 1, Flags: 6, Addr: 0x401000, Data: make([]byte, 0x1000)})
	e.Add(fixture.ELFSection{Name: ".note.gnu.build-id", Type: 7, Flags: 2, Align: 4, Data: e.Note("GNU", 3, id, 4)})
	e.Symtab(".symtab", 2, fixture.ELFSymbol{Name: "some_code", Value: 0x401000, Size: 0x1000, Kind: 2, Bind: 1, Section: text})
	return e.Bytes()
}

// over is tables of what a server has, and the program as a module.
func over(t *testing.T, c *rig.Clock, url string) (*locate.Locator, *table.Tables, ident.Module) {
	t.Helper()
	return overIn(t, c, url, t.TempDir())
}

func overIn(t *testing.T, c *rig.Clock, url, dir string) (*locate.Locator, *table.Tables, ident.Module) {
	t.Helper()
	l := rig.Open(t, rig.Options{Dir: dir, Now: c.Now, Sources: rig.Web(t, source.Config{}, url)})
	id, err := ident.ParseBuildID(kilnID)
	if err != nil {
		t.Fatal(err)
	}
	return l.Locator, l.Tables, ident.Module{Type: ident.TypeELF, CodeFile: "kiln", CodeID: id.CodeID(), DebugFile: "kiln", DebugID: id.DebugID(false)}
}

// TestBetterFileReplacesTable finds a program with symbols, and debug
// information for it appears later. The first file answers until the second one
// has been fetched.
func TestBetterFileReplacesTable(t *testing.T) {
	full, err := os.ReadFile(filepath.Join("../object/testdata/corpus", "debuglink.debug"))
	if err != nil {
		t.Fatal(err)
	}
	var requests atomic.Int32
	var there atomic.Bool // the debug information, which comes slowly
	requested, arrived := make(chan struct{}), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		path := strings.TrimPrefix(r.URL.Path, "/ca/"+kilnID[2:])
		switch {
		case path == "":
			_, _ = w.Write(symbolsOnly())
		case path == ".debug" && there.Load():
			close(requested)
			<-arrived
			_, _ = w.Write(full)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	c := &rig.Clock{}
	_, tables, m := over(t, c, server.URL)
	if h, report := tables.Symbols(t.Context(), m, locate.Debug); h == nil {
		t.Fatal(report.Fault)
	} else {
		h.Close()
	}
	// best returns the features of the open file.
	best := func(when string) object.Features {
		t.Helper()
		h, _, known := tables.Ready(m, locate.Debug)
		if h == nil {
			t.Fatalf("%s: nothing is open; known %v", when, known)
		}
		defer h.Close()
		frames := h.Lookup(nil, 0x1100)
		if len(frames) == 0 {
			t.Errorf("%s: got no frames", when)
		}
		return h.Facts().Features
	}
	first := requests.Load()
	there.Store(true)
	for _, later := range []time.Duration{0, 9 * time.Minute, 30 * time.Minute, 15 * time.Minute} {
		c.Advance(later)
		if f := best("within its time"); f != object.HasSymbols || requests.Load() != first {
			t.Errorf("before the failure expires: got %v, %d requests", f.Names(), requests.Load()-first)
		}
	}
	c.Advance(10 * time.Minute)
	if f := best("when the failure has expired"); f != object.HasSymbols {
		t.Errorf("when the failure has expired: got %v", f.Names())
	}
	<-requested
	for range 50 {
		if f := best("during the fetch"); f != object.HasSymbols {
			t.Fatalf("during the fetch: got %v", f.Names())
		}
	}
	close(arrived)
	waittest.Until(t, "the better file answers", func() bool { return best("after the fetch") == object.HasSymbols|object.HasDebug })
	asked := requests.Load()
	best("again")
	if n := requests.Load(); n != asked {
		t.Errorf("%d requests more", n-asked)
	}
}

// After a forget the next answer is of the current file, or of the open one if the
// source fails.
func TestAnswerAfterForgetIsCurrent(t *testing.T) {
	full, err := os.ReadFile(filepath.Join("../object/testdata/corpus", "debuglink.debug"))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{"": symbolsOnly()} // by the suffix of their path
	down := false
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		file := files[strings.TrimPrefix(r.URL.Path, "/ca/"+kilnID[2:])]
		switch {
		case down:
			w.WriteHeader(http.StatusInternalServerError)
		case file == nil:
			http.NotFound(w, r)
		default:
			_, _ = w.Write(file)
		}
	}))
	t.Cleanup(server.Close)
	c := &rig.Clock{}
	dir := t.TempDir()
	loc, tables, m := overIn(t, c, server.URL, dir)
	answer := func(want object.Features) {
		t.Helper()
		h, report, _ := tables.Ready(m, locate.Debug)
		if h == nil {
			h, report = tables.Symbols(t.Context(), m, locate.Debug)
		}
		if h == nil {
			t.Fatal(report.Fault)
		}
		defer h.Close()
		if got := h.Facts().Features; got != want {
			t.Errorf("got a file with %v, want %v", got.Names(), want.Names())
		}
	}
	forget := func() {
		if err := loc.Invalidate(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	const best = object.HasSymbols | object.HasDebug
	answer(object.HasSymbols)
	files[".debug"] = full
	answer(object.HasSymbols)
	forget()
	answer(best)
	forget()
	down = true
	answer(best)
	for quick := false; !quick; runtime.Gosched() { // until the table is open
		if h, _, _ := tables.Ready(m, locate.Debug); h != nil {
			quick = h.Quick()
			h.Close()
		}
	}
	clear(files)
	if err := os.Rename(filepath.Join(dir, "cache"), filepath.Join(dir, "gone")); err != nil { // nothing is remembered either
		t.Fatal(err)
	}
	forget()
	down = false
	answer(best)
	if h, _, _ := tables.Ready(m, locate.Debug); h == nil {
		t.Error("each answer looks for a file that is gone")
	} else {
		h.Close()
	}
}

// A fetch in progress may be of an earlier file: a request after the forget gets the
// current one, although it waits for the same fetch.
func TestFetchInProgressAtForgetIsRepeated(t *testing.T) {
	full, err := os.ReadFile(filepath.Join("../object/testdata/corpus", "debuglink.debug"))
	if err != nil {
		t.Fatal(err)
	}
	var there, held atomic.Bool
	held.Store(true)
	asked, missed, served := make(chan struct{}), make(chan struct{}), make(chan struct{})
	miss := sync.OnceFunc(func() { close(missed) })
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch strings.TrimPrefix(r.URL.Path, "/ca/"+kilnID[2:]) {
		case "":
			if held.Swap(false) {
				close(asked)
				<-served
			}
			_, _ = w.Write(symbolsOnly())
		case ".debug":
			if there.Load() {
				_, _ = w.Write(full)
				return
			}
			miss()
			http.NotFound(w, r)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	c := &rig.Clock{}
	loc, tables, m := over(t, c, server.URL)
	answers := make(chan object.Features, 2)
	ask := func() {
		h, report := tables.Symbols(context.Background(), m, locate.Debug)
		if h == nil {
			t.Error(report.Fault)
			answers <- 0
			return
		}
		got := h.Facts().Features
		h.Close()
		answers <- got
	}
	go ask()
	<-asked
	<-missed
	there.Store(true)
	if err := loc.Invalidate(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	go ask()
	close(served)
	const best = object.HasSymbols | object.HasDebug
	if a, b := <-answers, <-answers; a != best && b != best {
		t.Errorf("the answers are of files with %v and %v", a.Names(), b.Names())
	}
	ask()
	if got := <-answers; got != best {
		t.Errorf("the next answer is of a file with %v", got.Names())
	}
}

// A file that is known and has no table yet is asked for once while its source
// is down, and no longer than that is remembered.
func TestKnownFileIsRequestedOnceWhileItsSourceFails(t *testing.T) {
	var requests atomic.Int32
	var down atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		switch {
		case down.Load():
			w.WriteHeader(http.StatusInternalServerError)
		case strings.TrimPrefix(r.URL.Path, "/ca/"+kilnID[2:]) == "":
			_, _ = w.Write(symbolsOnly())
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	c := &rig.Clock{}
	loc, tables, m := over(t, c, server.URL)
	found, _, err := loc.Best(t.Context(), m, locate.Debug)
	if err != nil {
		t.Fatal(err)
	}
	found.Close()
	down.Store(true)
	before := requests.Load()
	for range 3 {
		if h, _ := tables.Symbols(t.Context(), m, locate.Debug); h != nil {
			t.Fatal("it was found")
		}
	}
	if n := requests.Load() - before; n != 1 {
		t.Errorf("a source that is down was asked %d times", n)
	}
	down.Store(false)
	c.Advance(30 * time.Minute)
	h, report := tables.Symbols(t.Context(), m, locate.Debug)
	if h == nil {
		t.Fatal(report.Fault)
	}
	h.Close()
}

// lone is a shared tier that gives its leases to everybody.
type lone struct{ *disk.Store }

func (lone) Acquire(context.Context, cache.Key) (func(), bool) { return func() {}, true }

// TestNegativeEntryIsShortWhereNodesShare forgets a miss on another node, whose
// memory this one does not see.
func TestNegativeEntryIsShortWhereNodesShare(t *testing.T) {
	b, c, log := newBench(t, http.NotFound), &rig.Clock{}, slog.New(slog.DiscardHandler)
	var stores [2]*disk.Store
	for i := range stores {
		s, err := disk.Open(disk.Config{}, t.TempDir(), c.Now, log)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		stores[i] = s
	}
	layer := cache.Over(stores[0], lone{stores[1]}, c.Now)
	defer layer.Close()
	sources := rig.Web(t, source.Config{}, b.url)
	locator := func(tier cache.Tier) *locate.Locator {
		loc := locate.New(locate.Config{}, locate.Deps{
			Sources: sources, Tier: tier, Spool: func() (cache.Spool, error) { return stores[0].Temp() }, Now: c.Now, Log: log,
		})
		t.Cleanup(loc.Close)
		return loc
	}
	tables := table.New(table.Config{}, table.Deps{Locator: locator(layer), Tier: layer, Now: c.Now, Log: log})
	defer tables.Close()
	if h, _ := tables.Symbols(t.Context(), rig.Module("a.so"), locate.SymFirst); h != nil {
		t.Fatal("got a handle before the file exists")
	}
	asked := b.asked.Load()
	c.Advance(25 * time.Second)
	if _, _, known := tables.Ready(rig.Module("a.so"), locate.SymFirst); !known {
		t.Fatal("the miss is not remembered in memory")
	}
	c.Advance(10 * time.Second)
	if h, _ := tables.Symbols(t.Context(), rig.Module("a.so"), locate.SymFirst); h != nil || b.asked.Load() != asked {
		t.Fatalf("nothing was forgotten, and it is asked for %d times", b.asked.Load()-asked)
	}
	b.answer = serve(file)
	if err := locator(stores[1]).Invalidate(t.Context(), rig.Module("a.so")); err != nil {
		t.Fatal(err)
	}
	c.Advance(35 * time.Second)
	if _, _, known := tables.Ready(rig.Module("a.so"), locate.SymFirst); known {
		t.Fatal("a miss that another node has forgotten still counts")
	}
	h, report := tables.Symbols(t.Context(), rig.Module("a.so"), locate.SymFirst)
	if h == nil {
		t.Fatal(report.Fault)
	}
	h.Close()
}

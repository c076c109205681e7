package locate_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/bucket/dir"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/locate"
	"symbolon/internal/source"
	"symbolon/internal/source/tree"
	"symbolon/internal/trial/rig"
)

const id = rig.ID

func symbols(fileID, function string) string {
	return "MODULE Linux x86_64 " + fileID + " a.so\nFUNC 1000 10 0 " + function + "\n"
}

// server is a symbol server of .sym files that counts requests.
type server struct {
	*httptest.Server
	asked atomic.Int32
}

func serve(t *testing.T, answer http.HandlerFunc) *server {
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, ".sym") {
			http.NotFound(w, r)
			return
		}
		s.asked.Add(1)
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func text(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) }
}

func locator(t *testing.T, cfg locate.Config, c *rig.Clock, servers ...*server) *locate.Locator {
	t.Helper()
	return locateIn(t, cfg, c, over(t, servers...))
}

// over is the sources that ask servers.
func over(t *testing.T, servers ...*server) []source.Source {
	t.Helper()
	var urls []string
	for _, s := range servers {
		urls = append(urls, s.URL)
	}
	return rig.Web(t, source.Config{}, urls...)
}

func locateIn(t *testing.T, cfg locate.Config, c *rig.Clock, sources []source.Source) *locate.Locator {
	t.Helper()
	return rig.Open(t, rig.Options{Locate: cfg, Now: c.Now, Sources: sources}).Locator
}

// kinds tells a trail as one text: the source and the kind of its verdict.
func kinds(trail []locate.Tried) string {
	var out []string
	for _, t := range trail {
		if t.Kind != source.Breakpad {
			continue
		}
		k := "usable"
		if t.Fault != nil {
			k = t.Fault.Kind.String()
		}
		if t.Cached {
			k += " (remembered)"
		}
		out = append(out, t.Source+": "+k)
	}
	return strings.Join(out, ", ")
}

func TestTrailHasEveryPlaceAndOutcomesAreRemembered(t *testing.T) {
	missing := serve(t, http.NotFound)
	wrong := serve(t, text(symbols("11112222333344445555666677778888A", "other")))
	junk := serve(t, text("<html>welcome</html>"))
	denied := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) })
	good := serve(t, text(symbols(id, "good")))
	var c rig.Clock
	l := locator(t, locate.Config{}, &c, missing, wrong, junk, denied, good)
	for _, want := range []string{
		"s1: not found, s2: malformed, s3: malformed, s4: denied, s5: usable",
		"s1: not found (remembered), s2: malformed (remembered), s3: malformed (remembered), s4: denied (remembered), s5: usable (remembered)",
	} {
		found, trail, err := l.Best(t.Context(), rig.Module("a.so"), locate.SymFirst)
		if err != nil {
			t.Fatal(err)
		}
		if got := kinds(trail); got != want {
			t.Errorf("trail:\n got %s\nwant %s", got, want)
		}
		if !trail[4].Chosen || trail[4].Features == 0 {
			t.Errorf("the winner is not told: %+v", trail[4])
		}
		if !strings.HasPrefix(trail[1].Fault.Detail, fault.Mismatch) {
			t.Errorf("a file with another identity: %v", trail[1].Fault)
		}
		found.Close()
	}
	for i, s := range []*server{missing, wrong, junk, denied} {
		if n := s.asked.Load(); n != 1 {
			t.Errorf("server %d was asked %d times", i+1, n)
		}
	}
}

func TestRememberedFaultExpires(t *testing.T) {
	s := serve(t, http.NotFound)
	var c rig.Clock
	l := locator(t, locate.Config{}, &c, s)
	for _, step := range []struct {
		later time.Duration
		asked int32
	}{{0, 1}, {59 * time.Minute, 1}, {2 * time.Minute, 2}} {
		c.Advance(step.later)
		_, trail, err := l.Best(t.Context(), rig.Module("a.so"), locate.SymFirst)
		if fault.KindOf(err) != fault.NotFound || len(trail) == 0 {
			t.Fatalf("got %v, trail %v", err, trail)
		}
		if n := s.asked.Load(); n != step.asked {
			t.Errorf("after %v more: asked %d times, want %d", step.later, n, step.asked)
		}
		if trail[0].Expires.IsZero() {
			t.Errorf("a remembered fault without its end: %+v", trail[0])
		}
	}
}

func TestNewFileInFolderIsFoundAtOnce(t *testing.T) {
	folder := t.TempDir()
	bucket, err := dir.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	tr, err := tree.New(source.Config{ID: "folder", Type: source.Filesystem, Path: folder}, bucket, source.NewDecoder(bin.Limit{}, nil), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	var c rig.Clock
	l := locateIn(t, locate.Config{}, &c, []source.Source{tr})
	if _, _, err := l.Best(t.Context(), rig.Module("a.so"), locate.SymFirst); fault.KindOf(err) != fault.NotFound {
		t.Fatalf("got %v", err)
	}
	place := filepath.Join(folder, "a.so", id)
	if err := os.MkdirAll(place, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(place, "a.so.sym"), []byte(symbols(id, "f")), 0o600); err != nil {
		t.Fatal(err)
	}
	found, _, err := l.Best(t.Context(), rig.Module("a.so"), locate.SymFirst)
	if err != nil {
		t.Fatal(err)
	}
	found.Close()
}

func TestMostSevereFaultIsReported(t *testing.T) {
	missing := serve(t, http.NotFound)
	denied := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) })
	broken := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
	var c rig.Clock
	for _, x := range []struct {
		servers []*server
		want    fault.Kind
	}{
		{[]*server{missing}, fault.NotFound},
		{[]*server{denied, missing}, fault.Denied},
		{[]*server{missing, broken, denied}, fault.Transport},
		{nil, fault.NotFound},
	} {
		_, _, err := locator(t, locate.Config{}, &c, x.servers...).Best(t.Context(), rig.Module("a.so"), locate.SymFirst)
		if fault.KindOf(err) != x.want {
			t.Errorf("got %v, want kind %v", err, x.want)
		}
	}
}

func TestConcurrentCallersShareOneDownload(t *testing.T) {
	wait := make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		<-wait
		text(symbols(id, "shared"))(w, r)
	})
	var c rig.Clock
	l := locator(t, locate.Config{}, &c, s)
	const callers = 50
	var wg, all sync.WaitGroup
	all.Add(callers)
	for range callers {
		wg.Go(func() {
			found, _, err := l.Best(t.Context(), rig.Module("a.so"), locate.SymFirst)
			all.Done()
			if err != nil {
				t.Error(err)
				return
			}
			all.Wait() // a caller after the last Close fetches again
			obj, src, err := found.File(t.Context())
			if err != nil || src.Size() == 0 || len(obj.Lookup(nil, 0x1008)) != 1 {
				t.Errorf("the shared file does not answer: %v", err)
			}
			found.Close()
		})
	}
	close(wait)
	wg.Wait()
	if n := s.asked.Load(); n != 1 {
		t.Errorf("got %d requests, want 1", n)
	}
}

func TestFetchGoesOnAfterItsCallerLeft(t *testing.T) {
	wait := make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		<-wait
		http.NotFound(w, r)
	})
	var c rig.Clock
	l := locator(t, locate.Config{}, &c, s)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, _, err := l.Best(ctx, rig.Module("a.so"), locate.SymFirst)
	if fault.KindOf(err) != fault.Timeout {
		t.Fatalf("got %v", err)
	}
	close(wait)
	_, _, _ = l.Best(t.Context(), rig.Module("a.so"), locate.SymFirst) // waits for the fetch, unless it has ended
	_, trail, _ := l.Best(t.Context(), rig.Module("a.so"), locate.SymFirst)
	if !trail[0].Cached || trail[0].Fault.Kind != fault.NotFound {
		t.Errorf("got %+v, want a remembered NotFound", trail[0])
	}
}

func TestKeptOriginalIsNotFetchedAgain(t *testing.T) {
	for _, x := range []struct {
		keep  string
		reads bool
		asked int32
	}{{"none", true, 3}, {"read", false, 3}, {"", true, 1}, {"all", false, 1}} {
		s := serve(t, text(symbols(id, "kept")))
		var c rig.Clock
		l := locator(t, locate.Config{KeepOriginals: x.keep}, &c, s)
		for i := range 3 {
			found, trail, err := l.Best(t.Context(), rig.Module("a.so"), locate.SymFirst)
			if err != nil {
				t.Fatal(err)
			}
			obj, _, err := found.File(t.Context())
			if err != nil || len(obj.Lookup(nil, 0x1000)) != 1 {
				t.Fatalf("%q: %v", x.keep, err)
			}
			if x.reads {
				found.Keep()
			}
			if trail[0].Cached != (i > 0) {
				t.Errorf("%q: trail %+v", x.keep, trail[0])
			}
			found.Close()
		}
		if n := s.asked.Load(); n != x.asked {
			t.Errorf("keep_originals=%q: asked %d times, want %d", x.keep, n, x.asked)
		}
	}
}

func TestModuleWithoutIdentityIsNotRequested(t *testing.T) {
	s := serve(t, text(symbols(id, "f")))
	var c rig.Clock
	l := locator(t, locate.Config{}, &c, s)
	for _, m := range []ident.Module{{}, {DebugFile: "a.so"}, {DebugIDText: id}, {DebugFile: "a.so", DebugIDText: "ABCDE"}} {
		if _, _, err := l.Best(t.Context(), m, locate.SymFirst); fault.KindOf(err) != fault.NotFound {
			t.Errorf("%+v: got %v", m, err)
		}
	}
	if n := s.asked.Load(); n != 0 {
		t.Errorf("asked %d times", n)
	}
}

func TestFileInUseIsNotFetchedAgain(t *testing.T) {
	s := serve(t, text(symbols(id, "f")))
	var c rig.Clock
	l := locator(t, locate.Config{KeepOriginals: "none"}, &c, s)
	first, _, err := l.Best(t.Context(), rig.Module("a.so"), locate.SymFirst)
	if err != nil {
		t.Fatal(err)
	}
	second, trail, err := l.Best(t.Context(), rig.Module("a.so"), locate.SymFirst)
	if err != nil {
		t.Fatal(err)
	}
	first.Close()
	obj, _, err := second.File(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if n := len(obj.Lookup(nil, 0x1000)); n != 1 {
		t.Errorf("the second: %d frames, want 1", n)
	}
	if !trail[0].Cached || trail[0].Attempt.Bytes != 0 {
		t.Errorf("the second was fetched: %+v", trail[0])
	}
	second.Close()
	if n := s.asked.Load(); n != 1 {
		t.Errorf("asked %d times", n)
	}
	third, _, err := l.Best(t.Context(), rig.Module("a.so"), locate.SymFirst)
	if err != nil || s.asked.Load() != 1 {
		t.Fatalf("asked %d times for what is known, %v", s.asked.Load(), err)
	}
	if _, _, err := third.File(t.Context()); err != nil || s.asked.Load() != 2 { // it was released
		t.Errorf("asked %d times, %v", s.asked.Load(), err)
	}
	third.Close()
}

// damage flips a bit in the middle of the only file of a kind.
func damage(t *testing.T, dir, kind string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "cache", kind, "*", "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	body, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	body[len(body)/2] ^= 4
	if err := os.WriteFile(files[0], body, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestDamagedMetaIsReplaced(t *testing.T) {
	s := serve(t, text(symbols(id, "f")))
	var c rig.Clock
	dir := t.TempDir()
	l := rig.Open(t, rig.Options{Dir: dir, Now: c.Now, Sources: over(t, s)}).Locator
	for i := range 2 {
		found, trail, err := l.Best(t.Context(), rig.Module("a.so"), locate.SymFirst)
		if err != nil {
			t.Fatal(err)
		}
		if trail[0].Cached || found.Module.DebugID.Breakpad() != id {
			t.Errorf("round %d: %+v, %+v", i, trail[0], found.Meta)
		}
		found.Record(t.Context(), [32]byte{1})
		found.Close()
		damage(t, dir, "meta")
	}
}

func TestDamagedOriginalIsFetchedAgainAtOnce(t *testing.T) {
	s := serve(t, text(symbols(id, "f")))
	var c rig.Clock
	dir := t.TempDir()
	l := rig.Open(t, rig.Options{Dir: dir, Now: c.Now, Sources: over(t, s), Locate: locate.Config{KeepOriginals: "all"}}).Locator
	for round := range int32(2) {
		found, _, err := l.Best(t.Context(), rig.Module("a.so"), locate.SymFirst)
		if err != nil {
			t.Fatal(err)
		}
		if obj, _, err := found.File(t.Context()); err != nil || len(obj.Lookup(nil, 0x1000)) != 1 || s.asked.Load() != round+1 {
			t.Errorf("round %d: asked %d times, %v", round, s.asked.Load(), err)
		}
		found.Close()
		damage(t, dir, "objects")
	}
}

func TestEachFaultIsLoggedOnce(t *testing.T) {
	missing := serve(t, http.NotFound)
	denied := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) })
	wrong := serve(t, text(symbols("11112222333344445555666677778888A", "other")))
	var c rig.Clock
	var log bytes.Buffer
	l := rig.Open(t, rig.Options{Now: c.Now, Log: slog.New(slog.NewTextHandler(&log, nil)), Sources: over(t, missing, denied, wrong)}).Locator
	for range 3 {
		if _, _, err := l.Best(t.Context(), rig.Module("a.so"), locate.SymFirst); err == nil {
			t.Fatal("something was found")
		}
	}
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(lines) != 2 {
		t.Fatalf("the log:\n%s", log.String())
	}
	for i, wants := range [][]string{
		{"level=WARN", "source=s2", denied.URL + "/a.so/" + id + "/a.so.sym", "kind=denied", "status=403"},
		{"level=WARN", "source=s3", wrong.URL + "/a.so/" + id + "/a.so.sym", "kind=malformed", fault.Mismatch},
	} {
		for _, want := range wants {
			if !strings.Contains(lines[i], want) {
				t.Errorf("line %d says nothing of %s: %s", i, want, lines[i])
			}
		}
		if n := strings.Count(" "+lines[i], " time="); n != 1 {
			t.Errorf("line %d has %d times: in JSON the last one is the time of the line: %s", i, n, lines[i])
		}
	}
}

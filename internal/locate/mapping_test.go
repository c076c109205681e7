package locate_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/locate"
	"symbolon/internal/source"
	"symbolon/internal/trial/rig"
)

const (
	ownID   = "01234567-89ab-cdef-0123-456789abcdef"
	otherID = "11111111-89ab-cdef-0123-456789abcdef"
)

// game returns a program with mappings on servers.
func game() ident.Module {
	m := rig.Module("a.so")
	m.Type = ident.TypeMachO
	return m
}

// lines is a mapping of the only line of unity, to a file of C#.
func lines(file string) string { return fmt.Sprintf(`{"/a.cpp":{%q:{"5":7}}}`, file) }

// of returns a mapping with the id of its binary.
func of(id string) string { return `{"__debug-id__":` + id + `,` + lines(id)[1:] }

// unity is a server of the unified layout that counts how often it is asked for
// a mapping.
type unity struct {
	*httptest.Server
	mu    sync.Mutex
	asked int
	do    http.HandlerFunc // for the mapping
}

func newUnity(t *testing.T, file bool, do http.HandlerFunc) *unity {
	u := &unity{do: do}
	u.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case file && strings.HasSuffix(r.URL.Path, "/breakpad"):
			fmt.Fprintf(w, "MODULE Linux x86_64 %s a.so\nFILE 0 /a.cpp\nFUNC 1000 10 0 f\n1000 10 5 0\n", id)
		case strings.HasSuffix(r.URL.Path, "/il2cpp"):
			u.mu.Lock()
			u.asked++
			do := u.do
			u.mu.Unlock()
			do(w, r)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(u.Close)
	return u
}

// will have the server answer otherwise.
func (u *unity) will(do http.HandlerFunc) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.do = do
}

// count is how often it was asked for a mapping.
func (u *unity) count() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.asked
}

// places are the sources of some servers.
func places(t *testing.T, servers ...*unity) []source.Source {
	t.Helper()
	var urls []string
	for _, s := range servers {
		urls = append(urls, s.URL)
	}
	return rig.Web(t, source.Config{Layout: source.Layout{Type: source.Unified}}, urls...)
}

// where finds the file of the game, and tells where the line is that it has.
func where(t *testing.T, l *locate.Locator) (place string, found *locate.Found) {
	t.Helper()
	found, trail, err := l.Best(t.Context(), game(), locate.Debug)
	if err != nil {
		t.Fatal(err, trail)
	}
	t.Cleanup(found.Close)
	obj, _, err := found.File(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range obj.Lookup(nil, 0x1000) {
		place += fmt.Sprintf("%s:%d", obj.AppendText(nil, f.File), f.Line)
	}
	return place, found
}

// verdicts are those on the places that were asked for a mapping.
func verdicts(f *locate.Found) string {
	var out []string
	for _, t := range f.Others() {
		word := "usable"
		if t.Fault != nil {
			word = t.Fault.Kind.String()
		}
		if t.Cached {
			word += " (remembered)"
		}
		if t.Chosen {
			word += " *"
		}
		out = append(out, t.Source+": "+word)
	}
	return strings.Join(out, ", ")
}

// TestSourcesAreAskedForMappingsConcurrently has four sources, which answer
// when all have been asked. The first in their order with a mapping is
// used, although it is the last to answer.
func TestSourcesAreAskedForMappingsConcurrently(t *testing.T) {
	var all sync.WaitGroup
	all.Add(4)
	answered := make(chan struct{})
	do := func(answer http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			all.Done()
			all.Wait()
			answer(w, r)
		}
	}
	slow := func(w http.ResponseWriter, _ *http.Request) {
		<-answered
		fmt.Fprint(w, lines("second.cs"))
	}
	last := func(w http.ResponseWriter, _ *http.Request) {
		defer close(answered)
		fmt.Fprint(w, lines("last.cs"))
	}
	l := locateIn(t, locate.Config{}, &rig.Clock{}, places(t, newUnity(t, false, do(http.NotFound)), newUnity(t, true, do(slow)), newUnity(t, true, do(http.NotFound)), newUnity(t, true, do(last))))
	got, found := where(t, l)
	if v := verdicts(found); got != "second.cs:7" || v != "s1: not found, s2: usable *, s3: not found, s4: usable" {
		t.Errorf("%s; %s", got, v)
	}
}

// TestInvalidMappingIsSkipped has things in the first source that must not
// be used, and a mapping in the second.
func TestInvalidMappingIsSkipped(t *testing.T) {
	for text, used := range map[string]bool{
		"{}": false, `{"/a.cpp":{}}`: false, "<html>": false, of(`{"` + otherID + `":{}}`): false, of(`"` + otherID + `"`): false, of(`"nonsense"`): false,
		of(`{"` + ownID + `":{}}`): true, of(`"` + ownID + `"`): true, of(`{"x":{},"` + ownID + `":{}}`): true, of(`{"` + ownID + `-a":{}}`): true,
		of(`{"67452301-ab89-efcd-0123-456789abcdef":{}}`): true, of("{}"): true, of("7"): true,
	} {
		first := newUnity(t, true, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) })
		l := locateIn(t, locate.Config{KeepOriginals: "all"}, &rig.Clock{}, places(t, first, newUnity(t, false, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, lines("next.cs")) })))
		for _, again := range []string{"", " (remembered)"} {
			got, found := where(t, l)
			want := "s1: malformed" + again + ", s2: usable" + again + " *"
			if used {
				want = "s1: usable" + again + " *, s2: usable" + again
			}
			if v := verdicts(found); (got != "next.cs:7") != used || v != want {
				t.Errorf("%s: %s; %s", text, got, v)
			}
			if named := strings.Contains(text, "debug-id") && !used; named && !strings.Contains(found.Others()[0].Fault.Detail, fault.Mismatch) {
				t.Errorf("%s: %v", text, found.Others()[0].Fault)
			}
			found.Close()
		}
		if n := first.count(); n != 1 {
			t.Errorf("%s: asked for %d times", text, n)
		}
	}
}

// TestChangedMappingIsUsed requests a mapping again when it is invalidated, and,
// if its source has validators, after a day.
func TestChangedMappingIsUsed(t *testing.T) {
	for _, tagged := range []bool{true, false} {
		text := "one.cs"
		u := newUnity(t, true, nil)
		u.will(func(w http.ResponseWriter, r *http.Request) {
			if tagged {
				w.Header().Set("ETag", `"`+text+`"`)
				if r.Header.Get("If-None-Match") == `"`+text+`"` {
					w.WriteHeader(http.StatusNotModified)
					return
				}
			}
			fmt.Fprint(w, lines(text))
		})
		var c rig.Clock
		l := locateIn(t, locate.Config{KeepOriginals: "all"}, &c, places(t, u))
		tags := map[[32]byte]bool{}
		for i, step := range []struct {
			what   string
			later  time.Duration
			change func()
			asked  int
			want   string
		}{
			{"at first", 0, func() {}, 1, "one.cs:7"},
			{"soon", time.Hour, func() { text = "two.cs" }, 1, "one.cs:7"},
			{"forgotten", time.Minute, func() { _ = l.Invalidate(t.Context(), game()) }, 2, "two.cs:7"},
			{"not at once again", time.Minute, func() { text = "three.cs" }, 2, "two.cs:7"},
			{"a day later", 25 * time.Hour, func() {}, 3, "three.cs:7"},
			{"the same", 25 * time.Hour, func() {}, 4, "three.cs:7"},
			{"no answer", 25 * time.Hour, func() { u.will(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }) }, 5, "three.cs:7"},
		} {
			c.Advance(step.later)
			step.change()
			got, found := where(t, l)
			tags[found.Aux()] = true
			if !tagged && i > 3 {
				step.asked, step.want = 2, "two.cs:7" // without a validator
			}
			if n := u.count(); got != step.want || n != step.asked {
				t.Errorf("tagged %t, %s: %s, asked %d times; want %s, %d", tagged, step.what, got, n, step.want, step.asked)
			}
			if end := l.Freshness(time.Now(), found, nil, nil).Until; tagged != !end.IsZero() {
				t.Errorf("tagged %t, %s: until %v", tagged, step.what, end)
			}
			found.Close()
		}
		if want := map[bool]int{true: 3, false: 2}[tagged]; len(tags) != want {
			t.Errorf("tagged %t: %d tables", tagged, len(tags))
		}
	}
}

// TestFileIsUsedWithoutItsMapping has a mapping remembered, and its source answer
// otherwise when the file is opened.
func TestFileIsUsedWithoutItsMapping(t *testing.T) {
	for what, c := range map[string]struct {
		do   http.HandlerFunc
		want string
	}{
		"the same":    {text(lines("one.cs")), "one.cs:7"},
		"another":     {text(lines("two.cs")), "two.cs:7"},
		"gone":        {http.NotFound, "/a.cpp:5"},
		"damaged":     {text("{"), "/a.cpp:5"},
		"for another": {text(of(`"` + otherID + `"`)), "/a.cpp:5"},
	} {
		u := newUnity(t, true, text(of(`"`+ownID+`"`)))
		if what == "the same" {
			u.will(c.do)
		}
		l := locateIn(t, locate.Config{}, &rig.Clock{}, places(t, u))
		_, found := where(t, l)
		before := found.Aux()
		found.Close()
		u.will(c.do)
		for range 2 {
			got, found := where(t, l)
			if same := found.Aux() == before; got != c.want || same != (what == "the same") || (found.Aux() == [32]byte{}) != (c.want == "/a.cpp:5") {
				t.Errorf("%s: %s, the same %t", what, got, same)
			}
			if end := l.Freshness(time.Now(), found, nil, nil).Until; end.IsZero() != (c.want != "/a.cpp:5") {
				t.Errorf("%s: until %v", what, end)
			}
			found.Close()
		}
		if what == "another" { // it is known by now which one it is
			found, _, err := l.Best(t.Context(), game(), locate.Debug)
			if err != nil {
				t.Fatal(err)
			}
			known := found.Aux()
			found.Close()
			if _, opened := where(t, l); opened.Aux() != known {
				t.Error("the other one is not remembered")
			}
		}
	}
}

// TestMappingIsBounded has a mapping of 64 MiB and a space.
func TestMappingIsBounded(t *testing.T) {
	u := newUnity(t, true, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, lines("large.cs"))
		_, _ = io.Copy(w, io.LimitReader(blanks{}, 64<<20)) // who gives up closes the connection
	})
	got, found := where(t, locateIn(t, locate.Config{}, &rig.Clock{}, places(t, u)))
	if v := verdicts(found); got != "/a.cpp:5" || v != "s1: malformed" {
		t.Errorf("%s; %s", got, v)
	}
}

type blanks struct{}

func (blanks) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// TestMappingWaitsForMemory has all memory for mappings in use.
func TestMappingWaitsForMemory(t *testing.T) {
	u := newUnity(t, true, text(lines("one.cs")))
	memory := bin.NewBudget(1 << 10)
	l := rig.Open(t, rig.Options{Sources: places(t, u), Memory: memory}).Locator
	release, err := memory.Acquire(t.Context(), 1<<10)
	if err != nil {
		t.Fatal(err)
	}
	ctx, leave := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer leave()
	if found, _, err := l.Best(ctx, game(), locate.Debug); found == nil {
		if fault.KindOf(err) != fault.Timeout {
			t.Error(err)
		}
	} else {
		t.Error("it was read without memory")
		found.Close()
	}
	release()
	if got, _ := where(t, l); got != "one.cs:7" || memory.HasWaiters() {
		t.Error(got)
	}
	release, err = memory.Acquire(t.Context(), 1<<10)
	if err != nil {
		t.Error("its memory was not released")
	} else {
		release()
	}
}

// TestPlaceOfFileIsNotAskedForItsMapping has a layout with one place for a binary, whatever
// is wanted of it.
func TestPlaceOfFileIsNotAskedForItsMapping(t *testing.T) {
	var asked atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1); strings.HasSuffix(r.URL.Path, "/CAFE/symbols") {
			fmt.Fprint(w, symbols(id, "f"))
		} else {
			http.NotFound(w, r)
		}
	}))
	defer s.Close()
	l := locateIn(t, locate.Config{}, &rig.Clock{}, rig.Web(t, source.Config{Layout: source.Layout{Type: source.SlashSymbols}}, s.URL))
	m := game()
	m.CodeFile, m.CodeID = "a", ident.ParseCodeID("cafe")
	for range 2 {
		found, trail, err := l.Best(t.Context(), m, locate.Debug)
		if err != nil {
			t.Fatal(err, trail)
		}
		if _, _, err := found.File(t.Context()); err != nil || asked.Load() > 6 || len(found.Others()) > 0 {
			t.Errorf("%v, asked %d times, %+v", err, asked.Load(), found.Others())
		}
		found.Close()
	}
}

// clumsy is a source that throws when it is asked for a mapping.
type clumsy struct {
	source.Source
}

func (s clumsy) Fetch(ctx context.Context, c source.Candidate, w io.Writer) (source.Attempt, error) {
	if c.Kind == source.IL2CPP {
		panic("a mapping")
	}
	return s.Source.Fetch(ctx, c, w)
}

// TestPanickingSourceCostsItsMapping goes on with the next source.
func TestPanickingSourceCostsItsMapping(t *testing.T) {
	list := places(t, newUnity(t, true, http.NotFound), newUnity(t, false, text(lines("one.cs"))))
	list[0] = clumsy{list[0]}
	got, found := where(t, locateIn(t, locate.Config{}, &rig.Clock{}, list))
	if v := verdicts(found); got != "one.cs:7" || v != "s1: internal, s2: usable *" {
		t.Errorf("%s; %s", got, v)
	}
	if got, _ := where(t, locateIn(t, locate.Config{}, &rig.Clock{}, list[:1])); got != "/a.cpp:5" {
		t.Errorf("without another source: %s", got)
	}
}

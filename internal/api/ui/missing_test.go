package ui_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"symbolon/internal/ident"
	"symbolon/internal/missing"
	"symbolon/internal/store"
	"symbolon/internal/token"
)

// report is the JSON of the page of missing modules.
type report struct {
	Modules  int            `json:"modules"`
	Requests int64          `json:"requests"`
	PerHour  []float64      `json:"per_hour"`
	Rows     []*missing.Row `json:"rows"`
	Next     string         `json:"next"`
}

// miss notes a request for the nth module.
func (s *site) miss(n int, name string, from missing.Client, reason string) {
	id, err := ident.ParseBreakpadID(fmt.Sprintf("%032X1", n+1))
	if err != nil {
		panic(err)
	}
	s.log.Note(from, ident.Module{DebugFile: name, DebugID: id}, reason)
}

func TestMissingModulesAreFiltered(t *testing.T) {
	s := newSite(t, store.Config{})
	s.miss(1, "jar.pdb", missing.Client{Door: "mozilla", Product: "Firefox"}, "not found")
	s.miss(1, "jar.pdb", missing.Client{Door: "mozilla", Product: "Firefox"}, "not found")
	s.miss(2, "lid.pdb", missing.Client{Door: "debuginfod"}, "denied")
	for query, want := range map[string][2]int{"": {2, 3}, "q=JAR": {1, 2}, "q=firefox": {1, 2}, "q=denied": {1, 1}, "q=nothing": {0, 0}, "q=000021&since=30d": {1, 2}, "q=00000031&since=1h": {1, 1}} {
		r := get[report](s, "root", "/ui/missing?"+query)
		sum := 0.0
		for _, n := range r.PerHour {
			sum += n
		}
		if got := [2]int{r.Modules, int(r.Requests)}; got != want || int(sum) != want[1] || len(r.Rows) != want[0] {
			t.Errorf("%q: got %d modules and %d requests, %v in all hours, want %d", query, got[0], got[1], sum, want)
		}
	}
	s.Ask("root", http.MethodGet, "/ui/missing?since=9y", "").Expect(http.StatusBadRequest, "invalid since")
	s.Ask("root", http.MethodGet, "/ui/missing?from=-1", "").Expect(http.StatusBadRequest, "invalid from")
	s.Ask("reader", http.MethodGet, "/ui/missing", "").Expect(http.StatusForbidden)
	csv := s.Ask("root", http.MethodGet, "/ui/missing?format=csv&q=lid", "")
	csv.Expect(http.StatusOK, "debug_file,debug_id", "lid.pdb,")
	if strings.Contains(csv.Body, "jar.pdb") || !strings.HasPrefix(csv.Header.Get("Content-Disposition"), "attachment;") {
		t.Errorf("the CSV is %q, %v", csv.Body, csv.Header)
	}
	s.Ask("root", http.MethodGet, "/ui/missing", "", "Accept", "text/html").Expect(http.StatusOK,
		`href="../ui/modules/jar.pdb/000000000000000000000000000000021"`, "<polyline")
}

func TestMissingModulesOfOtherProjectsAreHidden(t *testing.T) {
	s := newSite(t, store.Config{})
	if err := s.Store.EnsureProject(t.Context(), "app"); err != nil {
		t.Fatal(err)
	}
	s.miss(1, "secret.pdb", missing.Client{Door: "sentry", Project: "app"}, "not found")
	s.miss(2, "scoped.pdb", missing.Client{Door: "sentry", Project: "a-scope"}, "not found")
	s.miss(3, "of-anybody.pdb", missing.Client{Door: "mozilla"}, "not found")
	if err := s.Store.SetProject(t.Context(), "web", false); err != nil {
		t.Fatal(err)
	}
	s.miss(4, "own.pdb", missing.Client{Door: "sentry", Project: "web"}, "not found")
	if r := get[report](s, "web", "/ui/missing"); len(r.Rows) != 1 || r.Requests != 1 || r.Rows[0].DebugFile != "own.pdb" {
		t.Errorf("an admin of another project sees %+v", r)
	}
	if r := get[report](s, "root", "/ui/missing"); len(r.Rows) != 4 {
		t.Errorf("an admin of all projects sees %+v", r)
	}
}

func TestRowsLinkToTheirModule(t *testing.T) {
	s := newSite(t, store.Config{})
	id, err := ident.ParseBreakpadID("44E4EC8C2F41492B9369D6B9A059577C2")
	if err != nil {
		t.Fatal(err)
	}
	build := "8e4c6d2f8a4b4f6c8a3b2d1e0f9a8b7c6d5e4f30"
	s.log.Note(missing.Client{}, ident.Module{DebugFile: "xul.pdb", DebugID: id, CodeFile: "xul.dll", CodeID: ident.ParseCodeID("5f00ab12000")}, "")
	s.log.Note(missing.Client{}, ident.Module{CodeID: ident.ParseCodeID(build)}, "")
	s.log.Note(missing.Client{}, ident.Module{DebugFile: "lib/a.so", DebugID: id, CodeID: ident.ParseCodeID(build)}, "")
	s.Ask("root", http.MethodGet, "/ui/missing", "", "Accept", "text/html").Expect(http.StatusOK,
		`"../ui/modules/xul.pdb/44E4EC8C2F41492B9369D6B9A059577C2?code=`+url.QueryEscape("xul.dll/5f00ab12000")+`"`,
		`"../ui/modules/unknown/`+build+`"`,
		`"../ui/modules/lib/a.so/44E4EC8C2F41492B9369D6B9A059577C2"`)
}

func TestAPageOfMissingModulesHasOneHundredRows(t *testing.T) {
	s := newSite(t, store.Config{})
	for n := range 10_000 {
		s.miss(n, fmt.Sprintf("a-library-with-a-name-%d.pdb", n), missing.Client{Door: "mozilla", Product: "FirefoxProfiler"}, "not found: no source has the file")
	}
	r := get[report](s, "root", "/ui/missing?q=name&since=7d")
	if r.Modules != 10_000 || len(r.Rows) != 100 || r.Next != "?from=100&q=name&since=7d" {
		t.Errorf("%d rows of %d modules, next %q", len(r.Rows), r.Modules, r.Next)
	}
	if last := get[report](s, "root", "/ui/missing?from=9990"); len(last.Rows) != 10 || last.Next != "" {
		t.Errorf("the last page has %d rows and %q", len(last.Rows), last.Next)
	}
	if beyond := get[report](s, "root", "/ui/missing?from=99999"); len(beyond.Rows) != 0 {
		t.Errorf("beyond the end are %d rows", len(beyond.Rows))
	}
	if n := len(s.Ask("root", http.MethodGet, "/ui/missing", "", "Accept", "text/html").Body); n > 100<<10 {
		t.Errorf("the page has %d bytes", n)
	}
}

func TestHostileNamesOfFilesAreShownHarmlessly(t *testing.T) {
	s := newSite(t, store.Config{})
	forHeader := func(r rune) rune { // of a part of a form
		if r < ' ' {
			return -1
		}
		return r
	}
	var files [][2]string
	for i, text := range hostile {
		s.miss(i, text, missing.Client{Door: "sentry", Product: text, Project: text}, text)
		name := strings.Map(forHeader, text)
		sym := fmt.Sprintf("MODULE Linux x86_64 %032X0 %s\nPUBLIC 10 0 f\n", i+1, name[:min(len(name), 2000)])
		files = append(files, [2]string{name[:min(len(name), 60<<10)] + "/x.sym", sym}, [2]string{name[:min(len(name), 60<<10)], "not a debug file " + text})
	}
	u := s.upload(t, files...)
	if u.Accepted != len(hostile) || u.Refused != len(hostile) {
		t.Errorf("%d files are accepted and %d refused", u.Accepted, u.Refused)
	}
	for _, path := range []string{"/ui/missing", "/ui/uploads", "/ui/uploads/" + u.Upload} {
		a := s.Ask("root", http.MethodGet, path, "", "Accept", "text/html")
		a.Expect(http.StatusOK, "alert(1)")
		checkHarmless(t, a.Body)
	}
	_, added, err := s.ring.Add(t.Context(), token.Token{Grant: token.Grant{Name: strings.Join(hostile[:5], " "), Labels: map[string]string{hostile[0]: hostile[1]}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{"?id=", "?ask=limit&id=", "?ask=revoke&id="} {
		a := s.Ask("root", http.MethodGet, "/ui/tokens"+query+added.ID, "", "Accept", "text/html")
		a.Expect(http.StatusOK, "alert(1)")
		checkHarmless(t, a.Body)
	}
}

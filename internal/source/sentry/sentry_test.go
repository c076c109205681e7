package sentry_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/source"
	"symbolon/internal/source/sentry"
	"symbolon/internal/source/sourcetest"
	"symbolon/internal/source/web"
)

// project is a project of Sentry on a real server.
type project struct {
	t     *testing.T
	mu    sync.Mutex
	lists map[string][]string // entries of lists by debug id and by code id
	files map[string][]byte   // by id
	token string              // that must be shown
	pages int                 // entries on a page, if they are paged
	asked []string            // queries
	fail  int                 // status of lists, if they fail
}

func (p *project) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, r.URL.RawQuery)
	q := r.URL.Query()
	switch id := q.Get("id"); {
	case p.token != "" && r.Header.Get("Authorization") != p.token && r.Header.Get("Cookie") != p.token:
		http.Error(w, "you said "+r.Header.Get("Authorization")+r.Header.Get("Cookie"), http.StatusForbidden)
	case id != "":
		data, ok := p.files[id]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(data)))
		_, _ = w.Write(data)
	case p.fail != 0:
		w.WriteHeader(p.fail)
	default:
		p.list(w, r, append(slices.Clone(p.lists[q.Get("debug_id")]), p.lists[q.Get("code_id")]...))
	}
}

func (p *project) list(w http.ResponseWriter, r *http.Request, entries []string) {
	if from, _ := strconv.Atoi(r.URL.Query().Get("cursor")); p.pages > 0 {
		to := min(from+p.pages, len(entries))
		w.Header().Add("Link", `<http://169.254.169.254/?cursor=0>; rel="previous"; results="false"; cursor="0"`)
		w.Header().Add("Link", fmt.Sprintf(`<http://169.254.169.254/?cursor=%d>; rel="next"; results="%v"; cursor="%d"`, to, to < len(entries), to))
		entries = entries[from:to]
	}
	fmt.Fprintf(w, "[%s]", strings.Join(entries, ","))
}

func entry(id, symbolType string) string {
	text, err := json.Marshal(map[string]any{"id": id, "symbolType": symbolType, "objectName": "x", "size": 5})
	if err != nil {
		panic(err) // texts are always JSON
	}
	return string(text)
}

func serve(t *testing.T, p *project) string {
	p.t = t
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	return server.URL
}

type options struct {
	cfg     source.Config
	guarded bool
	life    time.Duration
	log     *slog.Logger
}

func open(t *testing.T, address string, o options) *sentry.Source {
	t.Helper()
	cfg := o.cfg
	cfg.ID, cfg.Type, cfg.URL = "project", source.Sentry, source.NewURL(address)
	if cfg.Token.IsZero() && cfg.Cookies.IsZero() {
		cfg.Token = bin.NewSecret("any")
	}
	if o.log == nil {
		o.log = slog.New(slog.DiscardHandler)
	}
	client := web.NewClient(web.Config{MaxTries: 1, DenyListThreshold: -1}, time.Now, o.log)
	t.Cleanup(client.Close)
	server, err := web.New(client, cfg)
	if o.guarded {
		server, err = web.NewGuarded(client, cfg, client.Share())
	}
	if err != nil {
		t.Fatal(err)
	}
	s, err := sentry.New(cfg, sentry.Server{Ask: server.Ask, Key: server.Key(), Shelf: client.Shelf(o.guarded), Life: max(o.life, time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSource(t *testing.T) {
	sourcetest.Files(t, func(t *testing.T, files map[string][]byte) source.Source {
		p := &project{files: map[string][]byte{}}
		for path, data := range files {
			p.files[strings.Split(path, "/")[1]] = data
		}
		p.t = t
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if text := r.URL.Query().Get("debug_id"); text != "" {
				id, err := ident.ParseDebugID(text)
				if err != nil {
					t.Error(err)
				}
				fmt.Fprintf(w, "[%s]", entry(id.Breakpad(), "breakpad"))
				return
			}
			p.ServeHTTP(w, r)
		}))
		t.Cleanup(server.Close)
		return open(t, server.URL+"/files/dsyms/", options{})
	})
}

var (
	debugID = must(ident.ParseDebugID("dd247e48-0d04-823d-3fa4-4664a0e46575"))
	elf     = ident.Module{Type: ident.TypeELF, DebugID: debugID, CodeID: "487e24dd"}
	all     = []string{source.ELFCode, source.Breakpad, source.MachDebug, source.PDB, source.ELFDebug, source.Beside, source.SourceBundle, source.PE}
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// named is the ids and kinds of the candidates for a module.
func named(t *testing.T, s source.Source, m ident.Module, kinds []string) (string, error) {
	t.Helper()
	list, err := s.Candidates(t.Context(), m, kinds)
	var out []string
	for _, c := range list {
		if c.Location != "sentry://project_debug_file/"+c.Path || c.Source != "project" || !strings.Contains(c.Key, c.Location) || c.Public || c.Local {
			t.Errorf("candidate %+v", c)
		}
		out = append(out, c.Path+":"+c.Kind)
	}
	return strings.Join(out, " "), err
}

func wantNamed(t *testing.T, s source.Source, kinds []string, want string) {
	t.Helper()
	if got, err := named(t, s, elf, kinds); got != want || err != nil {
		t.Errorf("got %q, error %v, want %q", got, err, want)
	}
}

func TestListIsAskedForOnceForAllKinds(t *testing.T) {
	p := &project{lists: map[string][]string{
		debugID.String(): {entry("1", "elf"), entry("2", "sourcebundle"), entry("3", "breakpad"), entry("4", "dartsymbolmap"), `{"id":5,"symbolType":"elf"}`, `{"symbolType":"elf"}`, entry("a\nb", "elf"), entry(strings.Repeat("9", 101), "elf"), `null`},
		"487e24dd":       {entry("1", "elf"), entry("6", "elf")},
	}}
	s := open(t, serve(t, p)+"/x/?own=1", options{})
	wantNamed(t, s, all, "1:elf_code 6:elf_code 3:breakpad 2:sourcebundle")
	wantNamed(t, s, []string{source.ELFDebug}, "1:elf_debug 6:elf_debug")
	wantNamed(t, s, []string{source.Beside}, "")
	if want := []string{"own=1&code_id=487e24dd&debug_id=" + debugID.String()}; !slices.Equal(p.asked, want) {
		t.Errorf("asked %q, want %q", p.asked, want)
	}
	if got, err := named(t, s, ident.Module{DebugFile: "a"}, all); got != "" || err != nil || len(p.asked) != 1 {
		t.Errorf("a module without ids: %q, %v, asked %q", got, err, p.asked)
	}
}

func TestFiltersHoldForProjects(t *testing.T) {
	p := &project{lists: map[string][]string{debugID.String(): {entry("1", "elf"), entry("3", "breakpad")}}}
	s := open(t, serve(t, p), options{cfg: source.Config{Filters: source.Filters{FileTypes: []string{source.Breakpad}}}})
	wantNamed(t, s, all, "3:breakpad")
}

func TestPagesAreFollowed(t *testing.T) {
	p := &project{pages: 20, lists: map[string][]string{}}
	for i := range 50 {
		p.lists[debugID.String()] = append(p.lists[debugID.String()], entry(fmt.Sprint("f", i), "elf"))
	}
	s := open(t, serve(t, p), options{})
	got, err := named(t, s, elf, all)
	if n := len(strings.Fields(got)); n != 50 || err != nil {
		t.Errorf("%d files, error %v", n, err)
	}
	if len(p.asked) != 3 || !strings.HasSuffix(p.asked[2], "&cursor=40") {
		t.Errorf("asked %q", p.asked)
	}
}

func TestEndlessListsEnd(t *testing.T) {
	for name, link := range map[string]func(n int) string{
		"always another": func(n int) string { return fmt.Sprintf(`<http://h/?cursor=%d>; rel="next"; results="true"`, n) },
		"in a circle":    func(n int) string { return `<http://h/?cursor=c>; rel="next"; results="true"; cursor="c"` },
	} {
		n := 0
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			n++
			w.Header().Set("Link", link(n))
			fmt.Fprintf(w, "[%s]", entry(fmt.Sprint(n), "elf"))
		}))
		t.Cleanup(server.Close)
		got, err := named(t, open(t, server.URL, options{}), elf, all)
		if err != nil || got == "" || n > 50 || name == "in a circle" && n != 2 {
			t.Errorf("%s: %d pages, %q, error %v", name, n, got, err)
		}
	}
}

func TestProjectWhoseListCannotBeHadHasNothing(t *testing.T) {
	p := &project{lists: map[string][]string{debugID.String(): {entry("1", "elf")}}, token: "Bearer sesame-canary"}
	address := serve(t, p)
	for name, cfg := range map[string]source.Config{
		"":               {Token: bin.NewSecret("sesame-canary")},
		"403 Forbidden":  {Token: bin.NewSecret("wrong-canary")},
		"403 Forbidden ": {Cookies: bin.NewSecret("session=canary-cookie; x=canary-other")},
	} {
		var log bytes.Buffer
		s := open(t, address, options{cfg: cfg, log: slog.New(slog.NewTextHandler(&log, nil))})
		got, err := named(t, s, elf, all)
		if name == "" {
			if got != "1:elf_code" || err != nil {
				t.Errorf("with the token: %q, %v", got, err)
			}
			continue
		}
		if fault.KindOf(err) != fault.NotFound || !strings.Contains(err.Error(), strings.TrimSpace(name)) || got != "" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		asked := len(p.asked)
		if _, again := named(t, s, elf, all); again == nil || len(p.asked) != asked {
			t.Errorf("%s: asked again at once: %v", name, again)
		}
		if text := fmt.Sprint(log.String(), err, s.Identity()); strings.Contains(text, "canary") || !strings.Contains(text, "cannot read the list of files of a source") {
			t.Errorf("%s: %s", name, text)
		}
	}
	for _, text := range []string{"", "{}", `"list"`, "[", "<html>", "[" + strings.Repeat(" ", 9<<20) + "]"} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) }))
		t.Cleanup(server.Close)
		if got, err := named(t, open(t, server.URL, options{}), elf, all); fault.KindOf(err) != fault.NotFound || got != "" {
			t.Errorf("%.20q: %q, %v", text, got, err)
		}
	}
}

func TestCookiesAreShown(t *testing.T) {
	p := &project{lists: map[string][]string{debugID.String(): {entry("1", "elf")}}, token: "session=a; x=b"}
	s := open(t, serve(t, p), options{cfg: source.Config{Cookies: bin.NewSecret("session=a; x=b")}})
	wantNamed(t, s, all, "1:elf_code")
}

func TestIdentityIsServerAndCredentials(t *testing.T) {
	seen := map[string]string{}
	for name, o := range map[string]struct {
		address string
		options
	}{
		"plain": {"http://h/a", options{}}, "slash": {"http://h/a/", options{}}, "query": {"http://h/a?b", options{}},
		"token": {"http://h/a", options{cfg: source.Config{Token: bin.NewSecret("t")}}}, "other token": {"http://h/a", options{cfg: source.Config{Token: bin.NewSecret("u")}}},
		"cookies": {"http://h/a", options{cfg: source.Config{Cookies: bin.NewSecret("t")}}}, "guarded": {"http://h/a", options{guarded: true}},
	} {
		id := open(t, o.address, o.options).Identity()
		if other, known := seen[id]; known {
			t.Errorf("%s and %s are both %s", name, other, id)
		}
		seen[id] = name
	}
}

// A project that came with a request reaches public addresses only, neither for
// the list nor for its files.
func TestProjectsOfRequestsAreGuarded(t *testing.T) {
	p := &project{lists: map[string][]string{debugID.String(): {entry("1", "elf")}}, files: map[string][]byte{"1": []byte("text")}}
	address := serve(t, p)
	s := open(t, address, options{guarded: true})
	if got, err := named(t, s, elf, all); got != "" || err == nil || !strings.Contains(err.Error(), "destination is restricted") {
		t.Errorf("list: %q, %v", got, err)
	}
	_, err := s.Fetch(t.Context(), source.Candidate{Path: "1"}, &bytes.Buffer{})
	if fault.KindOf(err) != fault.Transport || !strings.Contains(err.Error(), "destination is restricted") || len(p.asked) != 0 {
		t.Errorf("file: %v, asked %q", err, p.asked)
	}
}

// offline answers without a network, so that time passes without waiting.
func offline(answers func() (string, error)) sentry.Server {
	return sentry.Server{
		Key: "k", Life: time.Hour, Shelf: source.NewShelf(1<<20, time.Now, slog.New(slog.DiscardHandler)),
		Ask: func(_ context.Context, _ string, _ source.Candidate, w io.Writer) (source.Attempt, []string, error) {
			text, err := answers()
			if err == nil {
				_, err = w.Write([]byte(text))
			}
			return source.Attempt{}, nil, err
		},
	}
}

func TestListsHoldForATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		text, failure, n := "[]", error(nil), 0
		cfg := source.Config{ID: "project", Type: source.Sentry, URL: source.NewURL("http://h/"), Token: bin.NewSecret("any")}
		s := must(sentry.New(cfg, offline(func() (string, error) { n++; return text, failure })))
		step := func(wait time.Duration, want string, times int) {
			t.Helper()
			time.Sleep(wait)
			if wantNamed(t, s, all, want); n != times {
				t.Errorf("asked %d times, want %d", n, times)
			}
		}
		step(0, "", 1)
		text = "[" + entry("1", "elf") + "]"
		step(10*time.Minute-1, "", 1)
		step(1, "1:elf_code", 2)
		text = "[" + entry("2", "elf") + "]"
		step(time.Hour-1, "1:elf_code", 2)
		failure = fault.New(fault.Transport, "h", "broken")
		step(1, "1:elf_code", 3) // what was known goes on holding
		step(time.Minute-1, "1:elf_code", 3)
		failure = nil
		step(1, "2:elf_code", 4)
	})
}

func TestBadProjectsAreRefused(t *testing.T) {
	for _, c := range []source.Config{
		{URL: source.NewURL("http://h/"), Token: bin.NewSecret("a"), Cookies: bin.NewSecret("b")},
		{URL: source.NewURL("ftp://h/"), Token: bin.NewSecret("a")}, {}, {URL: source.NewURL("http://h/")}, {URL: source.NewURL("http://h/"), Token: bin.NewSecret("a\nb")},
		{URL: source.NewURL("http://h/"), Bucket: "b"},
	} {
		c.ID, c.Type = "s", source.Sentry
		if _, err := sentry.New(c, sentry.Server{}); err == nil {
			t.Errorf("%+v is taken", c)
		}
	}
	if err := (source.Config{ID: "s", Type: source.HTTP, URL: source.NewURL("http://h/"), Token: bin.NewSecret("a")}).Validate(); err == nil {
		t.Error("a symbol server with a token")
	}
}

package web_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/source"
	"symbolon/internal/source/sourcetest"
	"symbolon/internal/source/web"
	"symbolon/internal/waittest"
)

const (
	id   = "0F1E2D3C4B5A69788796A5B4C3D2E1F01"
	path = "/a.so/" + id + "/a.so.sym"
)

func newClient(t *testing.T, cfg web.Config) *web.Client {
	t.Helper()
	c, _ := newLoggedClient(t, cfg, time.Now)
	return c
}

func newLoggedClient(t *testing.T, cfg web.Config, now func() time.Time) (*web.Client, *waittest.Log) {
	t.Helper()
	log := &waittest.Log{}
	c := web.NewClient(cfg, now, slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	t.Cleanup(c.Close)
	return c, log
}

func config(address string) source.Config {
	return source.Config{ID: "upstream", Type: source.HTTP, URL: source.NewURL(address)}
}

func newSource(t *testing.T, c *web.Client, cfg source.Config) source.Source {
	t.Helper()
	s, err := web.New(c, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func newGuarded(t *testing.T, c *web.Client, cfg source.Config) source.Source {
	t.Helper()
	s, err := web.NewGuarded(c, cfg, c.Share())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func serve(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server
}

// get fetches the file of a.so.
func get(t *testing.T, s source.Source) (string, source.Attempt, error) {
	t.Helper()
	return getContext(t.Context(), t, s)
}

func getContext(ctx context.Context, t *testing.T, s source.Source) (string, source.Attempt, error) {
	t.Helper()
	var got bytes.Buffer
	a, err := s.Fetch(ctx, candidate(t, s, "a.so"), &got)
	return got.String(), a, err
}

func candidate(t *testing.T, s source.Source, name string) source.Candidate {
	t.Helper()
	debugID, err := ident.ParseBreakpadID(id)
	if err != nil {
		t.Fatal(err)
	}
	list, err := s.Candidates(t.Context(), ident.Module{DebugFile: name, DebugID: debugID}, []string{source.Breakpad})
	if err != nil || len(list) != 1 {
		t.Fatalf("candidates %v, error %v", list, err)
	}
	return list[0]
}

// wantError checks the kind and the text of an error.
func wantError(t *testing.T, err error, kind fault.Kind, words string) {
	t.Helper()
	if err == nil || fault.KindOf(err) != kind || !strings.Contains(err.Error(), words) {
		t.Errorf("got %v, want %v with %q", err, kind, words)
	}
}

// store serves files by their path as it was escaped.
func store(t *testing.T, files map[string][]byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery != "" || strings.ContainsAny(r.RequestURI, "+?#") {
			t.Errorf("asked for %s", r.RequestURI)
		}
		data, ok := files[strings.TrimPrefix(r.URL.Path, "/store/")]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Length", fmt.Sprint(len(data)))
		_, _ = w.Write(data)
	}
}

func TestSource(t *testing.T) {
	sourcetest.Run(t, func(t *testing.T, files map[string][]byte) source.Source {
		return newSource(t, newClient(t, web.Config{}), config(serve(t, store(t, files)).URL+"/store"))
	})
}

func TestSourceOverHTTP2(t *testing.T) {
	sourcetest.Run(t, func(t *testing.T, files map[string][]byte) source.Source {
		handler := store(t, files)
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.ProtoMajor != 2 {
				t.Errorf("asked with %s", r.Proto)
			}
			handler(w, r)
		}))
		server.EnableHTTP2 = true
		server.StartTLS()
		t.Cleanup(server.Close)
		cfg := config(server.URL + "/store/")
		cfg.AcceptInvalidCerts = true
		return newSource(t, newClient(t, web.Config{}), cfg)
	})
}

func TestStatuses(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var status int
		if _, err := fmt.Sscanf(r.URL.Path, "/%d/", &status); err != nil {
			t.Error(err)
		}
		w.WriteHeader(status)
		if status == http.StatusOK || status == http.StatusNonAuthoritativeInfo {
			fmt.Fprint(w, "text")
		}
	})
	client := newClient(t, web.Config{MaxTries: 1, DenyListThreshold: -1})
	for status, want := range map[int]struct {
		kind  fault.Kind
		words string
	}{
		201: {fault.NotFound, "201 Created is not a file"},
		204: {fault.NotFound, "204 No Content is not a file"},
		206: {fault.Transport, "the whole file was asked for"},
		300: {fault.Transport, "without saying where to"},
		302: {fault.Transport, "302 Found without saying where to"},
		304: {fault.Transport, "304 Not Modified"},
		400: {fault.NotFound, "400 Bad Request"},
		401: {fault.Denied, "401 Unauthorized"},
		403: {fault.Denied, "403 Forbidden"},
		404: {fault.NotFound, "404 Not Found"},
		407: {fault.Transport, "407 Proxy Authentication Required"},
		408: {fault.Timeout, "408 Request Timeout"},
		410: {fault.NotFound, "410 Gone"},
		429: {fault.Transport, "429 Too Many Requests"},
		499: {fault.NotFound, "status 499"},
		500: {fault.Transport, "500 Internal Server Error"},
		501: {fault.Transport, "501 Not Implemented"},
		502: {fault.Transport, "502 Bad Gateway"},
		599: {fault.Transport, "status 599"},
	} {
		got, a, err := get(t, newSource(t, client, config(fmt.Sprint(server.URL, "/", status))))
		wantError(t, err, want.kind, want.words)
		if a.Status != status || got != "" || !strings.HasPrefix(err.Error(), server.URL) {
			t.Errorf("%d: %+v, %q, %v", status, a, got, err)
		}
		if f := fault.Of(err); (f.Kind == fault.Timeout) != (f.Status == status) {
			t.Errorf("%d: %v has the status %d", status, f, f.Status)
		}
	}
	for _, status := range []int{200, 203} {
		if got, a, err := get(t, newSource(t, client, config(fmt.Sprint(server.URL, "/", status)))); got != "text" || a.Status != status || err != nil {
			t.Errorf("%d: %q, %v", status, got, err)
		}
	}
}

// asked counts requests by path.
type asked struct {
	mu sync.Mutex
	n  map[string]int
}

func (a *asked) count(r *http.Request) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.n == nil {
		a.n = map[string]int{}
	}
	a.n[r.URL.Path]++
	return a.n[r.URL.Path]
}

func TestAnotherTryWhereItMayHelp(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		fail func(w http.ResponseWriter)
		ok   bool
		kind fault.Kind
		want string
	}{
		{"429", func(w http.ResponseWriter) { w.WriteHeader(429) }, true, 0, ""},
		{"500", func(w http.ResponseWriter) { w.WriteHeader(500) }, true, 0, ""},
		{"502", func(w http.ResponseWriter) { w.WriteHeader(502) }, true, 0, ""},
		{"503", func(w http.ResponseWriter) { w.WriteHeader(503) }, true, 0, ""},
		{"504", func(w http.ResponseWriter) { w.WriteHeader(504) }, true, 0, ""},
		{"no answer", func(http.ResponseWriter) { panic(http.ErrAbortHandler) }, true, 0, ""},
		{"short body", func(w http.ResponseWriter) { w.Header().Set("Content-Length", "100"); fmt.Fprint(w, "te") }, true, 0, ""},
		{"501", func(w http.ResponseWriter) { w.WriteHeader(501) }, false, fault.Transport, "501"},
		{"404", func(w http.ResponseWriter) { w.WriteHeader(404) }, false, fault.NotFound, "404"},
		{"403", func(w http.ResponseWriter) { w.WriteHeader(403) }, false, fault.Denied, "403"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var requests asked
			server := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if requests.count(r) < 3 {
					c.fail(w)
					return
				}
				fmt.Fprint(w, "text")
			})
			got, a, err := get(t, newSource(t, newClient(t, web.Config{}), config(server.URL)))
			if c.ok {
				if got != "text" || err != nil {
					t.Errorf("got %q, %v", got, err)
				}
				if a.Retries != 2 {
					t.Errorf("%d retries, want 2", a.Retries)
				}
				if a.Status != 200 {
					t.Errorf("status %d, want 200", a.Status)
				}
				if a.Bytes != 4 {
					t.Errorf("%d bytes, want 4", a.Bytes)
				}
				return
			}
			wantError(t, err, c.kind, c.want)
			if a.Retries != 0 {
				t.Errorf("%d retries", a.Retries)
			}
		})
	}
}

func TestTriesEnd(t *testing.T) {
	var requests asked
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		requests.count(r)
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	_, a, err := get(t, newSource(t, newClient(t, web.Config{MaxTries: 4}), config(server.URL)))
	wantError(t, err, fault.Transport, "503 Service Unavailable")
	if a.Retries != 3 || requests.n[path] != 4 {
		t.Errorf("%d retries, %d requests", a.Retries, requests.n[path])
	}
}

func TestRetryAfterIsHonoured(t *testing.T) {
	t.Parallel()
	var requests asked
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if requests.count(r) == 1 {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
		}
	})
	start := time.Now()
	if _, _, err := get(t, newSource(t, newClient(t, web.Config{}), config(server.URL))); err != nil {
		t.Error(err)
	}
	if waited := time.Since(start); waited < time.Second || waited > 3*time.Second {
		t.Errorf("waited %v", waited)
	}
}

func TestLongRetryAfterIsTold(t *testing.T) {
	now := time.Date(2031, 2, 3, 4, 5, 6, 0, time.UTC)
	for _, value := range []string{"120", now.Add(2 * time.Minute).Format(http.TimeFormat)} {
		server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", value)
			w.WriteHeader(http.StatusTooManyRequests)
		})
		client, _ := newLoggedClient(t, web.Config{}, func() time.Time { return now })
		_, a, err := get(t, newSource(t, client, config(server.URL)))
		wantError(t, err, fault.Transport, "429 Too Many Requests; the server asks to come back after 2031-02-03T04:07:06Z")
		if a.Retries != 0 {
			t.Errorf("%d retries", a.Retries)
		}
	}
}

func TestRedirects(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch first := strings.Split(r.URL.Path, "/")[1]; first {
		case "target":
			fmt.Fprint(w, "text")
		case "loop":
			http.Redirect(w, r, r.URL.Path, http.StatusFound)
		case "301", "302", "303", "307", "308":
			var status int
			fmt.Sscan(first, &status)
			w.Header().Set("Location", "../../../target/x?signature=secret")
			w.WriteHeader(status)
		default:
			w.Header().Set("Location", map[string]string{
				"ftp": "ftp://host/", "file": "file:///etc/passwd", "broken": "http://host/%zz", "opaque": "http:host", "port": "http://host:port/",
			}[first])
			w.WriteHeader(http.StatusFound)
		}
	})
	client := newClient(t, web.Config{})
	for _, status := range []string{"301", "302", "303", "307", "308"} {
		got, a, err := get(t, newSource(t, client, config(server.URL+"/"+status)))
		if got != "text" || err != nil {
			t.Errorf("%s: got %q, %v", status, got, err)
		}
		if a.Redirects != 1 {
			t.Errorf("%s: %d redirects, want 1", status, a.Redirects)
		}
		if a.URL != server.URL+"/"+status+"/target/x" && a.URL != server.URL+"/target/x" {
			t.Errorf("%s: redirected to %s", status, a.URL)
		}
	}
	_, a, err := get(t, newSource(t, client, config(server.URL+"/loop")))
	wantError(t, err, fault.Transport, "more than 5 redirects")
	if a.Redirects != 5 {
		t.Errorf("%d redirects", a.Redirects)
	}
	for first, words := range map[string]string{
		"ftp": "another scheme", "file": "another scheme", "broken": "invalid address", "opaque": "another scheme", "port": "invalid address",
	} {
		_, _, err := get(t, newSource(t, client, config(server.URL+"/"+first)))
		wantError(t, err, fault.Transport, words)
	}
	_, _, err = get(t, newSource(t, newClient(t, web.Config{MaxRedirects: -1}), config(server.URL+"/302")))
	wantError(t, err, fault.Transport, "more than 0 redirects")
}

func TestCredentialsStayAtTheirOrigin(t *testing.T) {
	var mu sync.Mutex
	seen := map[string]http.Header{}
	note := func(r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		seen[r.Host+r.URL.Path] = r.Header
	}
	var home *httptest.Server
	away := serve(t, func(w http.ResponseWriter, r *http.Request) {
		note(r)
		http.Redirect(w, r, home.URL+"/back", http.StatusFound)
	})
	home = serve(t, func(w http.ResponseWriter, r *http.Request) {
		note(r)
		switch r.URL.Path {
		case path:
			http.Redirect(w, r, "/same", http.StatusFound)
		case "/same":
			http.Redirect(w, r, strings.Replace(away.URL, "http://", "http://user:secret@", 1)+"/away", http.StatusFound)
		}
	})
	cfg := config(strings.Replace(home.URL, "http://", "http://user:secret@", 1) + "?token=x")
	cfg.Headers = map[string]bin.Secret{"X-Key": bin.NewSecret("secret"), "User-Agent": bin.NewSecret("own")}
	if _, a, err := get(t, newSource(t, newClient(t, web.Config{UserAgent: "ours/1"}), cfg)); err != nil || a.Redirects != 3 {
		t.Fatalf("%+v, %v", a, err)
	}
	host := func(s *httptest.Server) string { return strings.TrimPrefix(s.URL, "http://") }
	for at, known := range map[string]bool{host(home) + path: true, host(home) + "/same": true, host(away) + "/away": false, host(home) + "/back": false} {
		h := seen[at]
		want := http.Header{"User-Agent": {"ours/1"}}
		if known {
			want = http.Header{"User-Agent": {"own"}, "X-Key": {"secret"}, "Authorization": {"Basic dXNlcjpzZWNyZXQ="}}
		}
		for _, name := range []string{"User-Agent", "X-Key", "Authorization"} {
			if h.Get(name) != want.Get(name) {
				t.Errorf("%s: %s is %q, want %q", at, name, h.Get(name), want.Get(name))
			}
		}
		if h.Get("Referer") != "" || h.Get("Cookie") != "" || h.Get("Accept-Encoding") != source.AcceptEncoding {
			t.Errorf("%s: headers %v", at, h)
		}
	}
}

func TestQueryOfTheAddressIsKept(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.RequestURI) })
	s := newSource(t, newClient(t, web.Config{}), config(server.URL+"/a%2Fb//?sig=x%20y"))
	got, a, err := get(t, s)
	if want := "/a%2Fb" + path; got != want+"?sig=x%20y" || a.URL != server.URL+want || err != nil {
		t.Errorf("asked for %s, attempt %+v, %v", got, a, err)
	}
	if c := candidate(t, s, "a.so"); c.Location != a.URL {
		t.Errorf("location %s", c.Location)
	}
}

func TestKeysTellApartWhatMayDiffer(t *testing.T) {
	client := newClient(t, web.Config{})
	keys := map[string]string{}
	for name, cfg := range map[string]func(*source.Config){
		"plain":      func(*source.Config) {},
		"user":       func(c *source.Config) { c.URL = source.NewURL("https://u@host/a") },
		"query":      func(c *source.Config) { c.URL = source.NewURL("https://host/a?b") },
		"other path": func(c *source.Config) { c.URL = source.NewURL("https://host/b") },
		"header":     func(c *source.Config) { c.Headers = map[string]bin.Secret{"A": bin.NewSecret("b")} },
		"insecure":   func(c *source.Config) { c.AcceptInvalidCerts = true },
		"casing":     func(c *source.Config) { c.Layout.Casing = source.Lowercase },
	} {
		c := config("https://host/a")
		cfg(&c)
		for guarded, s := range map[string]source.Source{"": newSource(t, client, c), " guarded": newGuarded(t, client, c)} {
			key := candidate(t, s, "a.so").Key
			if other, known := keys[key]; known {
				t.Errorf("%s and %s have one key, %s", name+guarded, other, key)
			}
			keys[key] = name + guarded
		}
	}
	c := config("https://HOST/a/")
	c.ID, c.IsPublic = "another", true
	if key := candidate(t, newSource(t, client, c), "a.so").Key; keys[key] != "plain" {
		t.Errorf("key %s depends on the name of the source or the spelling of its address", key)
	}
}

func TestConnectionsAreUsedAgain(t *testing.T) {
	var mu sync.Mutex
	remotes := map[string]bool{}
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		remotes[r.RemoteAddr] = true
		mu.Unlock()
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, strings.Repeat("not here ", 1000))
	})
	s := newSource(t, newClient(t, web.Config{}), config(server.URL))
	for range 5 {
		_, _, err := get(t, s)
		wantError(t, err, fault.NotFound, "404")
	}
	if len(remotes) != 1 {
		t.Errorf("%d connections for one caller", len(remotes))
	}
}

func TestEndlessAnswerWithoutAFileIsLeft(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	start := time.Now()
	_, _, err := get(t, newSource(t, newClient(t, web.Config{}), config(server.URL)))
	wantError(t, err, fault.NotFound, "404")
	if spent := time.Since(start); spent > 3*time.Second {
		t.Errorf("it took %v", spent)
	}
}

func TestDownloadsAreBounded(t *testing.T) {
	var mu sync.Mutex
	var now, most int
	release := make(chan struct{})
	arrived := make(chan struct{}, 100)
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		now++
		most = max(most, now)
		mu.Unlock()
		arrived <- struct{}{}
		<-release
		mu.Lock()
		now--
		mu.Unlock()
	})
	client := newClient(t, web.Config{MaxConcurrentDownloads: 4, ConnectToReservedIPs: true})
	open := newSource(t, client, config(server.URL))
	var group sync.WaitGroup
	start := func(s source.Source, n int) {
		for range n {
			c := candidate(t, s, "a.so")
			group.Go(func() {
				if _, err := s.Fetch(t.Context(), c, io.Discard); err != nil {
					t.Error(err)
				}
			})
		}
	}
	for range 2 { // each gets one slot
		start(newGuarded(t, client, config(server.URL)), 3)
	}
	<-arrived
	<-arrived // half of the slots are all that requests get
	start(open, 2)
	<-arrived
	<-arrived // the other half is free for the configuration
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, _, err := getContext(ctx, t, open)
	wantError(t, err, fault.Timeout, "canceled by the caller")
	close(release)
	group.Wait()
	if most != 4 {
		t.Errorf("%d downloads at once, want 4", most)
	}
}

func TestASourceThatHangsLeavesRoomForOthers(t *testing.T) {
	release := make(chan struct{})
	var hanging atomic.Int32
	hangs := serve(t, func(http.ResponseWriter, *http.Request) {
		hanging.Add(1)
		<-release
	})
	works := serve(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "here") })
	client := newClient(t, web.Config{MaxConcurrentDownloads: 4})
	bad, good := newSource(t, client, config(hangs.URL)), newSource(t, client, config(works.URL))
	var group sync.WaitGroup
	for range 10 {
		group.Go(func() { _, _, _ = get(t, bad) })
	}
	waittest.Until(t, "a source hangs with its share of the downloads", func() bool { return hanging.Load() >= 2 })
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if got, _, err := getContext(ctx, t, good); got != "here" || err != nil {
		t.Errorf("the other source: %q, %v", got, err)
	}
	close(release)
	group.Wait()
}

func TestSourcesWithoutAnAddressAreRefused(t *testing.T) {
	if _, err := web.New(newClient(t, web.Config{}), source.Config{ID: "x", Type: source.HTTP}); err == nil {
		t.Error("a source without an address was taken")
	}
}

func TestAgentNamesTheProgram(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.UserAgent()) })
	got, _, err := get(t, newSource(t, newClient(t, web.Config{}), config(server.URL)))
	if !strings.HasPrefix(got, "symbolon") || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

func mustParse(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestServerWithAnIndexIsAskedForWhatItLists(t *testing.T) {
	var requests asked
	files := map[string]string{
		"/s/000Admin/lastid.txt": "0000000001", "/s/000Admin/0000000001": `"a.pdb\` + id + `","x"`,
		"/s/a.pdb/" + id + "/a.pdb": "text",
	}
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		requests.count(r)
		if text, ok := files[r.URL.Path]; ok {
			fmt.Fprint(w, text)
			return
		}
		http.NotFound(w, r)
	})
	client := newClient(t, web.Config{})
	debugID, err := ident.ParseBreakpadID(id)
	if err != nil {
		t.Fatal(err)
	}
	candidates := func(s source.Source, name string) []source.Candidate {
		t.Helper()
		list, err := s.Candidates(t.Context(), ident.Module{Type: ident.TypePE, DebugFile: name, DebugID: debugID}, []string{source.PDB})
		if err != nil && fault.KindOf(err) != fault.NotFound {
			t.Errorf("%s: %v", name, err)
		}
		return list
	}
	for path, want := range map[string]int{"/s": 1, "/elsewhere": 0} {
		cfg := config(server.URL + path)
		cfg.HasIndex, cfg.Layout.Type = true, source.Symstore
		s := newSource(t, client, cfg)
		if list := candidates(s, "a.pdb"); len(list) != want {
			t.Errorf("%s: %d candidates, want %d: %v", path, len(list), want, list)
		}
		if list := candidates(s, "b.pdb"); len(list) != 0 {
			t.Errorf("%s: candidates that are not listed: %v", path, list)
		}
		if n := requests.n[path+"/000Admin/lastid.txt"]; n != 1 {
			t.Errorf("%s: the index was read %d times", path, n)
		}
		cfg.HasIndex = false
		if plain := newSource(t, client, cfg); plain.Identity() == s.Identity() || len(candidates(plain, "b.pdb")) != 2 {
			t.Errorf("%s: without an index it is %s", path, plain.Identity())
		}
	}
	cfg := config(server.URL + "/s")
	cfg.HasIndex, cfg.Layout.Type = true, source.Symstore
	if list := candidates(newGuarded(t, client, cfg), "a.pdb"); len(list) != 0 {
		t.Errorf("a guarded source got what another one had read: %v", list)
	}
}

package profiler_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"symbolon/internal/api/profiler"
)

const profile = `{"meta":{"preprocessedProfileVersion":66},"libs":[]}`

// view serves a profile until the test ends, and returns the base of the viewer.
func view(t *testing.T, file string) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	next := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, _ = w.Write([]byte(r.URL.Path + " " + string(body)))
	})
	v := profiler.NewViewer(file, next)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- v.Serve(ctx, ln) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	page, err := url.Parse(v.Address("https://profiler.example/", ln))
	if err != nil {
		t.Fatal(err)
	}
	base := page.Query().Get("symbolServer")
	if want := "https://profiler.example/from-url/" + url.QueryEscape(base+"/profile.json") + "/?symbolServer=" + url.QueryEscape(base); page.String() != want {
		t.Errorf("the address is %s, want %s", page, want)
	}
	if token := base[strings.LastIndex(base, "/")+1:]; len(token) != 39 || !strings.HasPrefix(base, "http://"+ln.Addr().String()+"/") {
		t.Errorf("the base is %s", base)
	}
	return base
}

// write writes a file.
func write(t *testing.T, name, content string) string {
	t.Helper()
	name = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// ask sends a request from a page, with header lines such as "A: b".
func ask(t *testing.T, method, address, body string, headers ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequest(method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range append(headers, "Origin: https://profiler.firefox.com") {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Add(name, value)
	}
	got, err := (&http.Transport{DisableCompression: true, DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	if err != nil {
		t.Fatal(err)
	}
	return got, string(text)
}

func TestTheProfileIsServedAsItIs(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write([]byte(profile))
	z.Close()
	for name, x := range map[string]struct{ content, coding string }{
		"profile.json": {profile, ""}, "profile.json.gz": {packed.String(), "gzip"}, "profile": {packed.String(), "gzip"}, "empty": {"", ""},
	} {
		got, text := ask(t, "GET", view(t, write(t, name, x.content))+"/profile.json", "")
		if got.StatusCode != 200 || text != x.content || got.Header.Get("Content-Encoding") != x.coding ||
			got.Header.Get("Content-Type") != "application/json; charset=UTF-8" || got.Header.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s: %d %v %q", name, got.StatusCode, got.Header, text)
		}
	}
}

func TestPostsAreAnsweredByNext(t *testing.T) {
	got, text := ask(t, "POST", view(t, write(t, "p.json", profile))+"/source/v1", "question")
	if got.StatusCode != 200 || text != "/source/v1 question" || got.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("%d %v %q", got.StatusCode, got.Header, text)
	}
}

func TestPreflightsAllowEverything(t *testing.T) {
	base := view(t, write(t, "p.json", profile))
	got, text := ask(t, "OPTIONS", base+"/asm/v1", "", "Access-Control-Request-Method: POST", "Access-Control-Request-Headers: content-type, x-one")
	h := got.Header
	if got.StatusCode != 204 || text != "" || h.Get("Access-Control-Allow-Origin") != "*" || h.Get("Access-Control-Allow-Methods") != "POST, GET, OPTIONS" ||
		h.Get("Access-Control-Allow-Headers") != "content-type, x-one" || h.Get("Access-Control-Max-Age") != "86400" {
		t.Errorf("preflight: %d %v", got.StatusCode, h)
	}
	if got, _ = ask(t, "OPTIONS", base+"/asm/v1", ""); got.StatusCode != 204 || got.Header.Get("Allow") != "POST, GET, OPTIONS" {
		t.Errorf("OPTIONS: %d %v", got.StatusCode, got.Header)
	}
}

func TestOnlyThePageWithTheTokenCanRead(t *testing.T) {
	base := view(t, write(t, "p.json", profile))
	root := base[:strings.LastIndex(base, "/")]
	for _, x := range [][2]string{
		{"GET", root + "/"}, {"GET", root + "/profile.json"}, {"GET", base[:len(base)-1] + "/profile.json"}, {"GET", base + "x/profile.json"},
		{"POST", root + "/source/v1"}, {"POST", root + "/x/source/v1"}, {"OPTIONS", root + "/source/v1"}, {"POST", base}, {"GET", root + "/./x"},
	} {
		got, text := ask(t, x[0], x[1], "question")
		if got.StatusCode != 404 || got.Header.Get("Access-Control-Allow-Origin") != "" || strings.Contains(text, "question") {
			t.Errorf("%s %s: %d %v %q", x[0], x[1], got.StatusCode, got.Header, text)
		}
	}
	for _, x := range [][2]string{{"GET", base + "/source/v1"}, {"GET", base + "/"}, {"PUT", base + "/profile.json"}} {
		if got, _ := ask(t, x[0], x[1], ""); got.StatusCode != 404 {
			t.Errorf("%s %s: %d", x[0], x[1], got.StatusCode)
		}
	}
}

func TestEachViewerHasItsToken(t *testing.T) {
	file := write(t, "p.json", profile)
	a, b := view(t, file), view(t, file)
	if a[strings.LastIndex(a, "/"):] == b[strings.LastIndex(b, "/"):] {
		t.Errorf("%s and %s", a, b)
	}
}

func TestTheFirstFreePortIsUsed(t *testing.T) {
	first, err := profiler.Listen(0)
	if err != nil {
		t.Skip(err) // all 100 are in use
	}
	defer first.Close()
	second, err := profiler.Listen(0)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	at := func(ln net.Listener) int {
		host, port, _ := net.SplitHostPort(ln.Addr().String())
		n, _ := strconv.Atoi(port)
		if host != "127.0.0.1" || n < 3000 || n > 3099 {
			t.Errorf("listens on %s", ln.Addr())
		}
		return n
	}
	if at(second) <= at(first) {
		t.Errorf("listens on %s, then on %s", first.Addr(), second.Addr())
	}
	if _, err := profiler.Listen(at(first)); err == nil {
		t.Error("listens on a port that is in use")
	}
}

func TestAMissingProfileIsNotFound(t *testing.T) {
	file := write(t, "p.json", profile)
	base := view(t, file)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if got, _ := ask(t, "GET", base+"/profile.json", ""); got.StatusCode != 404 {
		t.Errorf("%d", got.StatusCode)
	}
}

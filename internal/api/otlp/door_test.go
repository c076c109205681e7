package otlp_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"symbolon/internal/api"
	"symbolon/internal/api/otlp"
	"symbolon/internal/bin"
	"symbolon/internal/filter"
	"symbolon/internal/filter/filtertest"
	"symbolon/internal/metric"
	"symbolon/internal/source"
	"symbolon/internal/token"
)

// message makes the messages of the tests.
var message = filtertest.Message

const app = "c0ffee00c0ffee00"

// profiles are profiles of a location.
var profiles = message(1, message(1, "", 2, message(2, message(1, ""))), 2, message(
	1, "", 1, message(5, 1), 2, "", 2, message(1, 1, 2, 0x1010), 3, "", 6, "", 6, message(1, 1, 2, message(8, 2)),
	5, "", 5, "process.executable.build_id.gnu", 5, app,
))

var names = filtertest.Names{app: {0x1010: {{Function: []byte("outer"), File: []byte("a.c"), Line: 41}}}}

// hop is the next hop.
type hop struct {
	url    string
	answer http.HandlerFunc

	mu       sync.Mutex
	requests []*http.Request
	bodies   [][]byte
}

// received returns the requests and their bodies, which it forgets.
func (h *hop) received() ([]*http.Request, [][]byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	requests, bodies := h.requests, h.bodies
	h.requests, h.bodies = nil, nil
	return requests, bodies
}

func newHop(t *testing.T) *hop {
	h := &hop{answer: func(w http.ResponseWriter, r *http.Request) {}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			t.Errorf("the body is not gzip: %v", err)
			return
		}
		body, err := io.ReadAll(z)
		if err != nil {
			t.Error(err)
		}
		h.mu.Lock()
		h.requests, h.bodies = append(h.requests, r), append(h.bodies, body)
		h.mu.Unlock()
		h.answer(w, r)
	}))
	t.Cleanup(server.Close)
	h.url = server.URL + "/v1development/profiles?tenant=1"
	return h
}

// serve starts a server whose door has names, and returns the address of the route.
func serve(t *testing.T, cfg otlp.Config, names filter.Names) string {
	t.Helper()
	return serveWith(t, cfg, names, slog.New(slog.DiscardHandler))
}

func serveWith(t *testing.T, cfg otlp.Config, names filter.Names, log *slog.Logger) string {
	t.Helper()
	door := otlp.New(cfg, otlp.Deps{
		Grant: func(r *http.Request) (*token.Grant, error) {
			if r.Header.Get("Authorization") == "Bearer unknown" {
				return nil, token.ErrUnknown
			}
			return &token.Grant{}, nil
		},
		Names:     func(context.Context, *token.Grant) filter.Names { return names },
		Transport: http.DefaultTransport, Log: log,
	})
	server := httptest.NewServer(api.New(api.Config{}, api.Options{Log: log, Now: time.Now}, door.Routes()))
	t.Cleanup(server.Close)
	return server.URL + "/v1development/profiles"
}

// post sends a body with headers, pairs of name and value.
func post(t *testing.T, url string, body []byte, headers ...string) (resp *http.Response, text string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-protobuf")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err = http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(answer)
}

func TestProfilesReachTheNextHopWithNames(t *testing.T) {
	h := newHop(t)
	h.answer = func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/x-protobuf")
		_, _ = w.Write(message(1, message(1, 3)))
	}
	cfg := otlp.Config{Forward: source.NewURL(h.url), Headers: map[string]bin.Secret{"X-Scope-OrgID": bin.NewSecret("den")}}
	url := serve(t, cfg, names)
	gz := func(data []byte) []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = z.Write(data)
		z.Close()
		return b.Bytes()
	}
	zst, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		coding string
		body   []byte
	}{{"", profiles}, {"gzip", gz(profiles)}, {"zstd", zst.EncodeAll(profiles, nil)}} {
		resp, text := post(t, url, c.body, "Content-Encoding", c.coding, "Authorization", "Bearer secret", "User-Agent", "agent/1")
		if kind := resp.Header.Get("Content-Type"); resp.StatusCode != 200 || text != string(message(1, message(1, 3))) || kind != "application/x-protobuf" {
			t.Errorf("%q: status %d, %q, %s: want the answer of the next hop", c.coding, resp.StatusCode, text, kind)
		}
		requests, bodies := h.received()
		if len(bodies) != 1 || !bytes.Contains(bodies[0], []byte("outer")) {
			t.Fatalf("%q: the next hop has %q, want a name", c.coding, bodies)
		}
		got := requests[0]
		if got.URL.RawQuery != "tenant=1" || got.Header.Get("X-Scope-OrgID") != "den" || got.Header.Get("Authorization") != "" ||
			got.Header.Get("Content-Type") != "application/x-protobuf" || got.UserAgent() != "agent/1" {
			t.Errorf("%q: the request is for %v with %v", c.coding, got.URL, got.Header)
		}
	}
}

func TestRefusalOfTheNextHopIsRelayed(t *testing.T) {
	h := newHop(t)
	h.answer = func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = io.WriteString(w, "slower")
	}
	resp, text := post(t, serve(t, otlp.Config{Forward: source.NewURL(h.url)}, names), profiles)
	if after := resp.Header.Get("Retry-After"); resp.StatusCode != 429 || text != "slower" || after != "7" {
		t.Errorf("status %d, %q, Retry-After %q: want the answer of the next hop", resp.StatusCode, text, after)
	}
}

func TestMissingPathOfTheNextHopIsLoggedWithAdvice(t *testing.T) {
	h := newHop(t)
	h.answer = func(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) }
	var log bytes.Buffer
	resp, _ := post(t, serveWith(t, otlp.Config{Forward: source.NewURL(h.url)}, names, slog.New(slog.NewTextHandler(&log, nil))), profiles)
	if resp.StatusCode != 404 || !strings.Contains(log.String(), "its path is usually /v1development/profiles") {
		t.Errorf("status %d and the log %s, want the usual path", resp.StatusCode, &log)
	}
}

func TestRedirectOfTheNextHopIsNotFollowed(t *testing.T) {
	h := newHop(t)
	h.answer = func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
	}
	resp, text := post(t, serve(t, otlp.Config{Forward: source.NewURL(h.url)}, names), profiles)
	requests, _ := h.received()
	if resp.StatusCode != 503 || !strings.Contains(text, "redirects requests") || len(requests) != 1 {
		t.Errorf("status %d, %q after %d requests, want 503 after one", resp.StatusCode, text, len(requests))
	}
}

// It would send the profiles again.
func TestExporterWaitsForASlowNextHop(t *testing.T) {
	h := newHop(t)
	door := otlp.New(otlp.Config{Forward: source.NewURL(h.url)}, otlp.Deps{
		Grant:     func(*http.Request) (*token.Grant, error) { return &token.Grant{}, nil },
		Names:     func(context.Context, *token.Grant) filter.Names { return names },
		Transport: &http.Transport{ResponseHeaderTimeout: 1}, Log: slog.New(slog.DiscardHandler),
	})
	server := httptest.NewServer(api.New(api.Config{}, api.Options{Log: slog.New(slog.DiscardHandler), Now: time.Now}, door.Routes()))
	defer server.Close()
	if resp, text := post(t, server.URL+"/v1development/profiles", profiles); resp.StatusCode != 200 {
		t.Errorf("status %d, %q, want 200", resp.StatusCode, text)
	}
}

// broken are names that fail, or panic.
type broken struct{ err error }

func (b broken) Look(context.Context, *filter.Query) (filter.Answer, error) {
	if b.err == nil {
		panic("broken names")
	}
	return nil, b.err
}

func TestProfilesThatCannotBeNamedGoOnAsTheyCame(t *testing.T) {
	h := newHop(t)
	for name, c := range map[string]struct {
		body  []byte
		names filter.Names
	}{
		"another layout":     {message(2, message(6, message(1, "key"))), names},
		"not a message":      {[]byte("profiles"), names},
		"names that panic":   {profiles, broken{}},
		"names that are off": {profiles, broken{errors.New("off")}},
	} {
		before := metric.OTLPUntouched.Value()
		resp, _ := post(t, serve(t, otlp.Config{Forward: source.NewURL(h.url)}, c.names), c.body)
		_, bodies := h.received()
		if resp.StatusCode != 200 || len(bodies) != 1 || !bytes.Equal(bodies[0], c.body) {
			t.Errorf("%s: status %d, and the next hop has %q, want %q", name, resp.StatusCode, bodies, c.body)
		}
		if n := metric.OTLPUntouched.Value() - before; n != 1 {
			t.Errorf("%s: counted %d, want 1", name, n)
		}
	}
}

// Senders read the text of a refusal from a message.
func TestRequestsAreRefusedWithAMessage(t *testing.T) {
	broken := newHop(t)
	broken.answer = func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	for _, c := range []struct {
		name    string
		forward string
		body    []byte
		headers []string
		status  int
		text    string
	}{
		{"JSON", newHop(t).url, []byte("{}"), []string{"Content-Type", "application/json"}, 415, "profiles must be sent as application/x-protobuf"},
		{"an unknown token", newHop(t).url, profiles, []string{"Authorization", "Bearer unknown"}, 401, "the token is unknown"},
		{"a damaged body", newHop(t).url, profiles, []string{"Content-Encoding", "gzip"}, 400, "the body is not gzip"},
		{"another compression", newHop(t).url, profiles, []string{"Content-Encoding", "br"}, 415, "gzip or zstd"},
		{"a next hop that closes connections", broken.url, profiles, nil, 503, "the next hop of the profiles does not answer"},
	} {
		resp, text := post(t, serve(t, otlp.Config{Forward: source.NewURL(c.forward)}, names), c.body, c.headers...)
		if kind := resp.Header.Get("Content-Type"); resp.StatusCode != c.status || !strings.Contains(text, c.text) || text[0] != 2<<3|2 || kind != "application/x-protobuf" {
			t.Errorf("%s: status %d, %q, %s: want %d, %s", c.name, resp.StatusCode, text, kind, c.status, c.text)
		}
	}
}

func TestSecretsOfTheNextHopAreNotTold(t *testing.T) {
	h := newHop(t)
	h.answer = func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	var log bytes.Buffer
	cfg := otlp.Config{
		Forward: source.NewURL(strings.Replace(h.url, "://", "://user:zq1@", 1) + "&sig=zq2"),
		Headers: map[string]bin.Secret{"X-Key": bin.NewSecret("zq3")},
	}
	_, text := post(t, serveWith(t, cfg, names, slog.New(slog.NewTextHandler(&log, nil))), profiles)
	requests, _ := h.received()
	if user, password, _ := requests[0].BasicAuth(); user != "user" || password != "zq1" {
		t.Errorf("the next hop has user %q, password %q", user, password)
	}
	if all := text + log.String(); strings.Contains(all, "zq") || !strings.Contains(all, "cannot send profiles") {
		t.Errorf("the answer and the log are %s, want a reason without secrets", all)
	}
}

func TestThereIsNoRouteWithoutANextHop(t *testing.T) {
	if resp, _ := post(t, serve(t, otlp.Config{}, names), profiles); resp.StatusCode != 404 {
		t.Errorf("status %d, want 404", resp.StatusCode)
	}
}

func TestConfigurationIsChecked(t *testing.T) {
	for _, c := range []struct {
		forward string
		headers map[string]bin.Secret
		want    string
	}{
		{"", nil, ""},
		{"http://10.0.0.1:4318/v1development/profiles", map[string]bin.Secret{"Authorization": bin.NewSecret("Bearer x")}, ""},
		{"", map[string]bin.Secret{"Authorization": bin.NewSecret("Bearer x")}, "forward: the url is missing"},
		{"collector:4318", nil, "forward: the url must begin with http:// or https://"},
		{"http://collector", map[string]bin.Secret{"Host": bin.NewSecret("x")}, "header Host cannot be set"},
	} {
		err := otlp.Config{Forward: source.NewURL(c.forward), Headers: c.headers}.Validate()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q, %v: error %v, want %q", c.forward, c.headers, err, c.want)
		}
	}
}

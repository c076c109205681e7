package ui_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/api/ui"
	"symbolon/internal/bucket"
	"symbolon/internal/bucket/mem"
	"symbolon/internal/cache/disk"
	"symbolon/internal/explain"
	"symbolon/internal/history"
	"symbolon/internal/ident"
	"symbolon/internal/store"
	"symbolon/internal/token"
)

const (
	moduleName = "kettle.so/0F1E2D3C4B5A69788796A5B4C3D2E1F00"
	modulePage = "/ui/modules/" + moduleName
)

// A rig is a door over a real ring of tokens, with one module that is missing.
type rig struct {
	t         testing.TB
	state     bucket.Bucket
	ring      *token.Ring
	now       atomic.Int64 // seconds since the start of the test
	start     time.Time
	trail     *explain.Trail
	forgotten atomic.Int64
	front     *api.Front
}

func newRig(t testing.TB, state bucket.Bucket, change ...func(*ui.Deps)) *rig {
	r := &rig{t: t, state: state, start: time.Now(), trail: &explain.Trail{Verdict: "not found: no source has the file", Tried: []explain.Attempt{}}}
	clock := func() time.Time { return r.start.Add(time.Duration(r.now.Load()) * time.Second) }
	log := slog.New(slog.DiscardHandler)
	r.ring = token.NewRing(nil, state, clock, log)
	access := api.NewAccess(api.AccessConfig{}, r.ring, nil)
	deps := ui.Deps{
		Grant: access.Grant, BaseURL: access.BaseURL, State: state, Now: clock, Log: log,
		Store:   store.New(store.Config{}, store.Deps{Bucket: state, Now: clock, Log: log}),
		Explain: func(context.Context, *token.Grant, explain.Question) (*explain.Trail, error) { return r.trail, nil },
		Forget: func(context.Context, ident.Module) error {
			r.forgotten.Add(1)
			return nil
		},
		Prefetch: func(context.Context, *token.Grant, ident.Module) (bool, error) { return false, nil },
		History:  history.New(history.OfProcess(nil), clock), Sources: func() []ui.Source { return nil }, Disk: openDisk(t),
	}
	for _, c := range change {
		c(&deps)
	}
	d := ui.New(deps)
	r.front = api.New(api.Config{}, api.Options{Log: log, Now: clock}, d.Routes())
	return r
}

// openDisk opens a disk cache for a test.
func openDisk(t testing.TB) *disk.Store {
	t.Helper()
	s, err := disk.Open(disk.Config{}, t.TempDir(), time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// token adds a token with a right in all projects.
func (r *rig) token(right token.Right) string {
	r.t.Helper()
	text, _, err := r.ring.Add(r.t.Context(), token.Token{Grant: token.Grant{Rights: []token.Right{right}, Projects: []string{token.Any}}})
	if err != nil {
		r.t.Fatal(err)
	}
	return text
}

// do sends a request of a browser on this machine. The headers are pairs of name and value.
func (r *rig) do(method, path, body string, headers ...string) *http.Response {
	r.t.Helper()
	req := httptest.NewRequest(method, "http://localhost:3021"+path, strings.NewReader(body))
	req.RemoteAddr = "127.0.0.1:1234"
	req.Header.Set("Accept", "text/html,*/*;q=0.8")
	if body != "" {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	r.front.ServeHTTP(w, req)
	return w.Result()
}

// expect ends the test unless an answer has a status and all of these texts.
func (r *rig) expect(resp *http.Response, status int, texts ...string) string {
	r.t.Helper()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, want := range texts {
		if !strings.Contains(string(text), want) {
			r.t.Errorf("%q is missing", want)
		}
	}
	if resp.StatusCode != status || r.t.Failed() {
		r.t.Fatalf("got %d, want %d: %s", resp.StatusCode, status, text)
	}
	return string(text)
}

// login returns the cookie of a session.
func (r *rig) login(text string) string {
	r.t.Helper()
	resp := r.do("POST", "/ui/login", url.Values{"token": {text}, "next": {"ui/missing"}}.Encode())
	r.expect(resp, http.StatusSeeOther)
	if to := resp.Header.Get("Location"); to != "../ui/missing" {
		r.t.Errorf("after the login the browser goes to %q", to)
	}
	c := resp.Cookies()[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.MaxAge <= 0 || strings.Contains(c.Value, text) {
		r.t.Errorf("the cookie is %s", c)
	}
	return c.Name + "=" + c.Value
}

func TestPagesAreForThisMachineUntilThereIsAToken(t *testing.T) {
	r := newRig(t, mem.New())
	r.expect(r.do("GET", modulePage, ""), 200, "no source has the file")
	r.expect(r.do("GET", modulePage, "", "X-Forwarded-For", "192.0.2.1"), 401, "Sign in")
	r.expect(r.do("GET", "/", "", "X-Forwarded-For", "192.0.2.1"), 200, "Sign in")
	r.token(token.Admin)
	r.expect(r.do("GET", modulePage, ""), 401, "Sign in")
}

func TestASessionHasTheRightsOfItsToken(t *testing.T) {
	r := newRig(t, mem.New())
	admin, reader := r.login(r.token(token.Admin)), r.login(r.token(token.Read))
	r.expect(r.do("GET", modulePage, "", "Cookie", admin), 200, "no source has the file", "Sign out")
	r.expect(r.do("GET", modulePage, "", "Cookie", reader), 403, "the right admin")
	if page := r.expect(r.do("GET", "/", "", "Cookie", reader), 200); strings.Contains(page, "/modules/") {
		t.Error("the page of a reader links to a page that it may not open")
	}
}

func TestASessionEndsWithItsTokenOrItsTime(t *testing.T) {
	r := newRig(t, mem.New())
	text, added, err := r.ring.Add(t.Context(), token.Token{Grant: token.Grant{Rights: []token.Right{token.Admin}, Projects: []string{token.Any}}})
	if err != nil {
		t.Fatal(err)
	}
	other := r.token(token.Admin)
	revoked, expired := r.login(text), r.login(other)
	if err := r.ring.Revoke(t.Context(), added.ID); err != nil {
		t.Fatal(err)
	}
	r.expect(r.do("GET", modulePage, "", "Cookie", revoked), 401, "The session has expired.")
	r.now.Add(11 * 3600)
	r.expect(r.do("GET", modulePage, "", "Cookie", expired), 200)
	r.now.Add(3600)
	r.expect(r.do("GET", modulePage, "", "Cookie", expired), 401, "Sign in")
}

func TestAllNodesKnowASession(t *testing.T) {
	state := mem.New()
	one, two := newRig(t, state), newRig(t, state)
	cookie := one.login(one.token(token.Admin))
	two.expect(two.do("GET", modulePage, "", "Cookie", cookie), 200)
	strange := newRig(t, mem.New())
	strange.token(token.Admin)
	strange.expect(strange.do("GET", modulePage, "", "Cookie", cookie), 401)
}

func TestACookieIsNotATokenOfTheInterfaces(t *testing.T) {
	r := newRig(t, mem.New())
	cookie := r.login(r.token(token.Admin))
	_, value, _ := strings.Cut(cookie, "=")
	r.expect(r.do("GET", modulePage, "", "Authorization", "Bearer "+value), 401)
}

func TestDamagedCookiesAreIgnored(t *testing.T) {
	r := newRig(t, mem.New())
	cookie := r.login(r.token(token.Admin))
	at, other := len(cookie)/2, "A"
	if cookie[at:at+1] == other {
		other = "B"
	}
	changed := cookie[:at] + other + cookie[at+1:]
	for _, bad := range []string{changed, cookie[:30], "symbolon_session=", "symbolon_session=%", "symbolon_session=AAAA"} {
		r.expect(r.do("GET", modulePage, "", "Cookie", bad), 401, "Sign in")
	}
}

func TestWrongTokensDoNotBeginASession(t *testing.T) {
	r := newRig(t, mem.New())
	for _, text := range []string{"", "x", strings.Repeat("A", 43)} {
		resp := r.do("POST", "/ui/login", url.Values{"token": {text}}.Encode())
		r.expect(resp, 403, "unknown, expired or revoked")
		if len(resp.Cookies()) > 0 {
			t.Errorf("%q: there is a cookie", text)
		}
	}
}

func TestLoginLeadsToPagesOfThisServerOnly(t *testing.T) {
	r := newRig(t, mem.New())
	text := r.token(token.Admin)
	for _, next := range []string{"//evil.test/", "https://evil.test/", "ui/../../x", "ui/\\evil.test", "javascript:alert(1)", "ui/x\r\nSet-Cookie: a=b"} {
		resp := r.do("POST", "/ui/login", url.Values{"token": {text}, "next": {next}}.Encode())
		if to := resp.Header.Get("Location"); to != "../" {
			t.Errorf("%q leads to %q", next, to)
		}
	}
}

func TestFormsOfOtherOriginsAreRefused(t *testing.T) {
	r := newRig(t, mem.New())
	cookie := r.login(r.token(token.Admin))
	for _, headers := range [][]string{
		{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "https://evil.test"},
	} {
		for _, path := range []string{modulePage + "?do=forget", "/ui/login", "/ui/logout"} {
			r.expect(r.do("POST", path, "token=x", append(headers, "Cookie", cookie)...), 403, "another origin")
		}
	}
	if n := r.forgotten.Load(); n != 0 {
		t.Errorf("%d modules are forgotten", n)
	}
	r.expect(r.do("POST", modulePage+"?do=forget", "", "Cookie", cookie, "Sec-Fetch-Site", "same-origin"), 200, "Forgotten")
	if n := r.forgotten.Load(); n != 1 {
		t.Errorf("%d modules are forgotten, want 1", n)
	}
}

func TestPagesAreJSONForClientsThatPreferIt(t *testing.T) {
	r := newRig(t, mem.New())
	secret := "Bearer " + r.token(token.Admin)
	var page struct {
		Module, Verdict string
		Found           bool
	}
	text := r.expect(r.do("GET", modulePage, "", "Accept", "application/json", "Authorization", secret), 200)
	if err := json.Unmarshal([]byte(text), &page); err != nil || page.Module != moduleName || page.Found || page.Verdict == "" {
		t.Errorf("%s: %v", text, err)
	}
	r.expect(r.do("GET", modulePage, "", "Accept", "application/json"), 401, `{"error":"this needs a token;`)
	r.expect(r.do("GET", "/ui/modules/x", "", "Accept", "application/json", "Authorization", secret), 400, `{"error":"invalid module`)
	r.expect(r.do("POST", modulePage+"?do=fetch", "", "Accept", "application/json", "Authorization", secret), 200, `{"outcome":"missing","to":"../../../ui/modules/`)
}

func TestActionsReportTheirProgressAsEvents(t *testing.T) {
	r := newRig(t, mem.New())
	resp := r.do("POST", modulePage+"?do=fetch", "", "Accept", "text/event-stream")
	text := r.expect(resp, 200, "event: progress\ndata: {\"text\":\"working\"", "event: done\ndata: {\"to\":\"../../../ui/modules/"+moduleName+"?note=missing\"}\n\n")
	if kind := resp.Header.Get("Content-Type"); !strings.HasPrefix(kind, "text/event-stream") {
		t.Errorf("%s: %s", kind, text)
	}
	r.expect(r.do("POST", "/ui/modules/x?do=fetch", "", "Accept", "text/event-stream"), 200, "event: failed\ndata: {\"error\":\"invalid module")
	r.expect(r.do("POST", modulePage+"?do=fetch", ""), 303)
	r.expect(r.do("POST", modulePage+"?do=else", ""), 404, "no such action")
}

// The policy of a page allows nothing inline, so it must not have any.
func TestPagesKeepTheirPolicy(t *testing.T) {
	r := newRig(t, mem.New())
	for _, path := range []string{"/", modulePage, "/ui/login", "/ui/nothing"} {
		resp := r.do("GET", path, "")
		policy := resp.Header.Get("Content-Security-Policy")
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(string(text), "{") { // not a path of the pages
			continue
		}
		if !strings.HasPrefix(policy, "default-src 'none'; ") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s: the policy is %q", path, policy)
		}
		if bad := regexp.MustCompile(`<script>|<style|style=|\son[a-z]+=|javascript:`).FindString(string(text)); bad != "" {
			t.Errorf("%s: the page has %q", path, bad)
		}
		for _, link := range regexp.MustCompile(`(?:href|src|action)="([^"]*)"`).FindAllStringSubmatch(string(text), -1) {
			if strings.HasPrefix(link[1], "/") || strings.Contains(link[1], ":") {
				t.Errorf("%s: the link %q is not relative", path, link[1])
			}
		}
	}
}

// hostile are texts that would break a page that did not escape them.
var hostile = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' onmouseover='alert(1)`, "a\u202eb\u2066c", "a\x00b\x1b[31m", "\xff\xfe",
	strings.Repeat("x", 64<<10), "</title></textarea></svg>", "{{.}}${x}", "\r\nSet-Cookie: a=b",
}

func TestHostileTextsAreShownHarmlessly(t *testing.T) {
	r := newRig(t, mem.New())
	for _, text := range hostile {
		if len(text) > 8<<10 {
			r.expect(r.do("GET", modulePage+"?q="+text, ""), 414, "longer than 8192 bytes")
		}
		r.trail = &explain.Trail{
			Asked: explain.Module{DebugFile: text, CodeFile: text, Derived: text}, Verdict: text, Advice: []string{text},
			Tried: []explain.Attempt{{Source: text, Kind: text, Location: text, Verdict: text, Detail: text, Expires: text, Features: []string{text}}},
		}
		page := r.expect(r.do("GET", "/ui/modules/n"+url.PathEscape(strings.NewReplacer("/", "", "x", "").Replace(text))+"/0F1E2D3C4B5A69788796A5B4C3D2E1F00", ""), 200)
		checkHarmless(t, page)
	}
}

// checkHarmless reports what a browser would run or show in another order.
func checkHarmless(t testing.TB, page string) {
	t.Helper()
	checkShown(t, page)
	if len(page) > 100<<10 {
		t.Errorf("the page has %d bytes", len(page))
	}
}

// checkShown is checkHarmless for a page of any size.
func checkShown(t testing.TB, page string) {
	t.Helper()
	if bad := regexp.MustCompile(`[\x00\x1b\x{202e}\x{2066}]`).FindString(page); bad != "" {
		t.Errorf("the page has %q", bad)
	}
	for _, tag := range regexp.MustCompile(`<[^>]*>`).FindAllString(page, -1) {
		bare := regexp.MustCompile(`"[^"]*"`).ReplaceAllString(tag, "")
		if bad := regexp.MustCompile(`^<script>|^<img|\son[a-z]+=|['\x60]`).FindString(bare); bad != "" {
			t.Errorf("the tag %s has %q", tag, bad)
		}
	}
}

func FuzzTextsOfAModule(f *testing.F) {
	for _, text := range hostile {
		f.Add(text)
	}
	r := newRig(f, mem.New())
	f.Fuzz(func(t *testing.T, text string) {
		r.t = t
		r.trail = &explain.Trail{
			Asked: explain.Module{DebugFile: text}, Verdict: text, Advice: []string{text},
			Tried: []explain.Attempt{{Source: text, Location: text, Detail: text}},
		}
		if len(text) > 2<<10 {
			text = text[:2<<10]
		}
		resp := r.do("GET", modulePage+"?q="+url.QueryEscape(text)+"&addr="+url.QueryEscape(text)+"&note="+url.QueryEscape(text), "")
		checkHarmless(t, r.expect(resp, 200))
	})
}

func TestAnswersAreForTheirClientOnly(t *testing.T) {
	r := newRig(t, mem.New())
	for _, accept := range []string{"text/html", "application/json", "text/event-stream"} {
		for _, method := range []string{"GET", "POST"} {
			h := r.do(method, modulePage+"?do=fetch", "", "Accept", accept, "Origin", "http://localhost:3021").Header
			if h.Get("Cache-Control") != "no-store" || h.Get("Access-Control-Allow-Origin") != "" || !strings.Contains(h.Get("Vary"), "Cookie") {
				t.Errorf("%s as %s: the headers are %v", method, accept, h)
			}
		}
	}
}

func TestATokenInARequestCountsBeforeTheSession(t *testing.T) {
	r := newRig(t, mem.New())
	admin, reader := r.login(r.token(token.Admin)), r.token(token.Read)
	r.expect(r.do("GET", modulePage, "", "Cookie", admin, "Auth-Token", reader), 403)
	r.expect(r.do("GET", "/t/"+reader+modulePage, "", "Cookie", admin), 403)
	r.expect(r.do("GET", "/t/unknown"+modulePage, "", "Cookie", admin), 401)
}

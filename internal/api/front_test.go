package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/fault"
	"symbolon/internal/metric"
	"symbolon/internal/waittest"
)

func TestPanicsAreAnsweredAndLogged(t *testing.T) {
	log := &waittest.Log{}
	base := serve(t, api.Config{MaxInFlight: 1}, options(log),
		get("/before", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, "a beginning that is held back")
			panic("before the answer")
		}),
		get("/amid", func(w http.ResponseWriter, r *http.Request) {
			_, _ = w.Write(random(100_000))
			panic("amid the answer")
		}),
		get("/abort", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }),
		get("/fine", say("fine")))
	res, err := http.Get(base + "/before")
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(res.Body)
	if res.StatusCode != 500 || string(body) != `{"title":"500 Internal Server Error"}` || err != nil {
		t.Errorf("got %d %q, %v", res.StatusCode, body, err)
	}
	for _, path := range []string{"/amid", "/abort"} {
		res, err = http.Get(base + path)
		if err == nil {
			_, err = io.ReadAll(res.Body)
		}
		if err == nil {
			t.Errorf("%s: half an answer looks like a whole one", path)
		}
	}
	for range 3 { // the one slot has come back each time
		if res, err = http.Get(base + "/fine"); err != nil || res.StatusCode != 200 {
			t.Errorf("afterwards: %v, %v", res, err)
		}
	}
	log.Await(t, "before the answer")
	log.Await(t, "amid the answer")
	log.Await(t, "front_test.go") // the stack
	if text := log.String(); strings.Contains(text, "abort Handler") || !strings.Contains(text, `"path":"/abort","status":499`) {
		t.Errorf("giving up on purpose is logged as something else: %s", text)
	}
}

func TestFullServerRefusesAtOnce(t *testing.T) {
	log := &waittest.Log{}
	enter, leave := make(chan struct{}), make(chan struct{})
	refused := metric.Refused.Value("busy")
	work := api.Route{Methods: []string{"POST"}, Pattern: "/work", Fail: api.FailError, Handle: func(w http.ResponseWriter, r *http.Request) {
		enter <- struct{}{}
		<-leave
	}}
	base := serve(t, api.Config{MaxInFlight: 2}, options(log), work)
	done := make(chan int, 2)
	for range 2 {
		go func() {
			res, err := http.Post(base+"/work", "", nil)
			if err != nil {
				t.Error(err)
				done <- 0
				return
			}
			done <- res.StatusCode
		}()
		<-enter
	}
	res, err := http.Post(base+"/work", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(res.Body)
	if res.StatusCode != 503 || res.Header.Get("Retry-After") != "1" || !strings.HasPrefix(string(body), `{"error":"503 Service Unavailable: `) {
		t.Errorf("got %d, Retry-After %q, %s", res.StatusCode, res.Header.Get("Retry-After"), body)
	}
	if got := metric.Refused.Value("busy") - refused; got != 1 {
		t.Errorf("%d refusals are counted", got)
	}
	if metric.InFlight.Value() < 2 {
		t.Errorf("%d requests in flight are shown", metric.InFlight.Value())
	}
	for _, path := range []string{"/__lbheartbeat__", "/__heartbeat__", "/metrics", "/readyz"} {
		if res, err := http.Get(base + path); err != nil || res.StatusCode != 200 {
			t.Errorf("%s, when full: %v, %v", path, res, err)
		}
	}
	close(leave)
	for range 2 {
		if got := <-done; got != 200 {
			t.Errorf("a request that was let in got %d", got)
		}
	}
}

func TestNegativeLimitIsUnlimited(t *testing.T) {
	var f *api.Front
	depth := 0
	f = newFront(api.Config{MaxInFlight: -1}, get("/deep", func(w http.ResponseWriter, r *http.Request) {
		if depth++; depth < 500 {
			do(f, "GET", "/deep", "")
		}
	}))
	if w := do(f, "GET", "/deep", ""); w.Code != 200 || depth != 500 {
		t.Errorf("got %d at depth %d", w.Code, depth)
	}
}

func TestValidRequestIDsAreKept(t *testing.T) {
	log := &waittest.Log{}
	var inside string
	f := api.New(api.Config{}, options(log), []api.Route{get("/x", func(w http.ResponseWriter, r *http.Request) { inside = api.RequestID(r.Context()) })})
	for _, id := range []string{"abc-123_X.y:z=+/@", strings.Repeat("a", 128)} {
		if w := do(f, "GET", "/x", "", "X-Request-ID", id); w.Header().Get("X-Request-ID") != id || inside != id {
			t.Errorf("%s: got %q outside, %q inside", id, w.Header().Get("X-Request-ID"), inside)
		}
		log.Await(t, `"request_id":"`+id+`"`)
	}
	seen := map[string]bool{}
	for _, id := range []string{"", strings.Repeat("a", 129), "a b", "a\x1b[31m", "{}", "\u00fc", "", ""} {
		got := do(f, "GET", "/x", "", "X-Request-ID", id).Header().Get("X-Request-ID")
		if len(got) != 16 || got != inside || seen[got] {
			t.Errorf("%q: got %q outside, %q inside", id, got, inside)
		}
		seen[got] = true
	}
	if got := api.RequestID(context.Background()); got != "" {
		t.Errorf("outside of any request the id is %q", got)
	}
}

func TestEachRequestIsLoggedOnce(t *testing.T) {
	log := &waittest.Log{}
	f := api.New(api.Config{}, options(log), []api.Route{post("/echo", echo)})
	before := metric.Requests.Value("/echo", "200")
	do(f, "POST", "/echo?secret=1", "12345", "User-Agent", "FirefoxProfiler/1.0 (+https://x)", "X-Request-ID", "id1")
	var line map[string]any
	if err := json.Unmarshal([]byte(log.String()), &line); err != nil {
		t.Fatalf("%v in %s", err, log)
	}
	for key, want := range map[string]any{
		"msg": "request", "level": "INFO", "method": "POST", "path": "/echo", "status": 200.0, "bytes": 5.0,
		"request_id": "id1", "user_agent": "FirefoxProfiler/1.0 (+https://x)",
	} {
		if line[key] != want {
			t.Errorf("%s is %v, want %v", key, line[key], want)
		}
	}
	if _, ok := line["duration"]; !ok {
		t.Error("no duration")
	}
	if strings.Contains(log.String(), "secret") {
		t.Error("the query is in the log")
	}
	if got := metric.Requests.Value("/echo", "200") - before; got != 1 {
		t.Errorf("%d requests are counted", got)
	}
	do(f, "GET", "/__lbheartbeat__", "")
	log.Await(t, `"level":"DEBUG","msg":"request"`)
}

func TestUnknownPathsDoNotMakeMetrics(t *testing.T) {
	f := newFront(api.Config{})
	before := metric.Requests.Value("none", "404")
	for i := range 10 {
		do(f, "GET", fmt.Sprintf("/unknown/%d", i), "")
	}
	if got := metric.Requests.Value("none", "404") - before; got != 10 {
		t.Errorf("%d are counted, want 10", got)
	}
	w := do(f, "GET", "/metrics", "")
	if body := w.Body.String(); strings.Contains(body, "/unknown") || !strings.Contains(body, "symbolon_http_requests_total") {
		t.Errorf("metrics say %s", body)
	}
	if got := w.Header().Get("Content-Type"); !strings.HasPrefix(got, "text/plain; version=0.0.4; charset=utf-8") {
		t.Errorf("metrics are %s", got)
	}
}

func TestClientsThatLeftAreLoggedAs499(t *testing.T) {
	log := &waittest.Log{}
	f := api.New(api.Config{}, options(log), []api.Route{get("/wait", func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() })})
	ctx, leave := context.WithCancel(context.Background())
	leave()
	w := httptest.NewRecorder()
	func() {
		defer func() {
			if p := recover(); p != http.ErrAbortHandler {
				t.Errorf("without an answer the connection is to break; got %v", p)
			}
		}()
		f.ServeHTTP(w, httptest.NewRequest("GET", "/wait", nil).WithContext(ctx))
	}()
	log.Await(t, `"status":499`)
	if w.Body.Len() > 0 {
		t.Errorf("they got %q", w.Body)
	}
}

func TestRefusedTokensAreChallenged(t *testing.T) {
	f := newFront(api.Config{},
		get("/any", func(w http.ResponseWriter, r *http.Request) { api.Fail(w, r, http.StatusUnauthorized, "") }),
		api.Route{Methods: []string{"GET"}, Pattern: "/own", Challenge: api.Basic, Handle: func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusUnauthorized)
		}}, post("/x", echo))
	for path, want := range map[string]string{"/any": `Bearer realm="symbolon"`, "/own": api.Basic, "/x": "", "/unknown": ""} {
		if got := do(f, "GET", path, "").Header().Get("WWW-Authenticate"); got != want {
			t.Errorf("%s: the challenge is %q, want %q", path, got, want)
		}
	}
}

func TestSecurityHeadersAreOnEverything(t *testing.T) {
	f := newFront(api.Config{}, first(), post("/x", echo))
	for _, c := range [][2]string{{"GET", "/"}, {"GET", "/nope"}, {"POST", "/x"}, {"PUT", "/x"}, {"OPTIONS", "/x"}, {"GET", "/metrics"}} {
		if got := do(f, c[0], c[1], "").Header().Get("X-Content-Type-Options"); got != "nosniff" {
			t.Errorf("%s %s: X-Content-Type-Options is %q", c[0], c[1], got)
		}
	}
}

func TestFaultsBecomeStatusCodes(t *testing.T) {
	want := map[fault.Kind]int{
		fault.Internal: 500, fault.NotFound: 404, fault.Denied: 403, fault.Timeout: 504,
		fault.Transport: 502, fault.Malformed: 502, fault.Unsupported: 502,
	}
	for _, k := range fault.Kinds() {
		err := fmt.Errorf("asking: %w", fault.New(k, "there", "why"))
		if got := api.Status(err); got != want[k] || got == 0 {
			t.Errorf("%s: got %d, want %d", k, got, want[k])
		}
	}
	if got := api.Status(errors.New("odd")); got != 500 {
		t.Errorf("an error of no kind: got %d", got)
	}
	if got := api.Status(fault.Of(context.Canceled)); got != 503 {
		t.Errorf("at the end of the server: status %d, want 503", got)
	}
	if got := api.Status(context.DeadlineExceeded); got != 504 {
		t.Errorf("a deadline: got %d", got)
	}
	if got := api.Status(fault.New(fault.Internal, "blob", "%w", syscall.ENOSPC)); got != 507 {
		t.Errorf("a full disk: got %d", got)
	}
}

func TestConfig(t *testing.T) {
	c := api.Config{}.Defaults()
	if c.Listen != "127.0.0.1:3021" || c.MaxInFlight != 200 || c.MaxBody.String() != "64MiB" ||
		c.HeaderTimeout != 10*time.Second || c.IdleTimeout != 120*time.Second {
		t.Errorf("the defaults are %+v", c)
	}
	if err := (api.Config{}).Validate(); err != nil {
		t.Error(err)
	}
	if err := (api.Config{Listen: "3021"}).Validate(); err == nil || !strings.HasPrefix(err.Error(), "listen is ") {
		t.Errorf("a port alone: %v", err)
	}
}

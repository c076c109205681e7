package sentry_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/api/sentry"
	"symbolon/internal/bin"
	"symbolon/internal/bucket/mem"
	"symbolon/internal/token"
	"symbolon/internal/waittest"
)

// twoClients returns the access of two clients, the second one in any scope.
func twoClients() *api.Access {
	cfg := api.AccessConfig{Clients: []api.Client{
		{Name: "one", Token: bin.NewSecret("token-of-client-one"), Scopes: []string{"a", "b"}, Sources: []string{"s1"}},
		{Name: "two", Token: bin.NewSecret("token-of-client-two"), Scopes: []string{"*"}, RequestSources: true},
	}}
	return api.NewAccess(cfg, token.NewRing(cfg.Tokens(), mem.New(), time.Now, quiet), nil)
}

// as sends a request with a token.
func as(f *api.Front, who, method, path, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	if who != "" {
		r.Header.Set("Authorization", "Bearer token-of-client-"+who)
	}
	w := httptest.NewRecorder()
	f.ServeHTTP(w, r)
	return w
}

func TestTokensLimitScopesAndSources(t *testing.T) {
	var asked string
	d := sentry.NewWith(sentry.Config{AllowRequestSources: true}, sentry.Deps{Now: time.Now, Log: quiet, Grant: twoClients().Grant},
		func(a sentry.Search) (sentry.Run, error) {
			asked = fmt.Sprint(a.Scope, " ", a.Grant.Sources, " ", len(a.Named))
			return demo().run, nil
		})
	defer d.Close()
	f := front(d)
	named := `{"sources":[{"id":"x","type":"http","url":"https://x.test/"}]}`
	for _, c := range []struct {
		token, query, body string
		status             int
		asked              string
	}{
		{"", "", `{}`, 401, ""},
		{"three", "", `{}`, 401, ""},
		{"one", "", `{}`, 200, "a [s1] 0"},
		{"one", "?scope=b", `{}`, 200, "b [s1] 0"},
		{"one", "?scope=c", `{}`, 403, ""},
		{"one", "?scope=global", `{}`, 403, ""},
		{"one", "", named, 403, ""},
		{"two", "?scope=c", named, 200, "c [*] 1"},
		{"two", "", `{}`, 200, "global [*] 0"},
	} {
		asked = ""
		if w := as(f, c.token, "POST", "/symbolicate"+c.query, c.body); w.Code != c.status || asked != c.asked {
			t.Errorf("%q %s %s: %d, asked %q; want %d, %q: %s", c.token, c.query, c.body, w.Code, asked, c.status, c.asked, w.Body)
		}
	}
	if w := as(f, "", "GET", "/proxy/a.pdb/1/a.pdb", ""); w.Code != 401 {
		t.Errorf("files without a token: %d", w.Code)
	}
}

// An answer is only for clients of its scope, on each node.
func TestAnswersAreForTheirScope(t *testing.T) {
	gate := make(chan struct{})
	store := &shelf{entries: map[string][]byte{}}
	near, _ := door(t, sentry.Config{}, sentry.Deps{Store: store, Grant: twoClients().Grant}, gated(gate))
	far, _ := door(t, sentry.Config{}, sentry.Deps{Store: store, Grant: twoClients().Grant}, gated(gate))
	var told struct {
		ID string `json:"request_id"`
	}
	w := as(near, "two", "POST", "/symbolicate?timeout=0&scope=c", `{}`)
	if err := json.Unmarshal(w.Body.Bytes(), &told); err != nil || told.ID == "" {
		t.Fatalf("%v: %s", err, w.Body)
	}
	path := "/requests/" + told.ID + "?timeout=0"
	waittest.Until(t, "the announcement", func() bool { return as(far, "two", "GET", path, "").Code == 200 })
	for range 2 {
		for _, f := range []*api.Front{near, far} {
			if a, b, c := as(f, "one", "GET", path, ""), as(f, "", "GET", path, ""), as(f, "two", "GET", path, ""); a.Code != 404 || b.Code != 401 || c.Code != 200 {
				t.Errorf("another scope gets %d, no token %d, its own %d", a.Code, b.Code, c.Code)
			}
		}
		select {
		case <-gate:
		default:
			close(gate)
			waittest.Until(t, "the answer", func() bool { return as(far, "two", "GET", path, "").Body.String() == empty })
		}
	}
}

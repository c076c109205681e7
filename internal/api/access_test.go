package api_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/bin"
	"symbolon/internal/bucket"
	"symbolon/internal/bucket/mem"
	"symbolon/internal/fault"
	"symbolon/internal/token"
)

const secret = "a-token-of-some-length"

// access returns an Access with the tokens of a configuration, and its ring.
func access(cfg api.AccessConfig, trusted ...string) (*api.Access, *token.Ring) {
	ring := token.NewRing(cfg.Tokens(), mem.New(), time.Now, slog.New(slog.DiscardHandler))
	return api.NewAccess(cfg, ring, trusted), ring
}

// add adds a token and returns its text.
func add(t *testing.T, ring *token.Ring, g token.Grant) string {
	text, _, err := ring.Add(t.Context(), token.Token{Grant: g})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// local returns a request of a client of this machine.
func local(name, value string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1:3021/api/forget", nil)
	r.RemoteAddr = "127.0.0.1:5"
	if name != "" {
		r.Header.Set(name, value)
	}
	return r
}

func TestTokensAreBoundToScopes(t *testing.T) {
	cfg := api.AccessConfig{Clients: []api.Client{
		{Name: "one", Token: bin.NewSecret(secret), Scopes: []string{"a", "b"}},
		{Name: "all", Token: bin.NewSecret(secret + "2"), Scopes: []string{"*"}},
		{Name: "ops", Token: bin.NewSecret(secret + "3"), Admin: true},
	}}
	if err := cfg.Validate(); err != nil {
		t.Fatal(err)
	}
	a, _ := access(cfg)
	for _, c := range []struct {
		header, asked, holder, scope string
		ok                           bool
	}{
		{"Bearer " + secret, "", "one", "a", true},
		{"bearer " + secret, "b", "one", "b", true},
		{"Bearer " + secret, "c", "one", "c", false},
		{"Bearer " + secret + "2", "c", "all", "c", true},
		{"Bearer " + secret + "2", "", "all", "", true},
		{"Bearer " + secret + "3", "", "ops", "", false},
		{"Bearer " + secret + "4", "", "", "", false},
		{"Basic " + secret, "", "", "", false},
		{"", "", "", "", false},
	} {
		r := httptest.NewRequest(http.MethodPost, "/symbolicate", nil)
		if c.header != "" {
			r.Header.Set("Authorization", c.header)
		}
		g, err := a.Grant(r)
		if isKnown := c.holder != "" || c.header == ""; (err == nil) != isKnown || err != nil && !errors.Is(err, token.ErrUnknown) {
			t.Errorf("%q: %v", c.header, err)
		}
		if err != nil {
			continue
		}
		if scope, ok := g.Scope(c.asked); g.Name != c.holder || ok != c.ok || ok && scope != c.scope {
			t.Errorf("%q asks for %q: %s, %q, %v", c.header, c.asked, g.Name, scope, ok)
		}
		if g.May(token.Admin, "") != (c.holder == "ops") {
			t.Errorf("%s may operate: %v", g.Name, g.May(token.Admin, ""))
		}
		if len(g.Projects) != 0 {
			t.Errorf("%s has rights in projects: %v", g.Name, g.Projects)
		}
	}
}

func TestATokenIsAcceptedInAllForms(t *testing.T) {
	a, ring := access(api.AccessConfig{Clients: []api.Client{{Token: bin.NewSecret(secret), Scopes: []string{"a"}}}})
	text := add(t, ring, token.Key("", token.Upload))
	basic := func(pair string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte(pair)) }
	for _, c := range []struct {
		name, value string
		isKnown     bool
	}{
		{"Authorization", "Bearer " + text, true},
		{"Authorization", "bearer  " + text, true},
		{"Authorization", "ApiKey " + text, true},
		{"Authorization", "apikey " + text + "=", true},
		{"Authorization", basic("anyone:" + text), true},
		{"Authorization", basic(":" + text), true},
		{"Authorization", basic(":" + secret), true},
		{"Authorization", "Bearer " + token.ForSentry(text, "https://sym.example", "acme", time.Now()), true},
		{"Auth-Token", text, true},
		{"Auth-Token", text + "-of-the-nightly-build", true},
		{"Auth-Token", secret, true},
		{"Authorization", basic(text + ":"), false},
		{"Authorization", "Basic " + text, false},
		{"Authorization", "Bearer", false},
		{"Authorization", "Bearer " + text[1:], false},
		{"Auth-Token", "x" + text, false},
		{"Auth-Token", "-", false},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set(c.name, c.value)
		g, err := a.Grant(r)
		if c.isKnown && (err != nil || g.ID == "") {
			t.Errorf("%s: %s: %v, %v", c.name, c.value, g, err)
		}
		if !c.isKnown && !errors.Is(err, token.ErrUnknown) {
			t.Errorf("%s: %s: %v, want %v", c.name, c.value, err, token.ErrUnknown)
		}
	}
}

func TestWithoutTokensThisMachineMayDoEverything(t *testing.T) {
	a, ring := access(api.AccessConfig{})
	check := func(r *http.Request, want bool, form string, args ...any) {
		t.Helper()
		g, err := a.Grant(r)
		if err != nil {
			t.Fatal(err)
		}
		if g.May(token.Upload, "tea") != want || g.May(token.Admin, "") != want {
			t.Errorf("%s: it may upload: %v, and operate: %v", fmt.Sprintf(form, args...), g.May(token.Upload, "tea"), g.May(token.Admin, ""))
		}
	}
	for remote, want := range map[string]bool{"127.0.0.1:5": true, "[::1]:5": true, "192.0.2.1:5": false, "x": false} {
		r := local("", "")
		r.RemoteAddr = remote
		check(r, want, "%s", remote)
	}
	for host, want := range map[string]bool{
		"localhost": true, "localhost:3021": true, "LocalHost:1": true, "127.0.0.1": true, "127.0.0.2:3021": true, "[::1]": true, "[::1]:3021": true,
		"": false, "evil.test": false, "evil.test:3021": false, "localhost.evil.test:1": false, "127.0.0.1.evil.test": false, "192.0.2.1:1": false,
	} {
		r := local("Origin", "http://"+host)
		r.Host = host
		check(r, want, "to %q", host)
	}
	for _, name := range []string{"X-Forwarded-For", "X-Forwarded-Host", "Forwarded", "Via", "X-Real-Ip",
		"Cf-Connecting-Ip", "True-Client-Ip", "X-Client-Ip", "Origin", "Sec-Fetch-Site"} {
		for _, value := range []string{"192.0.2.1", ""} {
			check(local(name, value), false, "with %s: %q", name, value)
		}
	}
	for _, c := range []struct {
		name, value string
		want        bool
	}{
		{"Origin", "http://127.0.0.1:3021", true}, {"Origin", "http://127.0.0.1:3022", false}, {"Origin", "https://127.0.0.1:3021", false}, {"Origin", "null", false},
		{"Sec-Fetch-Site", "none", true}, {"Sec-Fetch-Site", "same-origin", true}, {"Sec-Fetch-Site", "same-site", false}, {"Sec-Fetch-Site", "cross-site", false},
		{"Authorization", "Bearer a-token-of-another-server", true},
	} {
		check(local(c.name, c.value), c.want, "with %s: %s", c.name, c.value)
	}
	two := local("Origin", "http://127.0.0.1:3021")
	two.Header.Add("Origin", "http://evil.test")
	check(two, false, "of two origins")

	add(t, ring, token.Key("", token.Upload))
	if g, err := a.Grant(local("", "")); err != nil || g.May(token.Upload, "tea") || !g.May(token.Admin, "") || len(g.Visible(map[string]bool{"tea": false})) > 0 {
		t.Errorf("beside a token for uploads: %+v, %v", g, err)
	}
	add(t, ring, token.Grant{Rights: []token.Right{token.Admin}, Projects: []string{token.Any}})
	if g, err := a.Grant(local("", "")); err != nil || g.May(token.Admin, "") {
		t.Errorf("beside a token of an operator: %+v, %v", g, err)
	}
	if _, err := a.Grant(local("Authorization", "Bearer a-token-of-another-server")); !errors.Is(err, token.ErrUnknown) {
		t.Errorf("an unknown token: %v", err)
	}
}

func TestTrustedProxiesAreNotOperators(t *testing.T) {
	for proxy, want := range map[string]bool{"127.0.0.1": false, "127.0.0.0/8": false, "192.0.2.1": true, "::1": true} {
		a, _ := access(api.AccessConfig{}, proxy)
		if g, err := a.Grant(local("", "")); err != nil || g.May(token.Admin, "") != want {
			t.Errorf("127.0.0.1 may operate: %v, with the trusted proxy %s: %v", !want, proxy, err)
		}
	}
	a, _ := access(api.AccessConfig{Clients: []api.Client{{Token: bin.NewSecret(secret), Admin: true}}}, "127.0.0.1")
	if g, err := a.Grant(local("Authorization", "Bearer "+secret)); err != nil || !g.May(token.Admin, "") {
		t.Errorf("the token of an operator is refused from a trusted proxy: %v", err)
	}
}

// Tokens that are added can do what clients without a token can do, and more.
func TestAddedTokensUseTheSourcesOfAll(t *testing.T) {
	tea := []string{"tea"}
	for _, c := range []struct {
		clients         []api.Client
		rights          []token.Right
		scopes, sources []string
	}{
		{nil, []token.Right{token.Upload}, []string{"*"}, []string{"*"}},
		{[]api.Client{{Token: bin.NewSecret(secret), Scopes: []string{"a"}}}, []token.Right{token.Upload}, nil, nil},
		{[]api.Client{{Token: bin.NewSecret(secret), Scopes: []string{"a"}}}, []token.Right{token.Symbolicate}, tea, nil},
	} {
		a, ring := access(api.AccessConfig{Clients: c.clients})
		r := httptest.NewRequest(http.MethodPost, "/symbolicate", nil)
		r.Header.Set("Auth-Token", add(t, ring, token.Grant{Rights: c.rights, Projects: tea}))
		g, err := a.Grant(r)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(g.Scopes, c.scopes) || !slices.Equal(g.Sources, c.sources) || !slices.Equal(g.Projects, tea) {
			t.Errorf("%d clients, %v: %+v", len(c.clients), c.rights, g)
		}
	}
}

// broken is a bucket that fails.
type broken struct{ bucket.Bucket }

func (broken) Stat(context.Context, string) (bucket.Attrs, error) {
	return bucket.Attrs{}, fault.New(fault.Transport, "", "the bucket does not respond")
}

func TestTokensOfTheConfigurationAreValidWithoutTheStore(t *testing.T) {
	cfg := api.AccessConfig{Clients: []api.Client{{Name: "one", Token: bin.NewSecret(secret), Scopes: []string{"a"}}}}
	a := api.NewAccess(cfg, token.NewRing(cfg.Tokens(), broken{}, time.Now, slog.New(slog.DiscardHandler)), nil)
	if g, err := a.Grant(local("Authorization", "Bearer "+secret)); err != nil || g.Name != "one" {
		t.Errorf("a token of the configuration: %v, %v", g, err)
	}
	if _, err := a.Grant(local("Authorization", "Bearer x"+secret)); fault.KindOf(err) != fault.Transport {
		t.Errorf("another token: %v", err)
	}
	a = api.NewAccess(api.AccessConfig{}, token.NewRing(nil, broken{}, time.Now, slog.New(slog.DiscardHandler)), nil)
	if g, err := a.Grant(local("", "")); err != nil || g.May(token.Upload, "") || len(g.Scopes) != 1 {
		t.Errorf("no token: %+v, %v", g, err)
	}
}

func TestWrongTokensAreRefused(t *testing.T) {
	good := api.Client{Token: bin.NewSecret(secret), Scopes: []string{"a"}}
	for want, list := range map[string][]api.Client{
		"at least 16":         {{Token: bin.NewSecret("short"), Scopes: []string{"a"}}},
		"token is used twice": {good, good},
		"scopes is empty":     {{Token: bin.NewSecret(secret)}},
		"has an empty name":   {{Token: bin.NewSecret(secret), Scopes: []string{""}}},
	} {
		err := api.AccessConfig{Clients: list}.Validate()
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), secret) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestSymbolicatingNeedsTheRightOnceATokenExists(t *testing.T) {
	a, ring := access(api.AccessConfig{})
	status := func(text string) int {
		r := httptest.NewRequest(http.MethodPost, "/v1development/profiles", nil)
		if text != "" {
			r.Header.Set("Authorization", "Bearer "+text)
		}
		if _, err := a.Symbolicating(r); err != nil {
			return api.Status(err)
		}
		return http.StatusOK
	}
	if got := status(""); got != http.StatusOK {
		t.Errorf("status %d while no token exists, want 200", got)
	}
	upload := add(t, ring, token.Grant{Rights: []token.Right{token.Upload}})
	symbolicate := add(t, ring, token.Grant{Rights: []token.Right{token.Symbolicate}})
	for text, want := range map[string]int{"": 401, "unknown": 401, upload: 403, symbolicate: 200} {
		if got := status(text); got != want {
			t.Errorf("status %d for token %q, want %d", got, text, want)
		}
	}
}

func TestTheAddressOfTheLastUseOfATokenIsThatOfTheClient(t *testing.T) {
	a, ring := access(api.AccessConfig{}, "127.0.0.1")
	text, added, err := ring.Add(t.Context(), token.Token{})
	if err != nil {
		t.Fatal(err)
	}
	r := local("Authorization", "Bearer "+text)
	r.Header.Set("X-Forwarded-For", "192.0.2.7")
	if _, err := a.Grant(r); err != nil {
		t.Fatal(err)
	}
	if use, ok := ring.LastUse(added.ID); !ok || use.Client != "192.0.2.7" {
		t.Errorf("the last use is %v, %v: want 192.0.2.7", use, ok)
	}
}

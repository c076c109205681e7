package api_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"symbolon/internal/api"
	"symbolon/internal/bin"
)

const secret = "a-token-of-some-length"

func TestTokensAreBoundToScopes(t *testing.T) {
	cfg := api.AccessConfig{Clients: []api.Client{
		{Name: "one", Token: bin.NewSecret(secret), Scopes: []string{"a", "b"}},
		{Name: "all", Token: bin.NewSecret(secret + "2"), Scopes: []string{"*"}},
		{Name: "ops", Token: bin.NewSecret(secret + "3"), Admin: true},
	}}
	if err := cfg.Validate(); err != nil {
		t.Fatal(err)
	}
	a := api.NewAccess(cfg, nil)
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
		r.Header.Set("Authorization", c.header)
		h := a.Holder(r)
		if h == nil {
			if c.holder != "" {
				t.Errorf("%q has no holder", c.header)
			}
			continue
		}
		if scope, ok := h.Scope(c.asked); h.Name != c.holder || ok != c.ok || ok && scope != c.scope {
			t.Errorf("%q asks for %q: %s, %q, %v", c.header, c.asked, h.Name, scope, ok)
		}
		if a.Operator(r) != (c.holder == "ops") {
			t.Errorf("%s may operate: %v", h.Name, a.Operator(r))
		}
	}
}

func TestWithoutTokensThisMachineOperates(t *testing.T) {
	a := api.NewAccess(api.AccessConfig{}, nil)
	for remote, want := range map[string]bool{"127.0.0.1:5": true, "[::1]:5": true, "192.0.2.1:5": false, "x": false} {
		r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1/api/forget", nil)
		r.RemoteAddr = remote
		if a.Operator(r) != want {
			t.Errorf("%s may operate: %v", remote, !want)
		}
		for _, name := range []string{"X-Forwarded-For", "X-Forwarded-Host", "Forwarded", "Via", "X-Real-Ip",
			"Cf-Connecting-Ip", "True-Client-Ip", "X-Client-Ip", "Origin", "Sec-Fetch-Site"} {
			for _, value := range []string{"192.0.2.1", ""} {
				r.Header = http.Header{name: {value}}
				if a.Operator(r) {
					t.Errorf("%s may operate for another client, by %s: %q", remote, name, value)
				}
			}
		}
	}
}

func TestWithoutTokensOperatorsAskThisMachineByItsOwnName(t *testing.T) {
	a := api.NewAccess(api.AccessConfig{}, nil)
	for host, want := range map[string]bool{
		"localhost": true, "localhost:3021": true, "LocalHost:1": true, "127.0.0.1": true, "127.0.0.2:3021": true, "[::1]": true, "[::1]:3021": true,
		"": false, "evil.test": false, "evil.test:3021": false, "localhost.evil.test:1": false, "127.0.0.1.evil.test": false, "192.0.2.1:1": false,
	} {
		r := httptest.NewRequest(http.MethodPost, "/api/forget", nil)
		r.RemoteAddr, r.Host = "127.0.0.1:5", host
		if a.Operator(r) != want {
			t.Errorf("a request to %q may operate: %v", host, !want)
		}
	}
}

func TestTrustedProxiesAreNotOperators(t *testing.T) {
	for proxy, want := range map[string]bool{"127.0.0.1": false, "127.0.0.0/8": false, "192.0.2.1": true, "::1": true} {
		a := api.NewAccess(api.AccessConfig{}, []string{proxy})
		r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1/api/forget", nil)
		r.RemoteAddr = "127.0.0.1:5"
		if a.Operator(r) != want {
			t.Errorf("127.0.0.1 may operate: %v, with the trusted proxy %s", !want, proxy)
		}
	}
	r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1/api/forget", nil)
	r.RemoteAddr = "127.0.0.1:5"
	r.Header.Set("Authorization", "Bearer "+secret)
	cfg := api.AccessConfig{Clients: []api.Client{{Token: bin.NewSecret(secret), Admin: true}}}
	if !api.NewAccess(cfg, []string{"127.0.0.1"}).Operator(r) {
		t.Error("the token of an operator is refused from a trusted proxy")
	}
}

func TestWrongTokensAreRefused(t *testing.T) {
	good := api.Client{Token: bin.NewSecret(secret), Scopes: []string{"a"}}
	for want, list := range map[string][]api.Client{
		"at least 16":          {{Token: bin.NewSecret("short"), Scopes: []string{"a"}}},
		"token of another one": {good, good},
		"has no scopes":        {{Token: bin.NewSecret(secret)}},
		"has no name":          {{Token: bin.NewSecret(secret), Scopes: []string{""}}},
	} {
		err := api.AccessConfig{Clients: list}.Validate()
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), secret) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

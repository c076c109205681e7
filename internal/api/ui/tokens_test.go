package ui_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"symbolon/internal/api/ui"
	"symbolon/internal/bucket"
	"symbolon/internal/bucket/mem"
	"symbolon/internal/fault"
	"symbolon/internal/store"
	"symbolon/internal/token"
)

// tokens is the JSON of the page of tokens.
type tokens struct {
	Tokens []struct {
		ID      string        `json:"id"`
		Rights  []token.Right `json:"rights"`
		LastUse *token.Use    `json:"last_use"`
	} `json:"tokens"`
}

// add adds a token for projects.
func (s *site) add(t *testing.T, projects ...string) (id, secret string) {
	t.Helper()
	secret, added, err := s.ring.Add(t.Context(), token.Token{Grant: token.Grant{Name: "of a test", Rights: []token.Right{token.Upload}, Projects: projects}})
	if err != nil {
		t.Fatal(err)
	}
	return added.ID, secret
}

func TestAnAdminManagesTheTokensOfItsProjectsOnly(t *testing.T) {
	s := newSite(t, store.Config{})
	own, secret := s.add(t, "web")
	foreign, _ := s.add(t, "web", "app")
	l := get[tokens](s, "web", "/ui/tokens")
	if len(l.Tokens) != 1 || l.Tokens[0].ID != own || l.Tokens[0].LastUse != nil {
		t.Errorf("it sees %+v", l)
	}
	if l := get[tokens](s, "root", "/ui/tokens"); len(l.Tokens) != 2 {
		t.Errorf("an admin of all projects sees %+v", l)
	}
	for _, do := range []string{"limit", "revoke"} {
		s.post("web", "/ui/tokens?do="+do+"&id="+foreign, "right=read").Expect(http.StatusNotFound)
	}
	s.post("web", "/ui/tokens?do=make", "right=read&projects=web,+app").Expect(http.StatusForbidden, "right admin in the projects web, app")
	s.post("web", "/ui/tokens?do=make", "right=read&projects=*").Expect(http.StatusForbidden)
	s.post("web", "/ui/tokens?do=make", "right=read").Expect(http.StatusForbidden, "default")
	s.post("reader", "/ui/tokens?do=make", "right=read&projects=web").Expect(http.StatusForbidden)
	s.post("web", "/ui/tokens?do=limit&id="+own, "right=admin").Expect(http.StatusBadRequest, "invalid right")
	s.post("web", "/ui/tokens?do=limit&id="+own, "right=read&expires=2999-01-01").Expect(http.StatusOK)
	if l := get[tokens](s, "web", "/ui/tokens"); !slices.Equal(l.Tokens[0].Rights, []token.Right{token.Read}) {
		t.Errorf("after the limit: %+v", l)
	}
	s.ring.Used(own, "192.0.2.1")
	if l := get[tokens](s, "web", "/ui/tokens"); l.Tokens[0].LastUse == nil || l.Tokens[0].LastUse.Client != "192.0.2.1" {
		t.Errorf("after a use: %+v", l)
	}
	s.post("web", "/ui/tokens?do=revoke&id="+own, "").Expect(http.StatusOK)
	if _, err := s.ring.Grant(t.Context(), secret); err != token.ErrUnknown {
		t.Errorf("after it was revoked: %v", err)
	}
}

func TestTheSecretOfATokenIsInOneAnswerOnly(t *testing.T) {
	s := newSite(t, store.Config{})
	a := s.Ask("root", http.MethodPost, "/ui/tokens?do=make", "name=ci&right=upload&right=read&labels=product=pot&expires=2999-12-31",
		"Content-Type", "application/x-www-form-urlencoded", "Accept", "text/html")
	a.Expect(http.StatusOK, "export SENTRY_AUTH_TOKEN=sntrys_", "export DEBUGINFOD_URLS="+s.URL+"/t/", "curl -H")
	_, rest, _ := strings.Cut(a.Body, `<pre id="token">`)
	secret, _, _ := strings.Cut(rest, "<")
	g, err := s.ring.Grant(t.Context(), secret)
	if err != nil || g.Labels["product"] != "pot" || !slices.Equal(g.Rights, []token.Right{token.Read, token.Upload}) && !slices.Equal(g.Rights, []token.Right{token.Upload, token.Read}) {
		t.Errorf("the token %q has %+v, %v", secret, g, err)
	}
	if a.Header.Get("Set-Cookie") != "" {
		t.Error("a client that has a token is signed in with another one")
	}
	for _, kind := range []string{"text/html", "application/json"} {
		if body := s.Ask("root", http.MethodGet, "/ui/tokens", "", "Accept", kind).Body; strings.Contains(body, secret) || strings.Contains(body, "hash") {
			t.Errorf("the list has the secret as %s", kind)
		}
	}
	for form, want := range map[string]string{
		"name=ci": "choose a right", "right=fly": "invalid right", "right=read&expires=1999-01-01": "must be in the future",
		"right=read&projects=A+B": "invalid project", "right=read&labels=x": "invalid label",
	} {
		s.post("root", "/ui/tokens?do=make", form).Expect(http.StatusBadRequest, want)
	}
}

func TestProjectsAreSetByTheirAdmins(t *testing.T) {
	s := newSite(t, store.Config{})
	isPublic := func(name string) bool {
		all, err := s.Store.Projects(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return all[name]
	}
	s.post("root", "/ui/projects?do=set", "name=app&new=yes").Expect(http.StatusOK)
	s.post("web", "/ui/projects?do=set", "name=web&public=yes").Expect(http.StatusOK)
	if !isPublic("web") || isPublic("app") {
		t.Error("the projects have other settings")
	}
	s.post("root", "/ui/projects?do=set", "name=web&new=yes").Expect(http.StatusConflict)
	s.post("web", "/ui/projects?do=set", "name=app&public=yes").Expect(http.StatusForbidden)
	s.post("reader", "/ui/projects?do=set", "name=web").Expect(http.StatusForbidden)
	s.post("root", "/ui/projects?do=set", "name="+url.QueryEscape("../x")).Expect(http.StatusBadRequest, "invalid project")
	for client, want := range map[string]string{"root": "app", "web": "default"} {
		l := get[struct {
			Projects []struct{ Name string } `json:"projects"`
		}](s, client, "/ui/projects?ask=app")
		if l.Projects[0].Name != want {
			t.Errorf("%s sees %+v", client, l)
		}
	}
	if body := s.Ask("web", http.MethodGet, "/ui/projects?ask=app", "", "Accept", "text/html").Body; strings.Contains(body, "<strong>app") {
		t.Error("the page names a project that its client may not see")
	}
}

// failing is a bucket that does not take new blobs.
type failing struct{ *mem.Bucket }

// Put fails.
func (failing) Put(context.Context, string, io.Reader, bucket.Attrs) (bool, error) {
	return false, fault.New(fault.Transport, "the-bucket", "the store does not answer")
}

func TestAStoreThatFailsIsNotTheClientsMistake(t *testing.T) {
	state := failing{mem.New()}
	r := newRig(t, mem.New(), func(d *ui.Deps) { d.Tokens = token.NewRing(nil, state, time.Now, slog.New(slog.DiscardHandler)) })
	text := r.expect(r.do("POST", "/ui/tokens?do=make", "name=x&right=admin&projects=*", "Accept", "application/json"), 503, "does not respond; the log has the cause")
	if strings.Contains(text, "the-bucket") {
		t.Errorf("the answer has the place of the store: %s", text)
	}
	r.expect(r.do("POST", "/ui/tokens?do=make", "name=x&right=own&projects=*", "Accept", "application/json"), 400, "invalid right")
}

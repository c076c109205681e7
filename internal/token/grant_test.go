package token_test

import (
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"symbolon/internal/bucket/mem"
	"symbolon/internal/ident"
	"symbolon/internal/token"
)

func TestRightsAreValidInTheirProjects(t *testing.T) {
	all := []string{"default", "tea", "mug"}
	for _, c := range []struct {
		right token.Right
		may   []token.Right // in the project of the grant
	}{
		{token.Read, []token.Right{token.Read}},
		{token.Symbolicate, []token.Right{token.Symbolicate}},
		{token.Upload, []token.Right{token.Read, token.Upload}},
		{token.UploadTry, []token.Right{token.UploadTry}},
		{token.Delete, []token.Right{token.Delete}},
		{token.Admin, token.Rights()},
	} {
		for _, in := range [][]string{nil, {"tea"}, {"tea", "default"}, {token.Any}} {
			g := token.Grant{Rights: []token.Right{c.right}, Projects: in}
			for _, r := range token.Rights() {
				for _, project := range all {
					want := slices.Contains(c.may, r) && (slices.Contains(in, project) || slices.Contains(in, token.Any))
					if g.May(r, project) != want {
						t.Errorf("with %s in %q, May(%s, %s) is %v", c.right, in, r, project, !want)
					}
				}
				if want := slices.Contains(c.may, r); g.May(r, "") != want {
					t.Errorf("with %s in %q, May(%s) is %v", c.right, in, r, !want)
				}
			}
		}
	}
}

func TestPrivateProjectsAreVisibleWithTheRight(t *testing.T) {
	all := map[string]bool{"default": true, "tea": false, "mug": false}
	for _, c := range []struct {
		rights             []token.Right
		projects           []string
		visible, answering string
	}{
		{nil, nil, "default", "default"},
		{[]token.Right{token.Read}, []string{"tea", "other"}, "default tea", "default tea"},
		{[]token.Right{token.Upload}, []string{"tea"}, "default tea", "default tea"},
		{[]token.Right{token.Symbolicate}, []string{"tea"}, "default", "default tea"},
		{[]token.Right{token.Delete, token.UploadTry}, []string{token.Any}, "default", "default"},
		{[]token.Right{token.Admin}, []string{token.Any}, "default mug tea", "default mug tea"},
		{[]token.Right{token.Admin}, nil, "default", "default"},
	} {
		g := token.Grant{Rights: c.rights, Projects: c.projects}
		if got := strings.Join(g.Visible(all), " "); got != c.visible {
			t.Errorf("%q in %q: %s are visible, want %s", c.rights, c.projects, got, c.visible)
		}
		if got := strings.Join(g.Answering(all), " "); got != c.answering {
			t.Errorf("%q in %q: %s answer, want %s", c.rights, c.projects, got, c.answering)
		}
	}
}

func TestExpiredTokensAreRefusedAndPublishNothing(t *testing.T) {
	now := time.Now()
	r := token.NewRing(nil, mem.New(), func() time.Time { return now }, slog.New(slog.DiscardHandler))
	text, _, err := r.Add(t.Context(), token.Token{Grant: token.Key("", token.Read), Expires: now.Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Grant(t.Context(), text); err != nil {
		t.Errorf("before the expiry: %v", err)
	}
	now = now.Add(time.Hour)
	if _, err := r.Grant(t.Context(), text); !errors.Is(err, token.ErrUnknown) {
		t.Errorf("after the expiry: %v", err)
	}
	if isOpen, err := r.IsOpen(t.Context()); isOpen {
		t.Errorf("reading needs no token after the expiry: %v", err)
	}
}

func TestTokensAreHeldUntilTheyExpireOrAreRevoked(t *testing.T) {
	now := time.Now()
	r := token.NewRing(nil, mem.New(), func() time.Time { return now }, slog.New(slog.DiscardHandler))
	add := func(expires time.Time) string {
		_, added, err := r.Add(t.Context(), token.Token{Grant: token.Key("", token.Upload), Expires: expires})
		if err != nil {
			t.Fatal(err)
		}
		return added.ID
	}
	check := func(when, id string, want bool) {
		t.Helper()
		if got, err := r.Holds(t.Context(), id); err != nil || got != want {
			t.Errorf("%s: Holds is %v, %v; want %v", when, got, err, want)
		}
	}
	lasting, short := add(time.Time{}), add(now.Add(time.Hour))
	check("without a token", "", true)
	check("an unknown token", "another", false)
	check("a token", lasting, true)
	check("before the expiry", short, true)
	now = now.Add(time.Hour)
	check("after the expiry", short, false)
	if err := r.Revoke(t.Context(), lasting); err != nil {
		t.Fatal(err)
	}
	check("a revoked token", lasting, false)
}

func TestOnlyTokensForReadingTheDefaultProjectCloseIt(t *testing.T) {
	for _, c := range []struct {
		right   token.Right
		project string
		closes  bool
	}{
		{token.Upload, ident.DefaultProject, false}, {token.Admin, token.Any, false}, {token.Read, "tea", false},
		{token.Read, ident.DefaultProject, true}, {token.Read, token.Any, true},
	} {
		r := token.NewRing(nil, mem.New(), time.Now, slog.New(slog.DiscardHandler))
		if _, _, err := r.Add(t.Context(), token.Token{Grant: token.Grant{Rights: []token.Right{c.right}, Projects: []string{c.project}}}); err != nil {
			t.Fatal(err)
		}
		if isOpen, err := r.IsOpen(t.Context()); isOpen == c.closes {
			t.Errorf("%s in %s: IsOpen is %v, %v", c.right, c.project, isOpen, err)
		}
	}
}

func TestInvalidTokensAreNotAdded(t *testing.T) {
	r := token.NewRing(nil, mem.New(), time.Now, slog.New(slog.DiscardHandler))
	good := token.Key("", token.Read)
	for want, x := range map[string]token.Token{
		`invalid right "own"`: {Grant: token.Grant{Rights: []token.Right{"own"}, Projects: good.Projects}},
		`invalid project "A"`: {Grant: token.Grant{Rights: good.Rights, Projects: []string{"A"}}},
		"in the future":       {Grant: good, Expires: time.Now().Add(-time.Second)},
	} {
		if text, _, err := r.Add(t.Context(), x); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %q, %v", want, text, err)
		}
	}
	if list, err := r.List(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("%v, %v", list, err)
	}
}

// A key of the configuration may be in both lists.
func TestATokenThatIsListedTwiceHasTheRightsOfBoth(t *testing.T) {
	const text = "a-text-of-a-configuration"
	r := token.NewRing([]token.Token{
		token.Fixed(text, token.Grant{Rights: []token.Right{token.Symbolicate}, Scopes: []string{"1"}}),
		token.Fixed(text, token.Key("", token.Upload)),
	}, mem.New(), time.Now, slog.New(slog.DiscardHandler))
	g, err := r.Grant(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	if !g.May(token.Symbolicate, "") || !g.May(token.Upload, ident.DefaultProject) || len(g.Scopes) != 1 {
		t.Errorf("%+v", g)
	}
}

func TestATokenIsKnownInTheFormOfSentrysClient(t *testing.T) {
	r := token.NewRing(nil, mem.New(), time.Now, slog.New(slog.DiscardHandler))
	text, added, err := r.Add(t.Context(), token.Token{Grant: token.Key("ci", token.Upload)})
	if err != nil {
		t.Fatal(err)
	}
	if len(text) != 43 || strings.ContainsAny(text, "-_+/=") {
		t.Errorf("the token %q cannot be sent in all forms", text)
	}
	long := token.ForSentry(text, "https://sym.example", "acme", time.Now())
	for _, form := range []string{text, text + "=", long} {
		if g, err := r.Grant(t.Context(), form); err != nil || g.ID != added.ID {
			t.Errorf("%s: %v, %v", form, g, err)
		}
	}
	for _, form := range []string{"", text[1:], text + "A", "sntrys_" + text[1:], long[:len(long)-1]} {
		if _, err := r.Grant(t.Context(), form); !errors.Is(err, token.ErrUnknown) {
			t.Errorf("%s: %v", form, err)
		}
	}
}

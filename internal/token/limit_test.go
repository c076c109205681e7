package token_test

import (
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"symbolon/internal/bucket/mem"
	"symbolon/internal/token"
)

func TestALimitOnlyReducesAToken(t *testing.T) {
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	ring := token.NewRing(nil, mem.New(), func() time.Time { return now }, slog.New(slog.DiscardHandler))
	text, added, err := ring.Add(t.Context(), token.Token{Grant: token.Grant{Rights: []token.Right{token.Upload, token.Delete}}, Expires: now.Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	for name, try := range map[string]func() error{
		"another right":  func() error { return ring.Limit(t.Context(), added.ID, []token.Right{token.Admin}, time.Time{}) },
		"a later expiry": func() error { return ring.Limit(t.Context(), added.ID, nil, now.Add(2*time.Hour)) },
		"a past expiry":  func() error { return ring.Limit(t.Context(), added.ID, nil, now.Add(-time.Hour)) },
		"another token":  func() error { return ring.Limit(t.Context(), "NOBODY", nil, now.Add(time.Minute)) },
	} {
		if err := try(); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	if err := ring.Limit(t.Context(), added.ID, []token.Right{token.Read}, now.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	g, err := ring.Grant(t.Context(), text)
	if err != nil || !slices.Equal(g.Rights, []token.Right{token.Read}) {
		t.Errorf("the token has %v, %v: want the right read", g, err)
	}
	now = now.Add(2 * time.Minute)
	if _, err := ring.Grant(t.Context(), text); err != token.ErrUnknown {
		t.Errorf("after its new expiry: %v", err)
	}
}

func TestTheLastUsesOfTokensAreBounded(t *testing.T) {
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	ring := token.NewRing(nil, mem.New(), func() time.Time { return now }, slog.New(slog.DiscardHandler))
	for i := range 10_001 {
		now = now.Add(time.Second)
		ring.Used(fmt.Sprint(i), "192.0.2.1")
	}
	if use, ok := ring.LastUse("10000"); !ok || use.Client != "192.0.2.1" || !use.Time.Equal(now) {
		t.Errorf("the last use is %v, %v", use, ok)
	}
	if _, ok := ring.LastUse("0"); ok {
		t.Error("the oldest use is kept beyond the limit")
	}
	if _, ok := ring.LastUse("1"); !ok {
		t.Error("more uses are dropped than necessary")
	}
}

func TestAnAdminManagesTokensOfItsProjects(t *testing.T) {
	g := &token.Grant{Rights: []token.Right{token.Admin}, Projects: []string{"web", "app"}}
	for _, projects := range [][]string{{"web"}, {"app", "web"}} {
		if !g.Manages(projects) {
			t.Errorf("it does not manage %q", projects)
		}
	}
	for _, projects := range [][]string{{"web", "other"}, {token.Any}} {
		if g.Manages(projects) {
			t.Errorf("it manages %q", projects)
		}
	}
}

package store_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"symbolon/internal/bucket/mem"
	"symbolon/internal/store"
)

func TestOtherUploadsOfAFileAreFound(t *testing.T) {
	s := open(t, mem.New())
	own := upload(t, s, "web", symbols(1, code))
	same := upload(t, s, "web", symbols(1, code))
	alike := upload(t, s, "app", symbols(1, code+"FUNC 2000 10 0 pour\n"))
	gone := upload(t, s, "web", symbols(1, code))
	upload(t, s, "web", symbols(2, code))
	upload(t, s, "hidden", symbols(1, code))
	if err := s.Delete(t.Context(), gone.ID, "me", "a test"); err != nil {
		t.Fatal(err)
	}
	got, err := s.Others(t.Context(), []string{"web", "app"}, own.ID, &own.Files[0])
	want := []store.Other{{Upload: same.ID, IsSame: true}, {Upload: alike.ID}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
}

func TestTheLastRefusalsAreKept(t *testing.T) {
	s := open(t, mem.New())
	var refused *store.Refusal
	for i := range 201 {
		d := s.Begin("web", nil, "ci")
		if _, err := d.Add(t.Context(), fmt.Sprintf("note%d.txt", i), strings.NewReader("hello")); !errors.As(err, &refused) {
			t.Fatal(err)
		}
		d.Close()
	}
	list := s.Refused([]string{"web"})
	if len(list) != 200 || list[0].Name != "note200.txt" || list[0].Uploader != "ci" || list[0].Reason == "" || list[199].Name != "note1.txt" {
		t.Errorf("got %d refusals, the first is %+v", len(list), list[0])
	}
	if list := s.Refused([]string{"app"}); len(list) != 0 {
		t.Errorf("another project has %v", list)
	}
}

func TestTheRuleOfAnUploadIsTheFirstThatMatches(t *testing.T) {
	s := openWith(t, mem.New(), store.Config{Keep: []store.Rule{{Project: "app", Keep: "forever"}, {Project: "w*", Keep: "newest 5"}, {Keep: "30d after upload"}}})
	for project, want := range map[string]int{"app": 1, "web": 2, "other": 3} {
		if r, n := s.Rule(&store.Upload{Project: project}); n != want || r.Keep == "" {
			t.Errorf("the rule of %s is %d %v, want %d", project, n, r, want)
		}
	}
	if _, n := open(t, mem.New()).Rule(&store.Upload{Project: "web"}); n != 0 {
		t.Errorf("without rules there is rule %d", n)
	}
}

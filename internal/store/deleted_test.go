package store_test

import (
	"fmt"
	"testing"
	"time"

	"symbolon/internal/bucket"
	"symbolon/internal/bucket/buckettest"
	"symbolon/internal/bucket/mem"
	"symbolon/internal/store"
)

// deleted returns the uploads of the deletions that a store knows of the nth module.
func deleted(t *testing.T, s *store.Store, n int, projects ...string) (ids []string) {
	t.Helper()
	list, err := s.Deleted(t.Context(), projects, module(n))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range list {
		ids = append(ids, d.Upload)
	}
	return ids
}

func TestDeletionsOfAModuleAreKnownUntilTheirKeysAreRemoved(t *testing.T) {
	buckettest.Each(t, func(t *testing.T, b bucket.Bucket) {
		s := open(t, b)
		u := upload(t, s, "tea", symbols(2, ""), symbols(1, code))
		upload(t, s, "tea", symbols(1, code)) // stays
		if got := deleted(t, s, 1, "tea"); got != nil {
			t.Errorf("before the deletion: %q", got)
		}
		began := time.Now()
		if err := s.Delete(t.Context(), u.ID, "ann", "a mistake"); err != nil {
			t.Fatal(err)
		}
		list, err := s.Deleted(t.Context(), []string{"default", "tea"}, module(1))
		if err != nil || len(list) != 1 {
			t.Fatalf("got %d deletions, %v", len(list), err)
		}
		got := list[0]
		if age := got.Time.Sub(began); age < -time.Millisecond || age > time.Minute {
			t.Errorf("got the time %v", got.Time)
		}
		got.Time = time.Time{}
		if want := (store.Deletion{Upload: u.ID, Project: "tea", File: "file1.sym", By: "ann", Why: "a mistake"}); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
		if got := deleted(t, s, 1, "default"); got != nil {
			t.Errorf("another project knows of the deletion: %q", got)
		}
		if err := s.Erase(t.Context(), u.ID); err != nil {
			t.Fatal(err)
		}
		if got := deleted(t, s, 1, "tea"); got != nil {
			t.Errorf("after the grace: %q", got)
		}
	})
}

func TestDeletionsBehindThoseOfManyUploadsAreFound(t *testing.T) {
	s := open(t, mem.New())
	var last *store.Upload
	for _, p := range []string{"a", "b"} {
		for n := range 110 {
			last = upload(t, s, p, symbols(1, code+fmt.Sprintf("PUBLIC 2000 0 p%d\n", n)))
		}
	}
	if err := s.Delete(t.Context(), last.ID, "ann", ""); err != nil {
		t.Fatal(err)
	}
	if got := deleted(t, s, 1, "a", "b"); len(got) != 1 || got[0] != last.ID {
		t.Errorf("got %q, want %q", got, last.ID)
	}
}

func TestFilesThatStayAreProtectedAsBefore(t *testing.T) {
	s := open(t, mem.New())
	u := upload(t, s, "a", symbols(1, code), symbols(2, code))
	until := time.Now().Add(time.Hour).UTC()
	if err := s.Protect(t.Context(), u.ID, until); err != nil {
		t.Fatal(err)
	}
	if err := s.DeleteFile(t.Context(), u.ID, u.Files[0].SHA256, "ann", ""); err != nil {
		t.Fatal(err)
	}
	rest := find(t, s, store.Question{Module: module(2)}, "a")[0].Upload
	if got, err := s.ProtectedUntil(t.Context(), rest); rest == u.ID || err != nil || !got.Equal(until) {
		t.Errorf("%s is protected until %v, %v, want %v", rest, got, err, until)
	}
}

package retain_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/bucket"
	"symbolon/internal/store"
)

// left returns the names of the first files of the uploads that are not deleted.
func (w *world) left() (names []string) {
	s, _ := w.process(w.bucket)
	list, err := s.List(context.Background(), []string{"a"}, "", 100)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, u := range list {
		names = append(names, u.Files[0].Name)
	}
	return names
}

func TestFirstRuleThatMatchesCounts(t *testing.T) {
	w := newWorld(t, 1)
	w.cfg.Keep = []store.Rule{
		{Labels: map[string]string{"channel": "release"}, Keep: "forever"},
		{Labels: map[string]string{"channel": "nightly*"}, Keep: "30d after upload"},
		{Project: "a", Labels: map[string]string{"version": "*"}, Keep: "newest 2"},
	}
	s, _ := w.process(w.bucket)
	for n, labels := range []map[string]string{
		{"channel": "release", "version": "1"}, {"channel": "nightly-arm"}, nil,
		{"version": "2"}, {"version": "1"}, {"version": "2"}, {"version": "3"},
	} {
		if _, err := w.uploadAs(s, labels, n); err != nil {
			t.Fatal(err)
		}
		w.pass(time.Hour)
	}
	dry := w.collect(true)
	if got := fmt.Sprint(w.left()); got != "[6 5 4 3 2 1 0]" {
		t.Errorf("after a dry run %s are left", got)
	}
	if r := dry.Rules[2]; r.Uploads != 4 || r.Expired != 1 || r.Freed == 0 {
		t.Errorf("the dry run counts %+v", r)
	}
	if r := w.collect(false); r.Uploads != 6 || r.Deleted != 1 {
		t.Errorf("after the run %d uploads are in use and %d are deleted, want 6 and 1", r.Uploads, r.Deleted)
	}
	if got := fmt.Sprint(w.left()); got != "[6 5 3 2 1 0]" {
		t.Errorf("%s are left", got)
	}
	w.pass(30 * 24 * time.Hour)
	w.collect(false)
	if got := fmt.Sprint(w.left()); got != "[6 5 3 2 0]" {
		t.Errorf("after 30 days %s are left", got)
	}
	gone, err := s.GoneUploads(t.Context())
	if err != nil || len(gone) != 1 {
		t.Fatalf("%d uploads are deleted, %v", len(gone), err)
	}
	for _, mark := range gone {
		if mark.By != "retention" || mark.Why != `rule 2 of uploads.keep, "30d after upload", on 2026-01-31` {
			t.Errorf("it is deleted by %s because of %s", mark.By, mark.Why)
		}
	}
}

func TestProtectedUploadsAreKeptUntilTheirTime(t *testing.T) {
	w := newWorld(t, 1)
	w.cfg.Keep = []store.Rule{{Keep: "10d after upload"}}
	w.cfg.MaxTotal = 1
	s, _ := w.process(w.bucket)
	var ids []string
	for n := range 3 {
		u, err := w.upload(s, n)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, u.ID)
	}
	day := func(n int) time.Time { return w.now.Add(time.Duration(n) * 24 * time.Hour) }
	for _, c := range []struct {
		id    string
		until time.Time
	}{{ids[0], day(100)}, {ids[1], day(100)}, {ids[1], day(20)}} {
		if err := s.Protect(t.Context(), c.id, c.until); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"[1 0]", "[1 0]", "[0]", "[0]", "[0]", "[0]", "[0]", "[0]", "[0]", "[0]", "[]"} {
		w.collect(false)
		if got := fmt.Sprint(w.left()); got != want {
			t.Errorf("on %v %s are left, want %s", w.now, got, want)
		}
		w.pass(10 * 24 * time.Hour)
	}
	w.collect(false)
	if keys := w.keys("keep/"); len(keys) != 0 {
		t.Errorf("%q are left", keys)
	}
	if err := s.Protect(t.Context(), ids[2], day(1)); err == nil {
		t.Error("a deleted upload is protected")
	}
}

func TestWithoutRulesUploadsAreKept(t *testing.T) {
	w := newWorld(t, 1)
	s, _ := w.process(w.bucket)
	if _, err := w.upload(s, 1); err != nil {
		t.Fatal(err)
	}
	w.pass(20 * 365 * 24 * time.Hour)
	w.collect(false)
	if got := fmt.Sprint(w.left()); got != "[1]" {
		t.Errorf("%s are left", got)
	}
}

func TestUsedUploadsAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		w.now = time.Now()
		w.cfg.Keep = []store.Rule{{Keep: "10d after last use"}}
		s, _ := w.process(w.bucket)
		for n := range 2 {
			if _, err := w.upload(s, n); err != nil {
				t.Fatal(err)
			}
		}
		w.collect(false) // counting begins
		for range 30 {
			node, k := w.process(w.bucket) // it is started every day
			ctx, cancel := context.WithCancel(t.Context())
			go k.Run(ctx)
			if found, err := node.Find(t.Context(), []string{"a"}, store.Question{Module: module(1)}); err != nil || len(found) != 1 {
				t.Fatalf("found %d files, %v", len(found), err)
			}
			synctest.Wait()
			cancel()
			synctest.Wait()
			w.pass(24 * time.Hour)
			w.collect(false)
		}
		if got := fmt.Sprint(w.left()); got != "[1]" {
			t.Errorf("%s are left", got)
		}
		if n := len(w.keys("used/")); n > 5 {
			t.Errorf("%d blobs have times of last use", n)
		}
		w.pass(13 * 24 * time.Hour)
		w.collect(false)
		if got := w.left(); got != nil {
			t.Errorf("%s are left", got)
		}
	})
}

func TestTimesOfLastUseOutliveTheirBlobs(t *testing.T) {
	w := newWorld(t, 1)
	w.cfg.Keep = []store.Rule{{Keep: "10d after last use"}}
	s, _ := w.process(w.bucket)
	for n, day := range []string{"2026-01-03", "2026-01-02"} {
		u, err := w.upload(s, n)
		if err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf("{%q: %q}", u.ID, day)
		if _, err := w.bucket.Put(t.Context(), fmt.Sprintf("used/process%d/%s", n, day), strings.NewReader(text), bucket.Attrs{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		after time.Duration
		want  string
	}{{0, "[1 0]"}, {5 * 24 * time.Hour, "[1 0]"}, {6 * 24 * time.Hour, "[1 0]"}, {24 * time.Hour, "[0]"}, {24 * time.Hour, "[]"}} {
		w.pass(c.after)
		w.collect(false)
		if got := fmt.Sprint(w.left()); got != c.want {
			t.Errorf("on %s %s are left, want %s", w.now.Format(time.DateOnly), got, c.want)
		}
	}
	if keys := w.keys("used/"); len(keys) != 2 { // since when, and one for all processes
		t.Errorf("got the keys %q, want 2", keys)
	}
}

// An upload that is older than the counting is kept as if it had been used when that
// began.
func TestUploadsFromBeforeTheCountingAreNotUnused(t *testing.T) {
	w := newWorld(t, 1)
	s, _ := w.process(w.bucket)
	if _, err := w.upload(s, 1); err != nil {
		t.Fatal(err)
	}
	w.pass(365 * 24 * time.Hour)
	w.cfg.Keep = []store.Rule{{Keep: "10d after last use"}}
	for range 9 {
		w.collect(false)
		w.pass(24 * time.Hour)
	}
	if got := fmt.Sprint(w.left()); got != "[1]" {
		t.Errorf("after 9 days %s are left", got)
	}
	w.pass(3 * 24 * time.Hour)
	w.collect(false)
	if got := w.left(); got != nil {
		t.Errorf("after 12 days %s are left", got)
	}
}

func TestPatternsOfProjectsAreChecked(t *testing.T) {
	for _, pattern := range []string{"", "*", "a*", "*-b*", "firefox"} {
		if err := (store.Rule{Project: pattern, Keep: "forever"}).Validate(); err != nil {
			t.Errorf("%q: %v", pattern, err)
		}
	}
	for _, pattern := range []string{"BAD*", "a_b", "a b", strings.Repeat("x", 51) + "*"} {
		if err := (store.Rule{Project: pattern, Keep: "forever"}).Validate(); err == nil || !strings.HasPrefix(err.Error(), "project is ") {
			t.Errorf("%q: %v", pattern, err)
		}
	}
}

func TestLifetimesAreChecked(t *testing.T) {
	for _, text := range []string{"", "30d", "30 days", "newest", "newest 0", "0d after upload", "1d after use", "protect me", "Forever"} {
		if err := (store.Rule{Keep: text}).Validate(); err == nil || !strings.HasPrefix(err.Error(), "keep is ") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestPatternsOfRules(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{"a", "a", true}, {"a", "ab", false}, {"*", "", true}, {"*", "a/b", true}, {"a*", "abc", true}, {"a*", "ba", false},
		{"*b", "ab", true}, {"*b", "ba", false}, {"a*a", "a", false}, {"a*a", "aa", true}, {"a*b*c", "a1b2c", true}, {"a*b*c", "acb", false},
	} {
		u := &store.Upload{Project: "p", Labels: map[string]string{"l": c.text}}
		if got := (store.Rule{Labels: map[string]string{"l": c.pattern}}).Matches(u); got != c.want {
			t.Errorf("%q matches %q: %v", c.pattern, c.text, got)
		}
	}
}

func TestLimitsDeleteSupersededUploadsFirst(t *testing.T) {
	w := newWorld(t, 1)
	size := int64(len(symbols(0)))
	w.cfg.Keep = []store.Rule{{Labels: map[string]string{"version": "*"}, Keep: "30d after upload"}}
	s, _ := w.process(w.bucket)
	for n, labels := range []map[string]string{nil, {"version": "1"}, {"version": "2"}, {"version": "1"}, {"version": "2"}} {
		if _, err := w.uploadAs(s, labels, n); err != nil {
			t.Fatal(err)
		}
		w.pass(time.Hour)
	}
	for _, c := range []struct {
		files int64
		want  string
	}{{5, "[4 3 2 1 0]"}, {4, "[4 3 2 0]"}, {3, "[4 2 0]"}, {2, "[4 0]"}, {1, "[0]"}} {
		w.cfg.MaxProject = bin.Size(c.files * size)
		w.collect(false)
		if got := fmt.Sprint(w.left()); got != c.want {
			t.Errorf("with a limit of %d files %s are left, want %s", c.files, got, c.want)
		}
	}
	w.cfg.MaxProject, w.cfg.MaxTotal = 0, 1
	w.collect(false)
	if got := fmt.Sprint(w.left()); got != "[0]" {
		t.Errorf("%s are left, and an upload without a rule is never deleted", got)
	}
}

func TestUploadBeyondALimitIsRefused(t *testing.T) {
	w := newWorld(t, 1)
	w.cfg.MaxTotal = bin.Size(2 * len(symbols(0)))
	s, k := w.process(w.bucket)
	first, err := w.upload(s, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.Collect(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	if _, err := w.upload(s, 1); err != nil {
		t.Fatal(err)
	}
	_, err = w.upload(s, 2)
	var refused *store.Refusal
	if !errors.As(err, &refused) || !errors.Is(err, bin.ErrLimit) || !strings.Contains(err.Error(), "uploads.max_total") {
		t.Errorf("the third upload: %v", err)
	}
	if got := fmt.Sprint(w.left()); got != "[1 0]" {
		t.Errorf("%s are stored", got)
	}
	if err := s.Delete(t.Context(), first.ID, "someone", "old"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.upload(s, 2); err != nil {
		t.Errorf("after a deletion: %v", err)
	}
}

func TestACollectionCountsTheUploadsOfAProject(t *testing.T) {
	w := newWorld(t, 1)
	w.cfg.Keep = []store.Rule{{Labels: map[string]string{"old": "yes"}, Keep: "1d after upload"}}
	s, k := w.process(w.bucket)
	if _, _, isCounted := s.UsageOf("a"); isCounted {
		t.Error("uploads are counted before the first collection")
	}
	for n, labels := range []map[string]string{nil, nil, {"old": "yes"}} {
		if _, err := w.uploadAs(s, labels, n); err != nil {
			t.Fatal(err)
		}
	}
	w.pass(48 * time.Hour)
	if _, err := k.Collect(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	if size, n, isCounted := s.UsageOf("a"); !isCounted || n != 2 || size != int64(2*len(symbols(0))) {
		t.Errorf("the project has %d uploads of %d bytes, %v: want those that the rule keeps", n, size, isCounted)
	}
}

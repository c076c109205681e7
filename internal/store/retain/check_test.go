package retain_test

import (
	"strings"
	"testing"
	"time"

	"symbolon/internal/bucket"
	"symbolon/internal/store"
	"symbolon/internal/store/retain"
)

// inspect returns the output of Check or Rebuild.
func inspect(t *testing.T, k *retain.Keeper, repair bool) (string, error) {
	var out strings.Builder
	run := k.Check
	if repair {
		run = k.Rebuild
	}
	err := run(t.Context(), &out, nil)
	return out.String(), err
}

func TestDerivedKeysAreRebuilt(t *testing.T) {
	w := newWorld(t, 1)
	s, k := w.process(w.bucket)
	u, err := w.upload(s, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := inspect(t, k, false); err != nil || !strings.Contains(out, "checked 1 upload, 2 files") {
		t.Fatalf("a good store: %v\n%s", err, out)
	}
	before := w.keys("")
	for _, key := range append(u.Entries(), u.Files[0].Stored().RecordKey()) {
		if err := w.bucket.Delete(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.bucket.Put(t.Context(), u.Files[1].Stored().RecordKey(), strings.NewReader("{}"), bucket.Attrs{}); err != nil {
		t.Fatal(err)
	}
	if out, err := inspect(t, k, false); err == nil || strings.Count(out, "upload a.") != len(u.Entries())+2 {
		t.Errorf("a store without these keys: %v\n%s", err, out)
	}
	if out, err := inspect(t, k, true); err != nil || !strings.Contains(out, "wrote 6 keys") {
		t.Errorf("rebuild: %v\n%s", err, out)
	}
	if out, err := inspect(t, k, false); err != nil {
		t.Errorf("the store after it: %v\n%s", err, out)
	}
	if after := w.keys(""); strings.Join(after, "\n") != strings.Join(before, "\n") {
		t.Errorf("it has the keys\n%q, want\n%q", after, before)
	}
	w.check(map[string][]int{u.ID: {1, 2}})
}

func TestDamageIsReported(t *testing.T) {
	damage := func(key, text string) func(*world, *store.Upload) {
		return func(w *world, _ *store.Upload) {
			if _, err := w.bucket.Put(w.t.Context(), key, strings.NewReader(text), bucket.Attrs{}); err != nil {
				w.t.Fatal(err)
			}
		}
	}
	for name, c := range map[string]struct {
		do   func(*world, *store.Upload)
		want string
	}{
		"missing bytes": {func(w *world, u *store.Upload) { _ = w.bucket.Delete(w.t.Context(), u.Files[0].Stored().BlobKey()) }, "no such key"},
		"other bytes":   {func(w *world, u *store.Upload) { damage(u.Files[0].Stored().BlobKey(), "x")(w, u) }, "file 1: "},
		"lost record":   {func(w *world, u *store.Upload) { _ = w.bucket.Delete(w.t.Context(), u.Key()) }, "it has no record"},
		"record":        {func(w *world, u *store.Upload) { damage(u.Key(), "{")(w, u) }, "its record cannot be read"},
	} {
		w := newWorld(t, 1)
		s, k := w.process(w.bucket)
		u, err := w.upload(s, 1)
		if err != nil {
			t.Fatal(err)
		}
		c.do(w, u)
		w.pass(25 * time.Hour)
		for _, repair := range []bool{false, true} {
			out, err := inspect(t, k, repair)
			if err == nil || !strings.Contains(err.Error(), "1 problem") || !strings.Contains(out, u.ID) || !strings.Contains(out, c.want) {
				t.Errorf("%s: %v\n%s", name, err, out)
			}
		}
	}
}

func TestDamagedFileIsReplacedByAnotherUpload(t *testing.T) {
	for name, damage := range map[string]func(w *world, key string) error{
		"lost bytes": func(w *world, key string) error { return w.bucket.Delete(w.t.Context(), key) },
		"other bytes": func(w *world, key string) error {
			a, err := w.bucket.Stat(w.t.Context(), key)
			if err == nil {
				_, err = w.bucket.Put(w.t.Context(), key, strings.NewReader(strings.Repeat("x", int(a.Size))), bucket.Attrs{})
			}
			return err
		},
	} {
		w := newWorld(t, 1)
		s, k := w.process(w.bucket)
		u, err := w.upload(s, 1)
		if err == nil {
			err = damage(w, u.Files[0].Stored().BlobKey())
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := inspect(t, k, true); err == nil {
			t.Errorf("%s: Rebuild reports no problem", name)
		}
		again, err := w.upload(s, 1)
		if err != nil {
			t.Fatal(err)
		}
		if repaired, err := s.Verify(t.Context(), &again.Files[0], false); err != nil || repaired {
			t.Errorf("%s: after another upload: repaired %v, %v", name, repaired, err)
		}
		if err := s.Delete(t.Context(), u.ID, "", ""); err != nil {
			t.Fatal(err)
		}
		if out, err := inspect(t, k, false); err != nil {
			t.Errorf("%s: after the deletion of the first upload: %v\n%s", name, err, out)
		}
	}
}

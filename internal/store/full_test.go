package store_test

import (
	"strings"
	"testing"

	"symbolon/internal/bucket"
	"symbolon/internal/bucket/buckettest"
	"symbolon/internal/bucket/mem"
	"symbolon/internal/fault"
	"symbolon/internal/store"
)

// keys returns the keys of a bucket with one of these prefixes.
func keys(t *testing.T, b bucket.Bucket, prefixes ...string) (all []string) {
	t.Helper()
	for _, p := range prefixes {
		list, _, err := b.List(t.Context(), p, "", 100)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, list...)
	}
	return all
}

// failed returns a draft with a file, and another one for which there is no space.
func failed(t *testing.T, b bucket.Bucket, file string) *store.Draft {
	t.Helper()
	blobs := 0
	d := open(t, &buckettest.Full{Bucket: b, IsFull: func(key string) bool {
		if strings.HasPrefix(key, "blob/") {
			blobs++
		}
		return blobs == 2
	}}).Begin("a", nil, "")
	for i, text := range []string{file, symbols(2, code)} {
		_, err := d.Add(t.Context(), "x.sym", strings.NewReader(text))
		if isFull := bucket.IsFull(err); isFull != (i == 1) {
			t.Fatalf("file %d: %v", i, err)
		}
		blobs = max(blobs, i+1)
	}
	blobs = 3 // there is space again
	return d
}

func TestUploadOnAFullDiskLeavesNothing(t *testing.T) {
	b := mem.New()
	failed(t, b, symbols(1, code)).Close()
	if left := keys(t, b, "blob/", "file/", "id/", "upload/"); len(left) > 0 {
		t.Errorf("left are %q", left)
	}
	upload(t, open(t, b), "a", symbols(1, code), symbols(2, code))
}

func TestUploadWhoseRecordHasNoSpaceLeavesNothing(t *testing.T) {
	for _, folder := range []string{"id/", "upload/"} {
		b := mem.New()
		d := open(t, &buckettest.Full{Bucket: b, IsFull: func(key string) bool { return strings.HasPrefix(key, folder) }}).Begin("a", nil, "")
		if _, err := d.Add(t.Context(), "x.sym", strings.NewReader(symbols(1, code))); err != nil {
			t.Fatal(err)
		}
		if _, err := d.Commit(t.Context()); !bucket.IsFull(err) {
			t.Fatalf("%s: %v, want the reason", folder, err)
		}
		d.Close()
		if left := keys(t, b, "blob/", "file/", "id/", "upload/"); len(left) > 0 {
			t.Errorf("%s: left are %q", folder, left)
		}
	}
}

func TestBytesOfAFailedUploadAreKeptForOthers(t *testing.T) {
	b := mem.New()
	d := failed(t, b, symbols(1, code))
	s := open(t, b)
	u := upload(t, s, "b", symbols(1, code))
	d.Close()
	if u.Files[0].Copy != 1 {
		t.Errorf("the other upload relies on copy %d, want that of the failed one", u.Files[0].Copy)
	}
	found := find(t, s, store.Question{Module: module(1)}, "b")
	if got := content(t, s, &found[0]); got != symbols(1, code) {
		t.Errorf("got %q", got)
	}
}

// The failed upload removes its bytes after another one has found them, and before that
// is visible.
func TestNoUploadReliesOnBytesOfAFailedOne(t *testing.T) {
	b := mem.New()
	failing := failed(t, b, symbols(1, code))
	d := open(t, &buckettest.Full{Bucket: b, IsFull: func(key string) bool {
		if strings.HasPrefix(key, "id/") {
			failing.Close()
		}
		return false
	}}).Begin("a", nil, "")
	if _, err := d.Add(t.Context(), "x.sym", strings.NewReader(symbols(1, code))); err != nil {
		t.Fatal(err)
	}
	if u, err := d.Commit(t.Context()); fault.KindOf(err) != fault.Transport {
		t.Errorf("got %v, %v, want an error after which clients try again", u, err)
	}
	if left := keys(t, b, "blob/", "id/", "upload/"); len(left) > 0 {
		t.Errorf("left are %q", left)
	}
	if u := upload(t, open(t, b), "a", symbols(1, code)); u.Files[0].Copy != 2 {
		t.Errorf("the next upload relies on copy %d, want a new one", u.Files[0].Copy)
	}
}

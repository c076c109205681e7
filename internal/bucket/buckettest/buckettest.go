// Package buckettest has the contract of a bucket as tests. An implementation
// calls Run with a function that returns an empty bucket.
package buckettest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"symbolon/internal/bucket"
	"symbolon/internal/fault"
)

// Run tests the buckets returned by open against the contract.
func Run(t *testing.T, open func(t *testing.T) bucket.Bucket) {
	for _, c := range []struct {
		name string
		test func(*testing.T, bucket.Bucket)
	}{
		{"MissingKeyIsNotFound", missing},
		{"PutThenGet", putGet},
		{"RangesAreTruncated", ranges},
		{"PutReplaces", replace},
		{"VersionsDiffer", versions},
		{"IfAbsentKeepsExistingBlob", ifAbsent},
		{"ConcurrentCreatesHaveOneWinner", concurrentCreates},
		{"OpenReaderOutlivesReplacement", readerOutlives},
		{"DeletedBlobIsAbsent", deleted},
		{"OpenReaderOutlivesDelete", readerOutlivesDelete},
		{"EncodingIsStoredOrRejected", encoding},
		{"WrongSizeIsRejected", wrongSize},
		{"FailedPutKeepsPreviousBlob", failedBody},
		{"InvalidKeysAreRejected", invalidKeys},
		{"UnusualKeysAreStored", strangeKeys},
		{"EndedContextIsReturned", endedContext},
		{"CancelledPutStoresNothing", cancelledPut},
		{"CancelEndsReading", cancelledRead},
		{"ConcurrentPutsAreAtomic", concurrent},
		{"BigBlob", big},
		{"LaterBlobsAreStored", later},
		{"KeysAreListedInOrderOfBytes", listOrder},
		{"PagesFollowOneAnother", listPages},
		{"PageHasALimit", listMany},
		{"ChangesWhileListing", listChanging},
		{"InvalidListsAreRejected", invalidLists},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, open(t)) })
	}
}

func put(t *testing.T, b bucket.Bucket, key, body string) {
	t.Helper()
	if _, err := b.Put(t.Context(), key, strings.NewReader(body), bucket.Attrs{}); err != nil {
		t.Fatalf("Put(%q): %v", key, err)
	}
}

func get(t *testing.T, b bucket.Bucket, key string, off, n int64) (string, bucket.Attrs) {
	t.Helper()
	r, a, err := b.Get(t.Context(), key, off, n)
	if err != nil {
		t.Fatalf("Get(%q): %v", key, err)
	}
	body, err := io.ReadAll(r)
	if err != nil {
		t.Fatalf("read %q: %v", key, err)
	}
	if err := r.Close(); err != nil {
		t.Fatalf("close %q: %v", key, err)
	}
	return string(body), a
}

func holds(t *testing.T, b bucket.Bucket, key, want string) {
	t.Helper()
	got, a := get(t, b, key, 0, -1)
	if got != want || a.Size != int64(len(want)) {
		t.Fatalf("%q has %d bytes %.40q with size %d, want %d bytes %.40q", key, len(got), got, a.Size, len(want), want)
	}
}

func refused(t *testing.T, what string, err error, kind fault.Kind) {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != kind {
		t.Fatalf("%s: %v, want a fault of kind %v", what, err, kind)
	}
}

func absent(t *testing.T, b bucket.Bucket, key string) {
	t.Helper()
	_, err := b.Stat(t.Context(), key)
	refused(t, "Stat", err, fault.NotFound)
	_, _, err = b.Get(t.Context(), key, 0, -1)
	refused(t, "Get", err, fault.NotFound)
}

func missing(t *testing.T, b bucket.Bucket) {
	absent(t, b, "no/such/key")
	put(t, b, "some/key", "x")
	absent(t, b, "some")
	absent(t, b, "some/key/below")
	absent(t, b, "some/"+strings.Repeat("k", 600))
}

func putGet(t *testing.T, b bucket.Bucket) {
	put(t, b, "xul.pdb/0123/xul.sym", "MODULE")
	put(t, b, "empty", "")
	holds(t, b, "xul.pdb/0123/xul.sym", "MODULE")
	holds(t, b, "empty", "")
	a, err := b.Stat(t.Context(), "xul.pdb/0123/xul.sym")
	if err != nil || a.Size != 6 {
		t.Fatalf("Stat: %+v, %v", a, err)
	}
}

func ranges(t *testing.T, b bucket.Bucket) {
	const body = "0123456789"
	put(t, b, "k", body)
	for _, c := range []struct {
		off, n int64
		want   string
	}{
		{0, -1, body}, {0, 4, "0123"}, {3, 4, "3456"}, {3, -1, "3456789"}, {8, 5, "89"}, {9, 1, "9"},
		{4, 0, ""}, {10, -1, ""}, {10, 3, ""}, {50, 3, ""}, {50, -1, ""}, {1, 1<<63 - 1, body[1:]},
	} {
		got, a := get(t, b, "k", c.off, c.n)
		if got != c.want || a.Size != int64(len(body)) {
			t.Errorf("Get(%d, %d) = %q of %d, want %q of %d", c.off, c.n, got, a.Size, c.want, len(body))
		}
	}
}

func replace(t *testing.T, b bucket.Bucket) {
	put(t, b, "k", strings.Repeat("long", 1000))
	put(t, b, "k", "short")
	holds(t, b, "k", "short")
}

// versions tests buckets that have versions.
func versions(t *testing.T, b bucket.Bucket) {
	seen := map[string]bool{}
	for i, body := range []string{"first body", "another one"} {
		put(t, b, "k", body)
		stat, err := b.Stat(t.Context(), "k")
		if err != nil {
			t.Fatal(err)
		}
		_, whole := get(t, b, "k", 0, -1)
		_, part := get(t, b, "k", 2, 3)
		_, none := get(t, b, "k", 2, 0)
		if whole.Version != stat.Version || part.Version != stat.Version || none.Version != stat.Version {
			t.Errorf("versions of one blob: %q, %q, %q, %q", stat.Version, whole.Version, part.Version, none.Version)
		}
		if seen[stat.Version] = true; stat.Version != "" && len(seen) != i+1 {
			t.Errorf("two blobs of one version: %v", seen)
		}
	}
}

func readerOutlives(t *testing.T, b bucket.Bucket) {
	old := strings.Repeat("old", 100_000)
	put(t, b, "k", old)
	r, _, err := b.Get(t.Context(), "k", 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	put(t, b, "k", strings.Repeat("NEW", 100_000))
	got, err := io.ReadAll(r)
	if err != nil || string(got) != old {
		t.Fatalf("read %d bytes %.20q, %v; want the old blob", len(got), got, err)
	}
}

func remove(t *testing.T, b bucket.Bucket, key string) {
	t.Helper()
	if err := b.Delete(t.Context(), key); err != nil {
		t.Fatalf("Delete(%q): %v", key, err)
	}
}

func deleted(t *testing.T, b bucket.Bucket) {
	remove(t, b, "no/such/key")
	put(t, b, "some/key/below", "x")
	put(t, b, "some/other", "y")
	for _, key := range []string{"some", "some/key", "some/other/below", "some/key/below/it"} {
		remove(t, b, key)
	}
	holds(t, b, "some/key/below", "x")
	remove(t, b, "some/key/below")
	absent(t, b, "some/key/below")
	remove(t, b, "some/key/below")
	holds(t, b, "some/other", "y")
	create(t, b, "some/key/below", strings.NewReader("again"), 0)
	holds(t, b, "some/key/below", "again")
}

func readerOutlivesDelete(t *testing.T, b bucket.Bucket) {
	old := strings.Repeat("old", 100_000)
	put(t, b, "a/k", old)
	r, _, err := b.Get(t.Context(), "a/k", 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	remove(t, b, "a/k")
	got, err := io.ReadAll(r)
	if err != nil || string(got) != old {
		t.Fatalf("read %d bytes %.20q, %v; want the deleted blob", len(got), got, err)
	}
}

func encoding(t *testing.T, b bucket.Bucket) {
	_, err := b.Put(t.Context(), "k", strings.NewReader("coded"), bucket.Attrs{Encoding: "gzip"})
	if err != nil {
		refused(t, "Put", err, fault.Unsupported)
		absent(t, b, "k")
		return
	}
	body, a := get(t, b, "k", 0, -1)
	if body != "coded" || a.Encoding != "gzip" {
		t.Fatalf("got %q, %+v", body, a)
	}
	if a, err := b.Stat(t.Context(), "k"); err != nil || a.Encoding != "gzip" {
		t.Fatalf("Stat: %+v, %v", a, err)
	}
}

func wrongSize(t *testing.T, b bucket.Bucket) {
	for _, size := range []int64{1, 5, 7, 1 << 40} {
		_, err := b.Put(t.Context(), "k", strings.NewReader("sixsix"), bucket.Attrs{Size: size})
		if err == nil {
			t.Fatalf("Put of 6 bytes with size %d succeeded", size)
		}
	}
	absent(t, b, "k")
	if _, err := b.Put(t.Context(), "k", strings.NewReader("sixsix"), bucket.Attrs{Size: 6}); err != nil {
		t.Fatal(err)
	}
	holds(t, b, "k", "sixsix")
}

func failedBody(t *testing.T, b bucket.Bucket) {
	broken := errors.New("the body broke")
	for _, key := range []string{"new", "old"} {
		if key == "old" {
			put(t, b, key, "previous blob")
		}
		body := io.MultiReader(strings.NewReader(strings.Repeat("x", 200_000)), iotest.ErrReader(broken))
		if _, err := b.Put(t.Context(), key, body, bucket.Attrs{}); !errors.Is(err, broken) {
			t.Fatalf("Put = %v, want the error of the body", err)
		}
	}
	absent(t, b, "new")
	holds(t, b, "old", "previous blob")
}

func invalidKeys(t *testing.T, b bucket.Bucket) {
	for _, key := range []string{
		"", "/", "/a", "a/", "a//b", ".", "..", "../a", "a/..", "a/../b", "a/../../b", "./a", "a/.", "a/./b",
		`a\b`, `..\a`, "a\x00b", "\x00", "a\xffb", strings.Repeat("a/", bucket.MaxKey/2) + "b",
	} {
		_, err := b.Stat(t.Context(), key)
		refused(t, fmt.Sprintf("Stat(%q)", key), err, fault.Malformed)
		_, _, err = b.Get(t.Context(), key, 0, -1)
		refused(t, fmt.Sprintf("Get(%q)", key), err, fault.Malformed)
		_, err = b.Put(t.Context(), key, strings.NewReader("x"), bucket.Attrs{})
		refused(t, fmt.Sprintf("Put(%q)", key), err, fault.Malformed)
		err = b.Delete(t.Context(), key)
		refused(t, fmt.Sprintf("Delete(%q)", key), err, fault.Malformed)
	}
}

func strangeKeys(t *testing.T, b bucket.Bucket) {
	keys := []string{
		"...", "a/..b/c", ".hidden", "with space", "a+b%2f&c", "äöü/π", "x=1;y", "-rf", "~", "$HOME", "a'b\"c",
	}
	for i, key := range keys {
		put(t, b, key, fmt.Sprint("body ", i))
	}
	for i, key := range keys {
		holds(t, b, key, fmt.Sprint("body ", i))
	}
}

func endedContext(t *testing.T, b bucket.Bucket) {
	put(t, b, "k", "x")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Stat(ctx, "k"); !errors.Is(err, context.Canceled) {
		t.Errorf("Stat: %v", err)
	}
	if _, _, err := b.Get(ctx, "k", 0, -1); !errors.Is(err, context.Canceled) {
		t.Errorf("Get: %v", err)
	}
	if _, err := b.Put(ctx, "k", strings.NewReader("y"), bucket.Attrs{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Put: %v", err)
	}
	if err := b.Delete(ctx, "k"); !errors.Is(err, context.Canceled) {
		t.Errorf("Delete: %v", err)
	}
	if _, _, err := b.List(ctx, "", "", 1); !errors.Is(err, context.Canceled) {
		t.Errorf("List: %v", err)
	}
	holds(t, b, "k", "x")
}

func cancelledPut(t *testing.T, b bucket.Bucket) {
	ctx, cancel := context.WithCancel(t.Context())
	body := io.MultiReader(
		strings.NewReader(strings.Repeat("x", 100_000)),
		readerFunc(func([]byte) (int, error) { cancel(); return 0, io.EOF }),
		strings.NewReader(strings.Repeat("y", 100_000)),
	)
	if _, err := b.Put(ctx, "k", body, bucket.Attrs{}); !errors.Is(err, context.Canceled) {
		t.Fatalf("Put: %v", err)
	}
	absent(t, b, "k")
}

func cancelledRead(t *testing.T, b bucket.Bucket) {
	put(t, b, "k", strings.Repeat("x", 8<<20))
	ctx, cancel := context.WithCancel(t.Context())
	r, _, err := b.Get(ctx, "k", 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := io.ReadFull(r, make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := io.Copy(io.Discard, r); !errors.Is(err, context.Canceled) {
		t.Fatalf("Read after cancel = %v", err)
	}
}

func concurrent(t *testing.T, b bucket.Bucket) {
	const writers, rounds = 8, 10
	body := func(w int) string { return strings.Repeat(string(rune('a'+w)), 50_000+w) }
	put(t, b, "k", body(0))
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for range rounds {
				if _, err := b.Put(t.Context(), "k", strings.NewReader(body(w)), bucket.Attrs{}); err != nil {
					t.Errorf("Put: %v", err)
				}
			}
		})
		all.Go(func() {
			for range rounds {
				r, a, err := b.Get(t.Context(), "k", 0, -1)
				if err != nil {
					t.Errorf("Get: %v", err)
					continue
				}
				got, err := io.ReadAll(r)
				r.Close()
				if err != nil || len(got) == 0 || string(got) != body(int(got[0]-'a')) || a.Size != int64(len(got)) {
					t.Errorf("read %d bytes %.10q of %d, %v: not one of the blobs", len(got), got, a.Size, err)
				}
			}
		})
	}
	all.Wait()
}

func big(t *testing.T, b bucket.Bucket) {
	body := make([]byte, 16<<20)
	rand.NewChaCha8([32]byte{}).Read(body)
	// A reader without a size, unlike bytes.Reader.
	if _, err := b.Put(t.Context(), "big", io.MultiReader(bytes.NewReader(body)), bucket.Attrs{}); err != nil {
		t.Fatal(err)
	}
	if got, _ := get(t, b, "big", 0, -1); got != string(body) {
		t.Fatal("the blob changed")
	}
	if got, a := get(t, b, "big", 9<<20+7, 1<<20); got != string(body[9<<20+7:10<<20+7]) || a.Size != 16<<20 {
		t.Fatal("a range of the blob changed")
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

package buckettest

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"symbolon/internal/bucket"
	"symbolon/internal/fault"
)

// listed are keys whose order depends on the place of the slash, which is after "!"
// and before "0", and on letters beyond ASCII. All can be written in XML.
var listed = []string{
	"%41", "+", ".hidden", "B/k", "a b", "a!b", "a/b/c", "a/b!", "a/b.d/k", "a/b0", "a/c", "c/k", "c/l", "c-/k", "c-/l", "a0", "b\tc", "b\x7fc", "b+c", "b<&>c", "~", "é", "ü/π", "\uffee", "\U0001f600",
}

func fill(t *testing.T, b bucket.Bucket, keys []string) {
	t.Helper()
	for _, key := range keys {
		put(t, b, key, "x")
	}
}

// list returns the keys of all pages of n keys.
func list(t *testing.T, b bucket.Bucket, prefix, after string, n int) []string {
	t.Helper()
	var all []string
	for {
		keys, more := page(t, b, prefix, after, n)
		all = append(all, keys...)
		if !more {
			return all
		}
		after = keys[len(keys)-1]
	}
}

func page(t *testing.T, b bucket.Bucket, prefix, after string, n int) (keys []string, more bool) {
	t.Helper()
	keys, more, err := b.List(t.Context(), prefix, after, n)
	if err != nil {
		t.Fatalf("List(%q, %q, %d): %v", prefix, after, n, err)
	}
	if len(keys) > n || more && len(keys) == 0 {
		t.Fatalf("List(%q, %q, %d): %d keys, more %v", prefix, after, n, len(keys), more)
	}
	return keys, more
}

func listOrder(t *testing.T, b bucket.Bucket) {
	keys := slices.Sorted(slices.Values(listed))
	if got := list(t, b, "", "", 100); len(got) != 0 {
		t.Fatalf("an empty bucket has %q", got)
	}
	shuffled := slices.Clone(listed)
	slices.Reverse(shuffled)
	fill(t, b, shuffled)
	if got := list(t, b, "", "", 100); !slices.Equal(got, keys) {
		t.Errorf("all keys:\n%q, want\n%q", got, keys)
	}
	for _, prefix := range []string{"a", "a/", "a/b", "a/b/", "a/b/c", "a/b/c/", "a/bx", "b", "é", "none/none", "a//", "..x", "../", "/", "%", "a\\b", "B/k", "~~"} {
		var want []string
		for _, key := range keys {
			if strings.HasPrefix(key, prefix) {
				want = append(want, key)
			}
		}
		if got := list(t, b, prefix, "", 100); !slices.Equal(got, want) {
			t.Errorf("prefix %q: %q, want %q", prefix, got, want)
		}
	}
}

func listPages(t *testing.T, b bucket.Bucket) {
	fill(t, b, listed)
	keys := slices.Sorted(slices.Values(listed))
	for _, n := range []int{1, 2, len(keys) - 1, len(keys), len(keys) + 1} {
		if got := list(t, b, "", "", n); !slices.Equal(got, keys) {
			t.Errorf("pages of %d: %q, want %q", n, got, keys)
		}
	}
	for _, prefix := range []string{"", "a/"} {
		for _, after := range slices.Concat(keys, []string{"!", "a", "a/", "a/b", "a/b/", "a/b/d", "a/b1", "a//", "zzz", "\U0010ffff"}) {
			var want []string
			for _, key := range keys {
				if strings.HasPrefix(key, prefix) && key > after {
					want = append(want, key)
				}
			}
			if got := list(t, b, prefix, after, 3); !slices.Equal(got, want) {
				t.Errorf("prefix %q after %q: %q, want %q", prefix, after, got, want)
			}
		}
	}
}

// listMany has more keys than fit on a page.
func listMany(t *testing.T, b bucket.Bucket) {
	var want []string
	for i := range bucket.MaxPage + 5 {
		want = append(want, fmt.Sprintf("many/%04d", i))
	}
	var all sync.WaitGroup
	for part := range slices.Chunk(want, 100) {
		all.Go(func() {
			for _, key := range part {
				if _, err := b.Put(t.Context(), key, strings.NewReader("x"), bucket.Attrs{}); err != nil {
					t.Errorf("Put: %v", err)
				}
			}
		})
	}
	all.Wait()
	keys, more := page(t, b, "many/", "", 1<<30)
	if !more || len(keys) > bucket.MaxPage {
		t.Errorf("the first page has %d keys, more %v", len(keys), more)
	}
	if got := list(t, b, "many/", "", 1<<30); !slices.Equal(got, want) {
		t.Errorf("%d keys, want %d", len(got), len(want))
	}
}

func listChanging(t *testing.T, b bucket.Bucket) {
	fill(t, b, []string{"b", "d", "f", "h"})
	first, more := page(t, b, "", "", 2)
	if !more || !slices.Equal(first, []string{"b", "d"}) {
		t.Fatalf("first page %q, more %v", first, more)
	}
	fill(t, b, []string{"a", "c", "e"})
	remove(t, b, "d")
	remove(t, b, "h")
	if got := list(t, b, "", "d", 2); !slices.Equal(got, []string{"e", "f"}) {
		t.Errorf("after the first page: %q", got)
	}
}

func invalidLists(t *testing.T, b bucket.Bucket) {
	put(t, b, "k", "x")
	for _, text := range []string{"\xff", "k\x00", strings.Repeat("k", bucket.MaxKey+1)} {
		_, _, err := b.List(t.Context(), text, "", 1)
		refused(t, fmt.Sprintf("List with prefix %.20q", text), err, fault.Malformed)
		_, _, err = b.List(t.Context(), "", text, 1)
		refused(t, fmt.Sprintf("List after %.20q", text), err, fault.Malformed)
	}
	if keys, more, err := b.List(t.Context(), "", "", 0); len(keys) != 0 || more || err != nil {
		t.Errorf("List of no keys: %q, %v, %v", keys, more, err)
	}
}

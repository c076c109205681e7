package buckettest

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"symbolon/internal/bucket"
)

func ifAbsent(t *testing.T, b bucket.Bucket) {
	for _, body := range []string{"first", "second"} {
		for _, size := range []int64{0, int64(len(body))} {
			isNew := body == "first" && size == 0
			if got := create(t, b, "a/k", strings.NewReader(body), size); got != isNew {
				t.Fatalf("Put(%q) of size %d: created %v", body, size, got)
			}
			holds(t, b, "a/k", "first")
		}
	}
	for _, size := range []int64{2 << 20, 17 << 20} { // a Stat comes before such a body
		if create(t, b, "a/k", strings.NewReader(strings.Repeat("x", int(size))), size) {
			t.Fatalf("Put of %d bytes created a key that exists", size)
		}
	}
	holds(t, b, "a/k", "first")
	if created, err := b.Put(t.Context(), "a/k", strings.NewReader("third"), bucket.Attrs{}); err != nil || !created {
		t.Fatalf("Put that replaces: stored %v, %v", created, err)
	}
	holds(t, b, "a/k", "third")
	remove(t, b, "a/k")
	if !create(t, b, "a/k", strings.NewReader("fourth"), 0) {
		t.Fatal("Put after Delete created nothing")
	}
	broken := errors.New("the body broke")
	body := io.MultiReader(strings.NewReader("x"), iotest.ErrReader(broken))
	if _, err := b.Put(t.Context(), "new", body, bucket.Attrs{IfAbsent: true}); !errors.Is(err, broken) {
		t.Fatalf("Put = %v, want the error of the body", err)
	}
	absent(t, b, "new")
}

// create puts a blob with IfAbsent.
func create(t *testing.T, b bucket.Bucket, key string, body io.Reader, size int64) bool {
	t.Helper()
	created, err := b.Put(t.Context(), key, body, bucket.Attrs{Size: size, IfAbsent: true})
	if err != nil {
		t.Fatalf("Put(%q) with IfAbsent: %v", key, err)
	}
	return created
}

// concurrentCreates runs concurrent writers of different bodies, small and large.
// One of them creates the key; the blob that any of them reads afterwards is its
// blob and does not change again.
func concurrentCreates(t *testing.T, b bucket.Bucket) {
	for round, size := range []int{1, 1, 50_000, 50_000, 50_000, 50_000, 6 << 20} {
		key := fmt.Sprint("k", round)
		bodies, found := make([]string, 4), make([]string, 4)
		winners := make(chan int, len(bodies))
		var all sync.WaitGroup
		for w := range bodies {
			bodies[w] = strings.Repeat(string(rune('a'+w)), size+w)
			all.Go(func() {
				body := io.MultiReader(strings.NewReader(bodies[w]))
				created, err := b.Put(t.Context(), key, body, bucket.Attrs{IfAbsent: true})
				switch {
				case err != nil:
					t.Errorf("Put: %v", err)
				case created:
					winners <- w
				}
				r, _, err := b.Get(t.Context(), key, 0, -1)
				if err != nil {
					t.Errorf("Get: %v", err)
					return
				}
				defer r.Close()
				data, err := io.ReadAll(r)
				if err != nil {
					t.Errorf("read: %v", err)
				}
				found[w] = string(data)
			})
		}
		all.Wait()
		if len(winners) != 1 {
			t.Fatalf("%d writers created %q", len(winners), key)
		}
		won, _ := get(t, b, key, 0, -1)
		if w := <-winners; won != bodies[w] {
			t.Fatalf("%d bytes %.10q: not the blob of the writer that created it, %.10q", len(won), won, bodies[w])
		}
		for _, one := range found {
			if one != won {
				t.Fatalf("a writer read %d bytes %.10q, later there are %d bytes %.10q", len(one), one, len(won), won)
			}
		}
		if create(t, b, key, strings.NewReader("late"), 0) {
			t.Fatalf("a later writer created %q", key)
		}
		holds(t, b, key, won)
	}
}

func later(t *testing.T, b bucket.Bucket) {
	for _, c := range []struct {
		key, body string
		created   bool
	}{{"a/1", "one", true}, {"a/2", "", true}, {"a/1", "other", false}} {
		created, err := b.Put(t.Context(), c.key, strings.NewReader(c.body), bucket.Attrs{IfAbsent: true, Later: true})
		if err != nil || created != c.created {
			t.Fatalf("Put(%q) with Later: created %v, %v", c.key, created, err)
		}
	}
	put(t, b, "record", "a/1 a/2")
	holds(t, b, "a/1", "one")
	holds(t, b, "a/2", "")
	holds(t, b, "record", "a/1 a/2")
}

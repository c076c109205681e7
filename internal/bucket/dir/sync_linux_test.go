package dir_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"symbolon/internal/bucket"
	"symbolon/internal/bucket/dir"
)

// Elsewhere every Put is durable.
func TestPutMakesEarlierBlobsDurable(t *testing.T) {
	b, err := dir.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	put := func(key string, a bucket.Attrs) {
		if _, err := b.Put(t.Context(), key, strings.NewReader("x"), a); err != nil {
			t.Error(err)
		}
	}
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() { put(fmt.Sprint("a/", i/2), bucket.Attrs{IfAbsent: true, Later: true}) })
	}
	all.Wait()
	if n := dir.Unsynced(b); n != 20 { // those that existed may be of another process
		t.Errorf("%d Puts may be lost, want 20", n)
	}
	for i := range 4 {
		all.Go(func() { put(fmt.Sprint("record/", i), bucket.Attrs{}) })
	}
	all.Wait()
	if n := dir.Unsynced(b); n != 0 {
		t.Errorf("%d Puts may be lost after later ones", n)
	}
}

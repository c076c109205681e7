package keys_test

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"symbolon/internal/bucket"
	"symbolon/internal/bucket/dir"
	"symbolon/internal/bucket/mem"
	"symbolon/internal/keys"
)

// Nodes that change the keys of one store at one time lose none of them, and what
// was removed stays so.
func TestNodesThatChangeKeysAtOneTimeLoseNone(t *testing.T) {
	folder, err := dir.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	for name, b := range map[string]bucket.Bucket{"memory": mem.New(), "a folder": folder} {
		ring := func() *keys.Ring {
			return keys.NewRing(nil, b, time.Now, slog.New(slog.DiscardHandler))
		}
		const nodes, each = 4, 6
		var all sync.WaitGroup
		for n := range nodes {
			all.Go(func() {
				r := ring()
				for i := range each {
					_, _, err := r.Add(t.Context(), fmt.Sprintf("stays %d.%d", n, i), keys.Upload)
					if err != nil {
						t.Error(name, err)
					}
					_, k, err := r.Add(t.Context(), "goes", keys.Upload)
					if err == nil {
						err = r.Remove(t.Context(), k.ID)
					}
					if err != nil {
						t.Error(name, err)
					}
				}
			})
		}
		all.Wait()
		list, err := ring().List(t.Context())
		found := map[string]bool{}
		for _, k := range list {
			found[k.Name] = true
		}
		if err != nil || len(list) != nodes*each || len(found) != nodes*each || found["goes"] {
			t.Errorf("%s: %d keys of %d: %v, %v", name, len(list), nodes*each, found, err)
		}
	}
}

// A ring notices that its store was emptied, or that there is another one in its
// place.
func TestKeysOfAnotherStoreCount(t *testing.T) {
	at := t.TempDir()
	folder, err := dir.Open(at)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	node, other := keys.NewRing(nil, folder, time.Now, slog.New(slog.DiscardHandler)), keys.NewRing(nil, folder, time.Now, slog.New(slog.DiscardHandler))
	for i := range 5 {
		if _, _, err := node.Add(t.Context(), fmt.Sprint("old ", i), keys.Upload); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 6 {
		if err := folder.Delete(t.Context(), fmt.Sprint("keys/", i+1)); err != nil {
			t.Fatal(err)
		}
	}
	if list, err := node.List(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("of an empty store: %v, %v", list, err)
	}
	for i := range 5 {
		if _, _, err := other.Add(t.Context(), fmt.Sprint("newer ", i), keys.Upload); err != nil {
			t.Fatal(err)
		}
	}
	if list, err := node.List(t.Context()); err != nil || len(list) != 5 || list[0].Name != "newer 0" {
		t.Errorf("of another store: %v, %v", list, err)
	}
}

func TestKeysStayReadable(t *testing.T) {
	r := keys.NewRing(nil, mem.New(), time.Now, slog.New(slog.DiscardHandler))
	var last error
	made := 0
	for ; last == nil && made < 20; made++ {
		_, _, last = r.Add(t.Context(), strings.Repeat("n", 200_000), keys.Upload)
	}
	list, err := r.List(t.Context())
	if last == nil || err != nil || len(list) != made-1 || len(list) == 0 {
		t.Fatalf("%d keys, %v, %v", len(list), err, last)
	}
	if err := r.Remove(t.Context(), list[0].ID); err != nil {
		t.Error(err)
	}
}

package dir_test

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"symbolon/internal/bucket"
	"symbolon/internal/fault"
)

func TestEmptyBlobIsCreatedOnce(t *testing.T) {
	folder := t.TempDir()
	b := open(t, folder)
	var created atomic.Int64
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			isNew, err := b.Put(t.Context(), "a/b", strings.NewReader(""), bucket.Attrs{IfAbsent: true, Later: true})
			if err != nil {
				t.Error(err)
			}
			if isNew {
				created.Add(1)
			}
		})
	}
	all.Wait()
	if n := created.Load(); n != 1 {
		t.Errorf("%d Puts created the blob", n)
	}
	if got := files(t, folder); !slices.Equal(got, []string{"a/b"}) {
		t.Errorf("the folder has %q", got)
	}
	if _, err := b.Put(t.Context(), "a", strings.NewReader(""), bucket.Attrs{IfAbsent: true, Later: true}); kind(err) != fault.Unsupported {
		t.Errorf("a blob with the name of a folder: %v", err)
	}
}

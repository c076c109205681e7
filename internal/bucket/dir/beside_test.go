package dir_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"symbolon/internal/bucket"
	"symbolon/internal/bucket/dir"
)

// TestDeleteDoesNotDisturbOtherPuts puts blobs and deletes their neighbours: the
// removal of an empty folder must not disturb a Put.
func TestDeleteDoesNotDisturbOtherPuts(t *testing.T) {
	t.Parallel()
	b, err := dir.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	var all sync.WaitGroup
	for w := range 4 {
		all.Go(func() {
			key := fmt.Sprint("deep/er/", w)
			for i := range 50 {
				if _, err := b.Put(t.Context(), key, strings.NewReader("x"), bucket.Attrs{IfAbsent: i%2 == 0}); err != nil {
					t.Errorf("Put: %v", err)
				}
				if _, err := b.Stat(t.Context(), key); err != nil {
					t.Errorf("Stat: %v", err)
				}
				if err := b.Delete(t.Context(), key); err != nil {
					t.Errorf("Delete: %v", err)
				}
			}
		})
	}
	all.Wait()
}

func TestRenameWithoutLinksReplacesNothing(t *testing.T) {
	folder := t.TempDir()
	b := open(t, folder)
	for _, name := range []string{"one", "two"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	err := dir.RenameNew(b, "one", "k")
	if errors.Is(err, bucket.ErrConditions) {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("this system cannot rename without replacing")
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := dir.RenameNew(b, "two", "k"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("second rename: %v", err)
	}
	if got := text(t, b); got != "one" {
		t.Errorf("the file is %q", got)
	}
}

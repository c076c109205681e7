package dir_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"symbolon/internal/bucket"
	"symbolon/internal/bucket/dir"
)

func TestOnlyFilesOfTheFolderAreListed(t *testing.T) {
	folder, outside := t.TempDir(), t.TempDir()
	write(t, filepath.Join(folder, "real"), "x")
	write(t, filepath.Join(folder, ".tmp"), "x")
	write(t, outside, "x")
	for name, target := range map[string]string{
		"file": "real/k", "folder": "real", "loop": ".", "gone": "none", "out": filepath.Join(outside, "k"), "outfolder": outside,
	} {
		if err := os.Symlink(target, filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(folder, "empty"), 0o700); err != nil {
		t.Fatal(err)
	}
	following, err := dir.OpenFollowing(folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { following.Close() })
	for _, c := range []struct {
		name   string
		b      *dir.Bucket
		prefix string
		want   []string
	}{
		{"the folder", open(t, folder), "", []string{"file", "real/k"}},
		{"links that are followed", following, "", []string{"file", "out", "real/k"}},
		{"a linked folder", open(t, folder), "folder/", []string{"folder/k"}},
		{"unfinished files", open(t, folder), ".tmp/", nil},
		{"a file", open(t, folder), "real/k/", nil},
		{"a parent", following, "../", nil},
	} {
		if got, more, err := c.b.List(t.Context(), c.prefix, "", 10); !slices.Equal(got, c.want) || more || err != nil {
			t.Errorf("%s: %q, more %v, %v; want %q", c.name, got, more, err, c.want)
		}
	}
}

func TestListingEndsWithAFolderThatIsRemoved(t *testing.T) {
	t.Parallel()
	b := open(t, t.TempDir())
	done := make(chan bool)
	go func() {
		defer close(done)
		for range 200 {
			if _, err := b.Put(t.Context(), "folder/key", strings.NewReader("x"), bucket.Attrs{}); err != nil {
				t.Errorf("put: %v", err)
			}
			if err := b.Delete(t.Context(), "folder/key"); err != nil {
				t.Errorf("delete: %v", err)
			}
		}
	}()
	for isDone := false; !isDone; {
		select {
		case <-done:
			isDone = true
		default:
		}
		if _, _, err := b.List(t.Context(), "", "", 10); err != nil {
			t.Errorf("list: %v", err)
		}
	}
}

package dir_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"symbolon/internal/bucket"
)

func TestDeleteLeavesNoEmptyFolder(t *testing.T) {
	folder := t.TempDir()
	b := open(t, folder)
	for _, key := range []string{"a/b/c/k", "a/other"} {
		if err := b.Put(t.Context(), key, strings.NewReader("x"), bucket.Attrs{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Delete(t.Context(), "a/b/c/k"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(folder, "a", "b")); err == nil {
		t.Error("a/b is still there")
	}
	if left := files(t, folder); !slices.Equal(left, []string{"a/other"}) {
		t.Errorf("files left: %v", left)
	}
}

func TestDeleteKeepsLinksToFolders(t *testing.T) {
	folder := t.TempDir()
	b := open(t, folder)
	if err := b.Put(t.Context(), "real/k", strings.NewReader("x"), bucket.Attrs{}); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real", filepath.Join(folder, "alias")); err != nil {
		t.Fatal(err)
	}
	if err := b.Delete(t.Context(), "alias/k"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Join(folder, "alias")); err != nil {
		t.Error(err)
	}
}

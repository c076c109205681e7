package dir_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"symbolon/internal/bucket"
	"symbolon/internal/fault"
)

func TestDeleteLeavesNoEmptyFolder(t *testing.T) {
	folder := t.TempDir()
	b := open(t, folder)
	for _, key := range []string{"a/b/c/k", "a/other"} {
		if _, err := b.Put(t.Context(), key, strings.NewReader("x"), bucket.Attrs{}); err != nil {
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
	if _, err := b.Put(t.Context(), "real/k", strings.NewReader("x"), bucket.Attrs{}); err != nil {
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

func TestSweepRemovesWhatIsOld(t *testing.T) {
	folder := t.TempDir()
	b := open(t, folder)
	now := time.Now()
	for key, age := range map[string]time.Duration{
		"in/old/a": 2 * time.Hour, "in/old/deep/b": 3 * time.Hour, "in/new/c": time.Minute, "in/new/d": 2 * time.Hour, "out/e": 2 * time.Hour,
	} {
		if _, err := b.Put(t.Context(), key, strings.NewReader("x"), bucket.Attrs{}); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(filepath.Join(folder, key), now, now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../out", filepath.Join(folder, "in", "link")); err != nil {
		t.Fatal(err)
	}
	if err := b.Sweep(t.Context(), "in", now.Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	if left := files(t, folder); !slices.Equal(left, []string{"in/link", "in/new/c", "out/e"}) {
		t.Errorf("files left: %v", left)
	}
	if _, err := os.Stat(filepath.Join(folder, "in", "old")); err == nil {
		t.Error("an empty folder is left")
	}
}

func TestSweepOfNothingAndOfWhatIsNoPrefix(t *testing.T) {
	b := open(t, t.TempDir())
	if err := b.Sweep(t.Context(), "none", time.Now()); err != nil {
		t.Errorf("a folder that is not there: %v", err)
	}
	for prefix, want := range map[string]fault.Kind{"": fault.Malformed, "..": fault.Malformed, "a/../b": fault.Malformed, ".tmp": fault.Unsupported, ".tmp/x": fault.Unsupported} {
		if err := b.Sweep(t.Context(), prefix, time.Now()); kind(err) != want {
			t.Errorf("Sweep(%q): %v", prefix, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.Sweep(ctx, "in", time.Now()); !errors.Is(err, context.Canceled) {
		t.Errorf("Sweep of an ended context: %v", err)
	}
}

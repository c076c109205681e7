package dir_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symbolon/internal/bucket"
	"symbolon/internal/bucket/buckettest"
	"symbolon/internal/bucket/dir"
	"symbolon/internal/fault"
)

func TestBucketOfALateFolder(t *testing.T) {
	t.Parallel()
	buckettest.Run(t, func(t *testing.T) bucket.Bucket { return dir.Later(t.TempDir(), false) })
}

func TestFolderThatAppearsLaterIsRead(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "none")
	b := dir.Later(folder, false)
	_, _, err := b.Get(t.Context(), "a", 0, -1)
	if kind(err) != fault.NotFound || b.Spell("A") != "" {
		t.Fatalf("Get: %v, Spell: %q", err, b.Spell("A"))
	}
	if _, err := b.Put(t.Context(), "a", strings.NewReader("x"), bucket.Attrs{}); kind(err) != fault.NotFound {
		t.Fatalf("Put: %v", err)
	}
	if _, err := os.Stat(folder); err == nil {
		t.Fatal("the folder was made")
	}
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "a"), []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if a, err := b.Stat(t.Context(), "a"); err != nil || a.Size != 4 || b.Spell("A") != "a" {
		t.Fatalf("Stat: %v, %v; Spell: %q", a, err, b.Spell("A"))
	}
}

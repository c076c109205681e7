package dir_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"symbolon/internal/bucket"
	"symbolon/internal/bucket/buckettest"
	"symbolon/internal/bucket/dir"
	"symbolon/internal/fault"
)

func open(t *testing.T, folder string) *dir.Bucket {
	t.Helper()
	b, err := dir.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

func TestBucket(t *testing.T) {
	t.Parallel()
	buckettest.Run(t, func(t *testing.T) bucket.Bucket { return open(t, t.TempDir()) })
}

func kind(err error) fault.Kind {
	var f *fault.Error
	if !errors.As(err, &f) {
		return 255
	}
	return f.Kind
}

func files(t *testing.T, folder string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			name, _ := filepath.Rel(folder, path)
			names = append(names, filepath.ToSlash(name))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestMissingFolderIsNotFound(t *testing.T) {
	if _, err := dir.Open(filepath.Join(t.TempDir(), "none")); kind(err) != fault.NotFound {
		t.Fatalf("Open: %v", err)
	}
}

func TestFileInPlaceOfTheFolderIsNotFound(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := dir.Open(file)
	if err == nil {
		defer b.Close()
		_, err = b.Stat(t.Context(), "a")
	}
	if kind(err) != fault.NotFound || !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("got %v, want that it is not a folder", err)
	}
}

func TestKeysArePathsOfPrivateFiles(t *testing.T) {
	folder := t.TempDir()
	b := open(t, folder)
	if _, err := b.Put(t.Context(), "a/b/c.sym", strings.NewReader("x"), bucket.Attrs{}); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(folder, "a/b/c.sym"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v; want a file of mode 0600", info, err)
	}
	info, err = os.Stat(filepath.Join(folder, "a"))
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Fatalf("%v, %v; want a folder of mode 0700", info, err)
	}
	if left := files(t, folder); len(left) != 1 {
		t.Fatalf("files left: %v", left)
	}
}

func TestLinksOutOfTheFolderAreDenied(t *testing.T) {
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "secret"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for name, target := range map[string]string{"file": filepath.Join(outside, "secret"), "folder": outside} {
		if err := os.Symlink(target, filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	b := open(t, folder)
	for _, key := range []string{"file", "folder/secret"} {
		if _, _, err := b.Get(t.Context(), key, 0, -1); kind(err) != fault.Denied {
			t.Errorf("Get(%q): %v", key, err)
		}
	}
	if _, err := b.Put(t.Context(), "folder/new", strings.NewReader("x"), bucket.Attrs{}); kind(err) != fault.Denied {
		t.Errorf("Put: %v", err)
	}
	if left := files(t, outside); len(left) != 1 {
		t.Errorf("files outside: %v", left)
	}
}

func TestLinksInsideTheFolderAreFollowed(t *testing.T) {
	folder := t.TempDir()
	b := open(t, folder)
	if _, err := b.Put(t.Context(), "real/k", strings.NewReader("x"), bucket.Attrs{}); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real", filepath.Join(folder, "alias")); err != nil {
		t.Fatal(err)
	}
	if a, err := b.Stat(t.Context(), "alias/k"); err != nil || a.Size != 1 {
		t.Fatalf("Stat: %+v, %v", a, err)
	}
}

func TestFoldersAreNotBlobs(t *testing.T) {
	b := open(t, t.TempDir())
	put := func(key string) error {
		_, err := b.Put(t.Context(), key, strings.NewReader("x"), bucket.Attrs{})
		return err
	}
	if err := put("a/b"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := b.Get(t.Context(), "a", 0, -1); kind(err) != fault.NotFound {
		t.Errorf("Get of a folder: %v", err)
	}
	if err := put("a"); kind(err) != fault.Unsupported {
		t.Errorf("Put over a folder: %v", err)
	}
	for _, key := range []string{"a/b/c", "a/b/c/d"} {
		if err := put(key); kind(err) != fault.Unsupported {
			t.Errorf("Put(%q) below a file: %v", key, err)
		}
	}
}

func TestUnfinishedFilesAreNoBlobs(t *testing.T) {
	folder := t.TempDir()
	b := open(t, folder)
	if err := os.MkdirAll(filepath.Join(folder, ".tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, ".tmp", "half"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Stat(t.Context(), ".tmp/half"); kind(err) != fault.NotFound {
		t.Errorf("Stat: %v", err)
	}
	if _, err := b.Put(t.Context(), ".TMP/half", strings.NewReader("x"), bucket.Attrs{}); kind(err) != fault.Unsupported {
		t.Errorf("Put: %v", err)
	}
}

func TestFirstPutRemovesWhatOldCrashesLeft(t *testing.T) {
	folder := t.TempDir()
	temps := filepath.Join(folder, ".tmp")
	if err := os.MkdirAll(temps, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, age := range map[string]time.Duration{"old": 25 * time.Hour, "busy": time.Hour} {
		file := filepath.Join(temps, name)
		if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		then := time.Now().Add(-age)
		if err := os.Chtimes(file, then, then); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := open(t, folder).Put(t.Context(), "k", strings.NewReader("x"), bucket.Attrs{}); err != nil {
		t.Fatal(err)
	}
	if left := files(t, folder); len(left) != 2 || left[0] != ".tmp/busy" || left[1] != "k" {
		t.Fatalf("files left: %v", left)
	}
}

func TestFailedPutLeavesNoFile(t *testing.T) {
	folder := t.TempDir()
	b := open(t, folder)
	body := io.MultiReader(strings.NewReader("half"), io.LimitReader(neverReader{}, 1))
	if _, err := b.Put(t.Context(), "k", body, bucket.Attrs{}); err == nil {
		t.Fatal("Put succeeded")
	}
	if left := files(t, folder); len(left) != 0 {
		t.Fatalf("files left: %v", left)
	}
}

type neverReader struct{}

func (neverReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestClosedBucketIsInternal(t *testing.T) {
	b := open(t, t.TempDir())
	b.Close()
	if _, err := b.Stat(t.Context(), "k"); kind(err) != fault.Internal {
		t.Fatalf("Stat: %v", err)
	}
}

func TestLinksOutOfTheFolderAreFollowedWhereThatIsAllowed(t *testing.T) {
	outside, folder := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "k"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"file": filepath.Join(outside, "k"), "folder": outside, "gone": filepath.Join(outside, "none")} {
		if err := os.Symlink(target, filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	b, err := dir.OpenFollowing(folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	for _, key := range []string{"file", "folder/k"} {
		r, a, err := b.Get(t.Context(), key, 0, -1)
		if err != nil || a.Size != 1 {
			t.Errorf("Get(%q): %+v, %v", key, a, err)
			continue
		}
		r.Close()
	}
	if b.Spell("FOLDER/K") != "folder/k" {
		t.Errorf("Spell: %q", b.Spell("FOLDER/K"))
	}
	for _, key := range []string{"gone", "folder/none"} {
		if _, err := b.Stat(t.Context(), key); kind(err) != fault.NotFound {
			t.Errorf("Stat(%q): %v", key, err)
		}
	}
	if _, err := b.Stat(t.Context(), "folder/../../k"); kind(err) != fault.Malformed {
		t.Errorf("a key that leads out by itself: %v", err)
	}
	if _, err := b.Put(t.Context(), "folder/new", strings.NewReader("x"), bucket.Attrs{}); !errors.Is(err, bucket.ErrLink) {
		t.Errorf("Put: %v", err)
	}
}

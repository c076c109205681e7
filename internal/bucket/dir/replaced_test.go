package dir_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symbolon/internal/bucket"
	"symbolon/internal/bucket/dir"
	"symbolon/internal/fault"
)

// write creates a folder with a file k of this text.
func write(t *testing.T, folder, text string) {
	t.Helper()
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "k"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func text(t *testing.T, b bucket.Bucket) string {
	t.Helper()
	r, _, err := b.Get(t.Context(), "k", 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	all, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(all)
}

func TestReplacedFolderIsRead(t *testing.T) {
	for name, open := range map[string]func(string) (*dir.Bucket, error){
		"Open": dir.Open, "OpenFollowing": dir.OpenFollowing,
		"Later": func(folder string) (*dir.Bucket, error) { return dir.Later(folder, false), nil },
	} {
		folder := filepath.Join(t.TempDir(), "folder")
		write(t, folder, "first")
		b, err := open(folder)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { b.Close() })
		if got := text(t, b); got != "first" || b.Spell("K") != "k" {
			t.Fatalf("%s: %q", name, got)
		}
		if err := os.RemoveAll(folder); err != nil {
			t.Fatal(err)
		}
		write(t, folder, "second")
		if got := text(t, b); got != "second" {
			t.Errorf("%s: read %q", name, got)
		}
	}
}

func TestLinkToAnotherFolderIsFollowed(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "rel1"), "first")
	write(t, filepath.Join(root, "rel2"), "second")
	link := filepath.Join(root, "current")
	if err := os.Symlink("rel1", link); err != nil {
		t.Fatal(err)
	}
	b := open(t, link)
	if err := os.Symlink("rel2", link+".new"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(link+".new", link); err != nil {
		t.Fatal(err)
	}
	if got := text(t, b); got != "second" {
		t.Errorf("read %q", got)
	}
	if _, err := b.Put(t.Context(), "new", strings.NewReader("x"), bucket.Attrs{}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, "rel2", "new")); err != nil {
		t.Error(err)
	}
}

func TestFolderThatDisappearedIsNotCreated(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "folder")
	write(t, folder, "text")
	b := open(t, folder)
	if err := os.Rename(folder, folder+".moved"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Stat(t.Context(), "none"); kind(err) != fault.Transport {
		t.Errorf("Stat: %v", err)
	}
	if _, err := b.Put(t.Context(), "new", strings.NewReader("x"), bucket.Attrs{}); kind(err) != fault.Transport {
		t.Errorf("Put: %v", err)
	}
	if _, err := os.Stat(folder); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder: %v", err)
	}
	if left := files(t, folder+".moved"); len(left) != 1 {
		t.Errorf("files in the moved folder: %v", left)
	}
}

// mover moves a folder when it is read.
type mover struct{ folder string }

func (m mover) Read([]byte) (int, error) {
	if err := os.Rename(m.folder, m.folder+".moved"); err != nil {
		return 0, err
	}
	return 0, io.EOF
}

func TestPutIntoAFolderThatIsMovedMeanwhileFails(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "folder")
	write(t, folder, "text")
	b := open(t, folder)
	if _, err := b.Put(t.Context(), "new", io.MultiReader(strings.NewReader("x"), mover{folder}), bucket.Attrs{}); kind(err) != fault.Transport {
		t.Errorf("Put: %v", err)
	}
}

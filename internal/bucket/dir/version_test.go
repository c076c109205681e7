//go:build linux || darwin || freebsd || netbsd

package dir_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestFilesOfOneSizeAndTimeHaveTheirOwnVersions(t *testing.T) {
	folder, aside := t.TempDir(), t.TempDir()
	then := time.Unix(1, 0)
	old := func(folder, text string) {
		write(t, folder, text)
		if err := os.Chtimes(filepath.Join(folder, "k"), then, then); err != nil {
			t.Fatal(err)
		}
	}
	b := open(t, folder)
	version := func() string {
		a, err := b.Stat(t.Context(), "k")
		if err != nil || a.Version == "" {
			t.Fatalf("%+v, %v", a, err)
		}
		return a.Version
	}
	old(folder, "first")
	first := version()
	old(aside, "other")
	if err := os.Rename(filepath.Join(aside, "k"), filepath.Join(folder, "k")); err != nil {
		t.Fatal(err)
	}
	second := version()
	if second == first {
		t.Errorf("replaced by another file: version %s of both", first)
	}
	if again := version(); again != second {
		t.Errorf("unchanged: versions %s and %s", second, again)
	}
}

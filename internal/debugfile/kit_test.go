//go:build kit

package debugfile_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// The kit of recorded answers, which SYMBOLON_CONFORMANCE names, has a maker of
// broken files, of this and of many other formats. None of them may hang,
// exhaust or crash.
func TestBrokenFilesOfTheKitAreHarmless(t *testing.T) {
	kit := os.Getenv("SYMBOLON_CONFORMANCE")
	dir := t.TempDir()
	formats := filepath.Join(kit, "formats")
	if out, err := exec.Command("python3", filepath.Join(formats, "broken", "gen_broken.py"), filepath.Join(formats, "files"), dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(names) < 300 {
		t.Fatalf("%d files, %v", len(names), err)
	}
	opened := 0
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		took, heap := cost(func() {
			if harmless(t, text, filepath.Base(name)) {
				opened++
			}
		})
		if took > 5*time.Second || heap > 128<<20 {
			t.Errorf("%s: %v, %d MiB", name, took, heap>>20)
		}
	}
	if opened < 5 {
		t.Errorf("only %d are symbol files that are read", opened)
	}
}

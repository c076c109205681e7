//go:build unix

package companion_test

import (
	"os"
	"path/filepath"
	"testing"

	"symbolon/internal/companion"
)

// A fault outside of what reads debug files is an error too.
func TestFaultsOfFilesAreErrors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, make([]byte, 10000), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := companion.OpenSource(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, ok := f.Source.(interface{ Bytes() []byte }); !ok {
		t.Fatal("the file is not mapped")
	}
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	err = companion.Unfaulted(func() error {
		_, err := f.ReadAt(make([]byte, 10), 5000)
		return err
	})
	if err == nil || f.Changed() == nil {
		t.Errorf("%v, %v", err, f.Changed())
	}
	defer func() {
		if recover() == nil {
			t.Error("other panics are hidden")
		}
	}()
	_ = companion.Unfaulted(func() error { panic("another one") })
}

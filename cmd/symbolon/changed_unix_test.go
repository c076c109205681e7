//go:build unix

package main

import (
	"os"
	"testing"
)

// A fault outside of what reads debug files is an error too.
func TestFaultsOfFilesAreErrors(t *testing.T) {
	path := strippedOf(t, t.TempDir())
	f, err := openFile(&env{}, path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, ok := f.Source.(*mapped); !ok {
		t.Fatal("the file is not mapped")
	}
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	err = unfaulted(func() error {
		_, err := f.ReadAt(make([]byte, 10), 5000)
		return err
	})
	if err == nil || f.watch.changed() == nil {
		t.Errorf("%v, %v", err, f.watch.changed())
	}
	defer func() {
		if recover() == nil {
			t.Error("other panics are hidden")
		}
	}()
	_ = unfaulted(func() error { panic("another one") })
}

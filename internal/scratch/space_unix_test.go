//go:build unix

package scratch_test

import (
	"os"
	"path/filepath"
	"testing"

	"symbolon/internal/scratch"
)

// A command unpacks to the heap where the disk has no room.
func TestCommandsUnpackToMemoryOnAFullDisk(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(folder, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := scratch.NewSpace(folder, nil)
	if b, err := s.Take(1 << 20); err != nil || len(b) != 1<<20 {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

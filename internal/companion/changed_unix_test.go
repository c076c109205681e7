//go:build unix

package companion_test

import (
	"os"
	"path/filepath"
	"testing"

	"symbolon/internal/companion"
	"symbolon/internal/object"
)

func TestReadingATruncatedFileIsAnError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, make([]byte, 10000), 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := companion.OpenSource(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, ok := s.Source.(interface{ Bytes() []byte }); !ok {
		t.Fatal("the file is not mapped")
	}
	if err := s.Changed(); err != nil {
		t.Errorf("before the file changes: %v", err)
	}
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	read := func() (err error) {
		defer object.RecoverFault(&err)()
		_, err = s.ReadAt(make([]byte, 10), 5000)
		return err
	}
	if err := read(); err == nil {
		t.Error("reading after the new end succeeds")
	}
	if s.Changed() == nil {
		t.Error("the file counts as unchanged")
	}
}

package scratch_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"symbolon/internal/scratch"
)

// A writer of several layers reports a full disk once for each.
func TestFailureOfAWriteIsReportedOnce(t *testing.T) {
	const full = "/dev/full"
	if _, err := os.Stat(full); err != nil {
		t.Skip(err)
	}
	err := scratch.WriteFile(full, func(w io.Writer) error {
		_, first := io.WriteString(w, "text")
		_, second := io.WriteString(w, "more")
		return errors.Join(first, second)
	})
	if want := "write /dev/full: no space left on device"; err == nil || err.Error() != want || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestFileIsWrittenCompletelyOrNotAtAll(t *testing.T) {
	name := filepath.Join(t.TempDir(), "out")
	other := errors.New("other")
	for text, want := range map[string]error{"whole": nil, "partial": other} {
		err := scratch.WriteFile(name, func(w io.Writer) error { _, err := io.WriteString(w, text); return errors.Join(err, want) })
		if !errors.Is(err, want) || (err == nil) != (want == nil) {
			t.Errorf("%s: got %v, want %v", text, err, want)
		}
	}
	if got, err := os.ReadFile(name); string(got) != "whole" {
		t.Errorf("got %q, %v", got, err)
	}
}

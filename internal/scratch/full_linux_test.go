package scratch_test

import (
	"errors"
	"io"
	"syscall"
	"testing"

	"symbolon/internal/scratch"
)

// TestFailureOfAWriteIsReportedOnce has a writer that reports a full disk twice, as one
// of several layers does.
func TestFailureOfAWriteIsReportedOnce(t *testing.T) {
	err := scratch.WriteFile("/dev/full", func(w io.Writer) error {
		_, first := io.WriteString(w, "text")
		_, second := io.WriteString(w, "more")
		return errors.Join(first, second)
	})
	if want := "write /dev/full: no space left on device"; err == nil || err.Error() != want || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("got %v, want %s", err, want)
	}
}

package scratch_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"symbolon/internal/scratch"
)

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

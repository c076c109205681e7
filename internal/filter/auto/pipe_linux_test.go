package auto_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"symbolon/internal/filter/auto"
)

// TestADocumentIsReadFromANamedPipe has one that is larger than what decides its format.
func TestADocumentIsReadFromANamedPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	doc := `{"traceEvents":[{"name":"` + strings.Repeat("x", 100<<10) + `"}]}`
	written := make(chan error, 1)
	go func() { written <- os.WriteFile(pipe, []byte(doc), 0o600) }()
	var out bytes.Buffer
	err := auto.Filter(t.Context(), newRun(), auto.Options{Format: "auto"}, auto.Input{Name: pipe}, &out)
	if err := errors.Join(err, <-written); err != nil {
		t.Fatal(err)
	}
	if out.String() != doc {
		t.Errorf("%d bytes became %d", len(doc), out.Len())
	}
}

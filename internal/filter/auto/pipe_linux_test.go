package auto_test

import (
	"bytes"
	"context"
	"errors"
	"io"
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

// TestOpeningANamedPipeEndsWithTheContext has one without a writer.
func TestOpeningANamedPipeEndsWithTheContext(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := auto.Filter(ctx, newRun(), auto.Options{Format: "auto"}, auto.Input{Name: pipe}, io.Discard)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
	if f, err := os.OpenFile(pipe, os.O_WRONLY, 0); err == nil { // lets the goroutine that opens it end
		f.Close()
	}
}

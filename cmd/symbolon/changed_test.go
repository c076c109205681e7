package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"symbolon/internal/trial"
)

// Nothing is sent of a file that is written while it is pushed, and one line reports
// it. A file that is replaced is not changed.
func TestAFileThatChangesIsNotPushed(t *testing.T) {
	text, debug := trial.Corpus(t, "debuglink"), trial.Corpus(t, "debuglink.debug")
	for name, c := range map[string]struct {
		change func(path string) error
		told   bool
	}{
		"cut":         {func(path string) error { return os.Truncate(path, 100) }, true},
		"written":     {func(path string) error { return os.WriteFile(path, bytes.Repeat([]byte{7}, len(text)), 0o755) }, true},
		"longer":      {func(path string) error { return os.WriteFile(path, append(text[:len(text):len(text)], 0), 0o755) }, true},
		"replaced":    {func(path string) error { return os.Rename(path+".new", path) }, false},
		"removed":     {os.Remove, false},
		"not changed": {func(string) error { return nil }, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newReceiver(t)
			dir := t.TempDir()
			path := strippedOf(t, dir)
			if err := os.WriteFile(path+".new", bytes.Repeat([]byte{7}, 100), 0o755); err != nil {
				t.Fatal(err)
			}
			u := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { // while it is read
				if err := c.change(path); err != nil {
					t.Error(err)
				}
				_, _ = w.Write(debug)
			}))
			defer u.Close()
			out, errs, code := s.push("-e", path, "--debuginfod", u.URL)
			errs = strings.TrimSpace(errs[strings.LastIndex(errs, "\r")+1:]) // after the progress line
			want := "symbolon: " + path + ": changed while it was read"
			if told := code == exitFailed && strings.HasPrefix(errs, want) && !strings.Contains(errs, "\n"); told != c.told || told != (len(s.published) == 0) || (code == 0) == c.told {
				t.Errorf("%d, %s%q, %d files", code, out, errs, len(s.published))
			}
		})
	}
}

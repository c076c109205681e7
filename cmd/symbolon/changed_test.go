package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

// Of a file that is written while it is pushed nothing is sent, and one line tells
// so. One that another file takes the place of is as good as before.
func TestAFileThatChangesIsNotPushed(t *testing.T) {
	text, debug := corpusFile(t, "debuglink"), corpusFile(t, "debuglink.debug")
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
			errs = strings.TrimSpace(errs[strings.LastIndex(errs, "\r")+1:]) // behind the bar
			want := "symbolon: " + path + ": it changed while it was read"
			if told := code == exitFailed && strings.HasPrefix(errs, want) && !strings.Contains(errs, "\n"); told != c.told || told != (len(s.published) == 0) || (code == 0) == c.told {
				t.Errorf("%d, %s%q, %d files", code, out, errs, len(s.published))
			}
		})
	}
}

// A fault outside of what reads debug files is an error too.
func TestFaultsOfFilesAreErrors(t *testing.T) {
	path := strippedOf(t, t.TempDir())
	f, err := openFile(&env{}, path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, ok := f.Source.(*mapped); !ok {
		t.Skip("files are not mapped here")
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

package faults_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"symbolon/internal/trial"
	"symbolon/internal/waittest"
)

// fill appends to a file until its disk is full.
func fill(t *testing.T, name string) {
	t.Helper()
	hog, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer hog.Close()
	for err == nil {
		_, err = hog.Write(make([]byte, 64<<10))
	}
}

// TestFullDisk fills a small file system under the data directory. Modules are
// answered without it, and stored again after it has space.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=5m,mode=0700"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("mount: %v", err)
		}
		t.Skipf("a full disk needs the right to mount one (%v); TestNothingCanBeWritten needs none", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	up := trial.NewUpstream(t)
	var syms []trial.Sym
	for i := range 4 {
		syms = append(syms, trial.NewSym(i, 20_000))
		up.Do(syms[i].Path(), syms[i])
	}
	s := trial.Start(t, trial.Options{Sources: []string{up.URL}, Data: dir})
	right := func(sym trial.Sym) {
		t.Helper()
		for _, i := range []int{0, 10_000, 19_999} {
			if wrong := s.Ask(sym, i); wrong != "" {
				t.Error(wrong)
			}
		}
	}
	right(syms[0])
	built(t, s, 1)
	right(syms[0])
	hog := filepath.Join(dir, "hog")
	for i, sym := range syms[1:3] {
		fill(t, hog) // again: the server may have removed a temporary file
		right(sym)
		built(t, s, float64(i+2))
		right(sym)
	}
	waittest.Until(t, "the warning of a full disk", func() bool { return len(warnings(s)) > 0 })
	if lines := warnings(s); len(lines) != 1 || !strings.Contains(lines[0], dir) || !strings.Contains(lines[0], "is full") {
		t.Errorf("the log has %d lines: %q", len(lines), lines)
	}
	meta := len(cached(t, s, "meta"))
	if err := os.Remove(hog); err != nil {
		t.Fatal(err)
	}
	right(syms[3])
	waittest.Until(t, "what is new is kept", func() bool { return len(cached(t, s, "meta")) == meta+1 })
	built(t, s, 4)
	if s.Terminate() != 0 {
		t.Error("the server does not end well")
	}
	s.Restart()
	right(syms[3])
	if n := up.Count(syms[3].Path()); n != 1 {
		t.Errorf("what came when there was room was fetched %d times", n)
	}
}

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"symbolon/internal/trial"
)

// peakMemory runs a command and returns the most memory it was seen to use, in
// KB.
func peakMemory(t *testing.T, args ...string) int {
	t.Helper()
	p := newProcess(t, args...)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- p.cmd.Wait() }()
	for most := 0; ; {
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid)) // gone: it has ended
		if _, line, ok := strings.Cut(string(status), "VmHWM:"); ok {
			n, err := strconv.Atoi(strings.Fields(line)[0])
			if err != nil {
				t.Fatal(err)
			}
			most = max(most, n)
		}
		select {
		case err := <-ended:
			if err != nil {
				t.Fatalf("%s: %v: %s", args, err, p.stderr)
			}
			return most
		case <-time.After(time.Millisecond):
		}
	}
}

func TestLargeFilesOfTextDoNotFillMemory(t *testing.T) {
	t.Parallel()
	if trial.Race() {
		t.Skip("the race detector takes memory of its own")
	}
	text := []byte("MODULE Linux x86_64 000102030405060708090A0B0C0D0E0F0 a.so\nFILE 0 a.c\n")
	for i := range 20_000 {
		text = fmt.Appendf(text, "FUNC %x 1000 0 f%d\n", i<<12, i)
		for k := range 256 {
			text = strconv.AppendInt(text, int64(i<<12+k<<4), 16)
			text = strconv.AppendInt(append(text, " 10 "...), int64(k), 10)
			text = append(text, " 0\n"...)
		}
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "a.sym")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{
		"inspect":          {"symbolon", "inspect", file},
		"resolve":          {"symbolon", "resolve", file, "0x1000"},
		"symbfile extract": {"symbolon", "symbfile", "extract", "-e", file, "--ranges", filepath.Join(dir, "ranges")},
	} {
		if most := peakMemory(t, args...); most > len(text)>>10*3/4 {
			t.Errorf("%s took %d KB for a file of %d KB", name, most, len(text)>>10)
		}
	}
}

package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// pseudoTerminal returns the two ends of a new terminal; programs write to slave.
func pseudoTerminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("pseudo terminals are needed:", err)
		}
		t.Skip("no pseudo terminals here:", err)
	}
	t.Cleanup(func() { master.Close() })
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	if slave, err = os.OpenFile(fmt.Sprint("/dev/pts/", n), os.O_RDWR|syscall.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	return master, slave
}

// onTerminal returns the text on a terminal on which a program ran.
func onTerminal(t *testing.T, environ []string, args ...string) string {
	t.Helper()
	master, slave := pseudoTerminal(t)
	p := newProcess(t, args...)
	p.cmd.Env = append(append(p.cmd.Env, "TERM=xterm", "NO_COLOR="), environ...)
	p.cmd.Stdout, p.cmd.Stderr = slave, slave
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	var text bytes.Buffer
	_, _ = io.Copy(&text, master) // until the program ends: EIO
	_ = p.cmd.Wait()
	return strings.ReplaceAll(text.String(), "\r\n", "\n")
}

var escapes = regexp.MustCompile("\x1b\\[[0-9;]*m")

func TestTextIsPaintedOnTerminalsOnly(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	if err := writeDumps(data); err != nil {
		t.Fatal(err)
	}
	add := newProcess(t, "symbolon", "token", "add", "--data", data, "--name", "night")
	if err := add.cmd.Run(); err != nil {
		t.Fatal(err, add.stderr)
	}
	explain := []string{"symbolon", "explain", "--source", "demo", "teapot.pdb/6D1F0A5C3B2E4F718C9D0E1F2A3B4C5D1"}
	for name, args := range map[string][]string{
		"table": {"symbolon", "token", "ls", "--data", data}, "explain": explain,
		"crash": {"symbolon", "crash", "--symbols", "demo", data + "/linux.dmp"},
	} {
		piped := func(args ...string) string {
			p := newProcess(t, args...)
			out, err := p.cmd.Output()
			if err != nil {
				t.Fatal(name, err, p.stderr)
			}
			return string(out)
		}
		plain := piped(args...)
		if escapes.MatchString(plain) {
			t.Errorf("%s in a pipe has escape sequences: %q", name, plain)
		}
		if got := piped(append(args, "--color", "always")...); !escapes.MatchString(got) {
			t.Errorf("%s in a pipe with --color always has no colors: %q", name, got)
		}
		if got := onTerminal(t, nil, args...); !escapes.MatchString(got) {
			t.Errorf("%s on a terminal has no colors: %q", name, got)
		}
		for _, x := range []struct {
			variable string
			args     []string
		}{{"NO_COLOR=1", args}, {"TERM=dumb", args}, {"LANG=C", append(args, "--color=never")}} {
			got := onTerminal(t, []string{x.variable}, x.args...)
			if escapes.MatchString(got) {
				t.Errorf("%s with %s and %q has colors: %q", name, x.variable, x.args, got)
			}
			if hasTitles := strings.HasPrefix(got, "ID "); hasTitles != (name == "table") {
				t.Errorf("%s with %s and %q: titles %v: %q", name, x.variable, x.args, hasTitles, got)
			}
		}
	}
}

// TestProgressIsShownWhileASourceIsSlow has a source that answers when the progress is
// seen.
func TestProgressIsShownWhileASourceIsSlow(t *testing.T) {
	t.Parallel()
	for verb, args := range map[string][]string{"fetching": {"prefetch"}, "checking": {"check", "--manifest"}} {
		seen := make(chan struct{})
		slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			select {
			case <-seen:
			case <-r.Context().Done():
			}
			http.NotFound(w, r)
		}))
		t.Cleanup(slow.Close)
		list := filepath.Join(t.TempDir(), "list")
		if err := os.WriteFile(list, []byte("kiln/3DABEECA56AC7938C0A40E7BBC2A2AD90\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		master, slave := pseudoTerminal(t)
		p := newProcess(t, append(append([]string{"symbolon"}, args...), list, "--source", slow.URL, "--data", t.TempDir())...)
		p.cmd.Stderr = slave
		if err := p.cmd.Start(); err != nil {
			t.Fatal(err)
		}
		slave.Close()
		var text strings.Builder
		var once sync.Once
		for b := make([]byte, 4096); ; {
			n, err := master.Read(b)
			text.Write(b[:n])
			if strings.Contains(text.String(), "\r"+verb+": 1s") {
				once.Do(func() { close(seen) })
			}
			if err != nil { // the program ended
				break
			}
		}
		_ = p.cmd.Wait()
		if !strings.Contains(text.String(), "\r"+verb+": 1s") {
			t.Errorf("%s: %q", verb, &text)
		}
	}
}

func TestOutputOfTheStoreIsCutAtProgress(t *testing.T) {
	var out strings.Builder
	m := &maintainOutput{w: &out, bar: (&env{}).progress("checking", "")}
	for _, piece := range []string{"upload a: da", "maged\n\r1", "23\nchecked 1 upload\n"} {
		if _, err := io.WriteString(m, piece); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := out.String(), "upload a: damaged\nchecked 1 upload\n"; got != want {
		t.Errorf("got %q; want %q", got, want)
	}
}

package main

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"symbolon/internal/waittest"
)

// process is one of our programs as a process, in a session of its own.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Reader
	stderr *waittest.Log
}

// newProcess is a process that is not started, with folders of its own.
func newProcess(t *testing.T, args ...string) *process {
	t.Helper()
	// Tests that run below nohup ignore SIGHUP, and so would the process. A signal
	// that is caught has its default there.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	p := &process{t: t, cmd: exec.Command(args[0], args[1:]...), stderr: &waittest.Log{}}
	dir := t.TempDir()
	p.cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CACHE_HOME="+dir+"/cache", "XDG_STATE_HOME="+dir+"/state", "TMPDIR="+dir)
	p.cmd.Stderr = p.stderr
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no terminal
	return p
}

func (p *process) start() *process {
	p.t.Helper()
	stdin, err := p.cmd.StdinPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.stdin, p.stdout = stdin, bufio.NewReader(stdout)
	p.t.Cleanup(func() { _ = p.cmd.Process.Kill() }) // it has ended, most of the time
	return p
}

// line is the next line that the process prints.
func (p *process) line() string {
	p.t.Helper()
	line, err := p.stdout.ReadString('\n')
	if err != nil {
		p.t.Fatalf("%v: %s", err, p.stderr)
	}
	return strings.TrimSpace(line)
}

func (p *process) signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// end waits for the process and returns its status: "exit status 1", "signal: killed".
func (p *process) end() string {
	_, _ = io.Copy(io.Discard, p.stdout)
	_ = p.cmd.Wait()
	return p.cmd.ProcessState.String()
}

// TestSignalsEndCommandsWithTheirStatus sends signals to programs that wait for
// addresses. A shell ends its loop at 130 and goes on at 1.
func TestSignalsEndCommandsWithTheirStatus(t *testing.T) {
	t.Parallel()
	file := filepath.Join("../../internal/object/testdata/corpus", "gcc-dwarf5")
	for _, args := range [][]string{{"symbolon", "resolve", file}, {"addr2line", "-e", file}, {"llvm-symbolizer", "--obj=" + file}, {"symbolon", "filter"}} {
		for s, want := range map[syscall.Signal]string{
			syscall.SIGINT: "exit status 130", syscall.SIGTERM: "exit status 143", syscall.SIGHUP: "exit status 129",
		} {
			p := newProcess(t, args...).start()
			if _, err := io.WriteString(p.stdin, "0x1000\n"); err != nil {
				t.Fatal(err)
			}
			p.line() // so it runs, and waits
			p.signal(s)
			if got := p.end(); got != want {
				t.Errorf("%s ends %q with %q, want %q: %s", s, args, got, want, p.stderr)
			}
		}
	}
}

// TestCommandsThatRunUntilASignalEndWithItsStatus has those that are not servers.
func TestCommandsThatRunUntilASignalEndWithItsStatus(t *testing.T) {
	t.Parallel()
	profile := filepath.Join(t.TempDir(), "p.json")
	if err := os.WriteFile(profile, []byte(`{"meta":{"preprocessedProfileVersion":50},"libs":[],"threads":[]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"symbolon", "profile", "--no-open", "--port", "0", profile}, {"symbolon", "cleanup", "--repeat"}} {
		for s, want := range map[syscall.Signal]string{syscall.SIGINT: "exit status 130", syscall.SIGTERM: "exit status 143"} {
			p := newProcess(t, args...).start()
			p.line()
			p.signal(s)
			if got := p.end(); got != want {
				t.Errorf("%s ends %q with %q, want %q: %s", s, args, got, want, p.stderr)
			}
		}
	}
}

// TestAClosedPipeLeavesNothingBehind runs commands whose output is not read.
func TestAClosedPipeLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	file := filepath.Join("../../internal/object/testdata/corpus", "gcc-dwarf5")
	for _, args := range [][]string{
		{"symbolon", "explain", "--source", "demo", "teapot.pdb/6D1F0A5C3B2E4F718C9D0E1F2A3B4C5D1"},
		{"symbolon", "sym", file},
		{"symbolon", "symbfile", "extract", "-e", file, "--ranges", "-"},
	} {
		p := newProcess(t, args...)
		temp := t.TempDir()
		p.cmd.Env = append(p.cmd.Env, "TMPDIR="+temp)
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		r.Close()
		p.cmd.Stdout = w
		err = p.cmd.Run()
		w.Close()
		if err != nil {
			t.Errorf("%q: %v: %s", args, err, p.stderr)
		}
		if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
			t.Errorf("%q leaves %v, %v", args, left, err)
		}
	}
}

// TestAHangupRereadsKeys has a service and another program that adds a key to
// the same store.
func TestAHangupRereadsKeys(t *testing.T) {
	t.Parallel()
	state := "state=" + filepath.Join(t.TempDir(), "state")
	p := newProcess(t, "symbolon", "serve", "--listen", "127.0.0.1:0", "--data", t.TempDir(), "--set", state).start()
	_, url, _ := strings.Cut(p.line(), "listening on ")
	upload := func(key string) int {
		req, err := http.NewRequest(http.MethodPost, url+"/api/symbols-ranges", strings.NewReader("x"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "ApiKey "+key)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	if got := upload("bm90OnRoZS1rZXk="); got != http.StatusUnauthorized {
		t.Errorf("a key that was not created: %d", got)
	}
	other := newProcess(t, "symbolon", "key", "add", "--data", t.TempDir(), "--set", state).start()
	key := other.line()
	p.signal(syscall.SIGHUP)
	p.stderr.Await(t, `msg="read the tokens again" tokens=1`)
	if got := upload(key); got != http.StatusBadRequest {
		t.Errorf("after the hangup, with the new key: %d, want %d for the body", got, http.StatusBadRequest)
	}
	p.signal(syscall.SIGTERM)
	if got := p.end(); got != "exit status 0" {
		t.Errorf("the server ends with %q: %s", got, p.stderr)
	}
}

// TestAServerNotifiesItsManager has the socket of a service manager.
func TestAServerNotifiesItsManager(t *testing.T) {
	t.Parallel()
	manager, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(t.TempDir(), "notify"), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer manager.Close()
	p := newProcess(t, "symbolon", "serve", "--listen", "127.0.0.1:0", "--data", t.TempDir())
	p.cmd.Env = append(p.cmd.Env, "NOTIFY_SOCKET="+manager.LocalAddr().String())
	p.start()
	state := func() string {
		t.Helper()
		b := make([]byte, 100)
		n, err := manager.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		return string(b[:n])
	}
	if got := state(); got != "READY=1" {
		t.Errorf("at the start: %q", got)
	}
	_, url, _ := strings.Cut(p.line(), "listening on ")
	if resp, err := http.Get(url + "/readyz"); err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("after READY=1: %v, %v", resp, err)
	}
	p.signal(syscall.SIGHUP)
	if first, second := state(), state(); first != "RELOADING=1" || second != "READY=1" {
		t.Errorf("after a hangup: %q, %q", first, second)
	}
	p.signal(syscall.SIGTERM)
	if got := state(); got != "STOPPING=1" {
		t.Errorf("at the end: %q", got)
	}
	if got := p.end(); got != "exit status 0" {
		t.Errorf("the server ends with %q: %s", got, p.stderr)
	}
}

// TestAServerEndsWithItsTerminal closes the terminal of a server, which then
// ends as at SIGTERM: the folder of the demo goes too.
func TestAServerEndsWithItsTerminal(t *testing.T) {
	t.Parallel()
	master, slave := pseudoTerminal(t)
	p := newProcess(t, "symbolon", "serve", "--demo", "--listen", "127.0.0.1:0")
	temp := t.TempDir()
	p.cmd.Env = append(p.cmd.Env, "TMPDIR="+temp)
	p.cmd.ExtraFiles = []*os.File{slave}
	p.cmd.SysProcAttr.Setctty, p.cmd.SysProcAttr.Ctty = true, 3
	p.start()
	slave.Close()
	p.line()
	master.Close()
	if got := p.end(); got != "exit status 0" {
		t.Errorf("the server ends with %q: %s", got, p.stderr)
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("it leaves %v, %v", left, err)
	}
}

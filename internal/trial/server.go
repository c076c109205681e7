package trial

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"symbolon/internal/waittest"
)

// serverTimeout is the timeout for the start and the end of a server.
const serverTimeout = time.Minute

// Options configure a server.
type Options struct {
	Data    string   // data directory; empty: a new one
	Sources []string // for --source
	Demo    bool     // --demo
	Set     []string // KEY=VALUE, for --set
	Config  string   // text of a configuration file
	Env     []string // added to the environment
	Binary  string   // the program; empty: that of this module
	Shell   string   // run by sh in the server's process before it begins, as in "ulimit -f 100"
}

// Server is a server process.
type Server struct {
	URL  string // of the doors, without a slash at its end
	Data string // the data directory

	t    testing.TB
	opt  Options
	cmd  *exec.Cmd
	log  *waittest.Log
	done chan struct{} // closed when the process has ended
}

// Start starts a server and waits until it listens.
func Start(t testing.TB, opt Options) *Server {
	t.Helper()
	s := &Server{t: t, opt: opt, Data: opt.Data, log: &waittest.Log{}}
	if s.Data == "" {
		s.Data = t.TempDir()
	}
	if opt.Config != "" {
		file := filepath.Join(t.TempDir(), "symbolon.yml")
		if err := os.WriteFile(file, []byte(opt.Config), 0o600); err != nil {
			t.Fatal(err)
		}
		s.opt.Config = file
	}
	t.Cleanup(func() {
		s.Kill()
		for _, bad := range []string{"panic: ", "panicked", "DATA RACE", "fatal error: ", "SIGBUS"} {
			if lines := s.Lines(bad); len(lines) > 0 {
				t.Errorf("in the log of the server: %s", lines[0])
			}
		}
		if t.Failed() {
			log := slices.DeleteFunc(s.Lines(), func(line string) bool { return strings.Contains(line, "level=INFO msg=request") })
			t.Logf("end of the server's log, without requests:\n%s", strings.Join(log[max(0, len(log)-40):], "\n"))
		}
	})
	s.Restart()
	return s
}

// Restart starts a server again that has ended, on the same directory. It appends to
// the log.
func (s *Server) Restart() {
	s.t.Helper()
	args := []string{"serve", "--listen", "127.0.0.1:0", "--data", s.Data}
	if s.opt.Config != "" {
		args = append(args, "--config", s.opt.Config)
	}
	if s.opt.Demo {
		args = append(args, "--demo")
	}
	for _, source := range s.opt.Sources {
		args = append(args, "--source", source)
	}
	for _, set := range s.opt.Set {
		args = append(args, "--set", set)
	}
	s.cmd = s.command(args...)
	if s.opt.Shell != "" {
		sh := exec.Command("sh", append([]string{"-c", s.opt.Shell + `; exec "$0" "$@"`, s.cmd.Path}, args...)...)
		sh.Env, s.cmd = s.cmd.Env, sh
	}
	s.cmd.Stderr = s.log
	stdout, err := s.cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	first := make(chan string, 1)
	cmd, done := s.cmd, make(chan struct{})
	s.done = done
	go func() {
		defer close(done)
		r := bufio.NewReader(stdout)
		line, _ := r.ReadString('\n')
		first <- line
		_, _ = io.Copy(io.Discard, r)
		_ = cmd.Wait() // how it ended is asked of ProcessState
	}()
	select {
	case line := <-first:
		url, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
		if !ok {
			<-done
			s.t.Fatalf("the server did not begin: %q\n%s", line, s.Log())
		}
		s.URL = url
	case <-time.After(serverTimeout):
		s.t.Fatalf("the server does not begin:\n%s", s.Log())
	}
}

// command is a run of the binary.
func (s *Server) command(args ...string) *exec.Cmd {
	s.t.Helper()
	path := s.opt.Binary
	if path == "" {
		var err error
		if path, err = binary(); err != nil {
			s.t.Fatal(err)
		}
	}
	cmd := exec.Command(path, args...)
	inherited := slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "SYMBOLON_") || strings.HasPrefix(v, "ELIOT_")
	})
	cmd.Env = slices.Concat(inherited, s.opt.Env, []string{"GORACE=atexit_sleep_ms=0"})
	return cmd
}

// Run runs another command of the binary to its end.
func (s *Server) Run(args ...string) (stdout, stderr string, code int) {
	s.t.Helper()
	cmd := s.command(args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); cmd.ProcessState == nil {
		s.t.Error(err)
		return "", "", -1
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// PID is the number of the process.
func (s *Server) PID() int { return s.cmd.Process.Pid }

// Signal sends a signal to the process.
func (s *Server) Signal(sig os.Signal) { _ = s.cmd.Process.Signal(sig) } // it may have ended

// Kill ends the process at once, if it runs.
func (s *Server) Kill() {
	if s.cmd != nil && s.cmd.Process != nil {
		_ = s.cmd.Process.Kill() // it may have ended
		<-s.done
	}
}

// Terminate asks the process to end, by SIGTERM, and returns its exit code.
func (s *Server) Terminate() int {
	s.t.Helper()
	s.Signal(syscall.SIGTERM)
	return s.Wait()
}

// Wait waits until the process has ended and returns its exit code.
func (s *Server) Wait() int {
	s.t.Helper()
	select {
	case <-s.done:
		return s.cmd.ProcessState.ExitCode()
	case <-time.After(serverTimeout):
		s.t.Errorf("the server does not end")
		s.Kill()
		return -1
	}
}

// Log is what the server has written to its standard error.
func (s *Server) Log() string { return s.log.String() }

// Lines are the lines of the log that have all parts.
func (s *Server) Lines(parts ...string) []string {
	var found []string
	for line := range strings.Lines(s.Log()) {
		if !slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(line, p) }) {
			found = append(found, strings.TrimSuffix(line, "\n"))
		}
	}
	return found
}

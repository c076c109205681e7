//go:build unix

// Package redistest runs redis-server for tests.
package redistest

import (
	"bufio"
	"bytes"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"symbolon/internal/proctest"
)

// Server is a redis-server on a port of 127.0.0.1.
type Server struct {
	t    testing.TB
	path string
	args []string
	port int
	cmd  *exec.Cmd
}

// maxTries is how many ports Start tries.
const maxTries = 10

// Start starts a redis-server with the arguments of its command line, such as
// "--maxmemory". It is killed at the end of the test.
func Start(t testing.TB, args ...string) *Server {
	t.Helper()
	s := &Server{t: t, path: proctest.Program(t, "redis-server"), args: args}
	t.Cleanup(s.Kill)
	var output string
	var err error
	for range maxTries {
		s.port = proctest.FreePort(t)
		if output, err = s.start(); err == nil {
			return s
		}
	}
	t.Fatalf("start redis-server: %v\n%s", err, output)
	return nil
}

// Restart starts the server again on its port, after Kill.
func (s *Server) Restart() {
	s.t.Helper()
	if output, err := s.start(); err != nil {
		s.t.Fatalf("start redis-server again: %v\n%s", err, output)
	}
}

// start starts the server and waits until it accepts connections. A server whose
// port is taken exits before.
func (s *Server) start() (output string, err error) {
	s.cmd = exec.Command(s.path, append(s.args, "--port", strconv.Itoa(s.port), "--bind", "127.0.0.1", "--dir", s.t.TempDir())...)
	pipe, err := s.cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := s.cmd.Start(); err != nil {
		return "", err
	}
	var lines bytes.Buffer
	for in := bufio.NewScanner(pipe); in.Scan(); {
		lines.WriteString(in.Text() + "\n")
		// The second line is that of a sentinel.
		if strings.Contains(in.Text(), "Ready to accept connections") || strings.Contains(in.Text(), "+monitor master") {
			go io.Copy(io.Discard, pipe)
			return "", nil
		}
	}
	return lines.String(), s.cmd.Wait()
}

// Kill ends the server without warning.
func (s *Server) Kill() {
	if s.cmd != nil && s.cmd.ProcessState == nil {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
	}
}

// Stop suspends the server until Continue.
func (s *Server) Stop() { _ = s.cmd.Process.Signal(syscall.SIGSTOP) }

// Continue resumes a suspended server.
func (s *Server) Continue() { _ = s.cmd.Process.Signal(syscall.SIGCONT) }

// Port returns the port of the server.
func (s *Server) Port() int { return s.port }

// Addr returns the address of the server.
func (s *Server) Addr() string { return "127.0.0.1:" + strconv.Itoa(s.port) }

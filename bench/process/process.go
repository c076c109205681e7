//go:build linux

// Package process runs the servers that the benchmarks measure, each as a
// process of its own, and reads its processor time and memory from the kernel.
//
// A Server is used by one goroutine, except for CPU and Memory.
package process

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Build builds symbolon in dir, unless binary names one, and returns its path.
func Build(ctx context.Context, binary, dir string) (string, error) {
	if binary != "" {
		return binary, nil
	}
	binary = filepath.Join(dir, "symbolon")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", binary, "symbolon/cmd/symbolon")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build symbolon: %w\n%s", err, out)
	}
	return binary, nil
}

// A Server is a running server.
type Server struct {
	Addr string // host and port
	Data string // data directory
	Born time.Time

	ctx context.Context
	cmd *exec.Cmd
	log string
}

// Start starts our server and waits until it listens. It sets --listen and
// --data.
func Start(ctx context.Context, binary, data string, args ...string) (*Server, error) {
	s, out, err := Launch(ctx, data, binary, append([]string{"serve", "--listen", "127.0.0.1:0", "--data", data}, args...)...)
	if err != nil {
		return nil, err
	}
	r := bufio.NewReader(out)
	line, err := r.ReadString('\n')
	var ok bool
	if s.Addr, ok = strings.CutPrefix(strings.TrimSpace(line), "listening on http://"); !ok {
		return nil, errors.Join(fmt.Errorf("the server does not listen: %q, %v\n%s", line, err, s.tail()), s.Stop())
	}
	go Discard(r)
	return s, nil
}

// Launch starts a program in a process group, so that Stop ends its children
// too, and returns its output. The program ends with the thread that launched
// it: the caller locks its thread.
func Launch(ctx context.Context, data, program string, args ...string) (*Server, io.Reader, error) {
	s := &Server{ctx: ctx, Data: data, log: data + ".log", Born: time.Now()}
	s.cmd = exec.Command(program, args...)
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "SYMBOLON_") && !strings.HasPrefix(v, "ELIOT_") && !strings.HasPrefix(v, "GOMEMLIMIT=") {
			s.cmd.Env = append(s.cmd.Env, v)
		}
	}
	log, err := os.Create(s.log)
	if err != nil {
		return nil, nil, err
	}
	defer log.Close()
	s.cmd.Stderr = log
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, nil, err
	}
	return s, out, nil
}

// Discard reads r to its end, so that a process can write to it.
func Discard(r io.Reader) { _, _ = io.Copy(io.Discard, r) }

// Stop ends the server and waits for it.
func (s *Server) Stop() error {
	group := -s.cmd.Process.Pid
	_ = syscall.Kill(group, syscall.SIGTERM) // it may have ended
	ended := make(chan struct{})
	go func() {
		_ = s.cmd.Wait() // the status does not matter
		close(ended)
	}()
	select {
	case <-ended:
		return nil
	case <-time.After(20 * time.Second):
		_ = syscall.Kill(group, syscall.SIGKILL)
		<-ended
		return errors.New("the server did not end by itself")
	}
}

// With calls use, stops the server, and removes its data directory. An error of
// use has the end of the log.
func (s *Server) With(use func() error) error {
	defer os.RemoveAll(s.Data)
	err := use()
	if err != nil && s.ctx.Err() == nil {
		err = fmt.Errorf("%w\nend of the server's log:\n%s", err, s.tail())
	}
	return errors.Join(err, s.Stop())
}

// tail returns the end of the log.
func (s *Server) tail() string {
	text, _ := os.ReadFile(s.log) // empty if it cannot be read
	return string(text[max(0, len(text)-600):])
}

// CPU returns the processor time of the process in nanoseconds, from the clock
// of the kernel's scheduler, which has no ticks.
func (s *Server) CPU() (time.Duration, error) {
	const schedulerClock = 2
	return Clock(int32(^s.cmd.Process.Pid<<3 | schedulerClock))
}

// Clock returns the time of a clock of the kernel.
func Clock(id int32) (time.Duration, error) {
	var t unix.Timespec
	err := unix.ClockGettime(id, &t)
	return time.Duration(t.Nano()), err
}

// Memory returns a field of the process's status in bytes, such as VmRSS.
func (s *Server) Memory(field string) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, field+":"); ok {
			kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			return kib << 10, err
		}
	}
	return 0, fmt.Errorf("read the status of the server: it has no field %s", field)
}

// Settle waits until the process is idle: less than 2 ms of processor time in
// 100 ms.
func (s *Server) Settle() error {
	for range 1000 {
		before, err := s.CPU()
		if err != nil {
			return err
		}
		if err := Pause(s.ctx, 100*time.Millisecond); err != nil {
			return err
		}
		after, err := s.CPU()
		if err != nil || after-before < 2*time.Millisecond {
			return err
		}
	}
	return errors.New("the server does not become idle")
}

// Pause waits for d, or returns the cause of the end of ctx.
func Pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

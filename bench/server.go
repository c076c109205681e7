//go:build linux

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// server is a running server.
type server struct {
	cmd  *exec.Cmd
	ctx  context.Context
	addr string
	data string
	log  string
	born time.Time
	idle int64 // resident bytes before the first request
}

// start starts our server with a data directory and waits until it listens.
func (b *bench) start(data, source string, settings ...string) (*server, error) {
	args := []string{"serve", "--listen", "127.0.0.1:0", "--data", data, "--source", b.origin + source}
	for _, s := range settings {
		args = append(args, "--set", s)
	}
	s, out, err := b.launch(data, b.binary, args...)
	if err != nil {
		return nil, err
	}
	r := bufio.NewReader(out)
	line, err := r.ReadString('\n')
	var ok bool
	if s.addr, ok = strings.CutPrefix(strings.TrimSpace(line), "listening on http://"); !ok {
		return nil, errors.Join(fmt.Errorf("the server does not listen: %q, %v\n%s", line, err, s.tail()), s.stop())
	}
	go discard(r)
	return s, nil
}

// launch starts a process in a group of its own, so that what it starts ends
// with it. It ends with ours: run has locked the thread that this hangs on.
func (b *bench) launch(data, program string, args ...string) (*server, io.Reader, error) {
	s := &server{ctx: b.ctx, data: data, log: data + ".log", born: time.Now()}
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

// discard reads what nobody wants, so that it can be written.
func discard(r io.Reader) { _, _ = io.Copy(io.Discard, r) }

// rest waits until the server is quiet after its start and notes what it holds.
func (s *server) rest() error {
	if err := s.settle(); err != nil {
		return err
	}
	var err error
	s.idle, _, err = s.memory()
	return err
}

// stop ends the server and waits for it.
func (s *server) stop() error {
	group := -s.cmd.Process.Pid
	_ = syscall.Kill(group, syscall.SIGTERM) // it may have ended
	ended := make(chan struct{})
	go func() {
		_ = s.cmd.Wait() // its status is of no interest
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

// with runs use against a server, and ends it whatever happens. Its data
// directory goes too.
func (s *server) with(use func() error) error {
	defer os.RemoveAll(s.data)
	err := use()
	if err != nil && s.ctx.Err() == nil {
		err = fmt.Errorf("%w\nthe server's last words:\n%s", err, s.tail())
	}
	return errors.Join(err, s.stop())
}

// tail is the end of the log.
func (s *server) tail() string {
	text, _ := os.ReadFile(s.log) // none is as good
	return string(text[max(0, len(text)-600):])
}

// cpu is the processor time of the process so far, in nanoseconds: the clock
// of the kernel's scheduler, which has no ticks.
func (s *server) cpu() (time.Duration, error) {
	const schedulersClock = 2
	return clock(int32(^s.cmd.Process.Pid<<3 | schedulersClock))
}

func clock(id int32) (time.Duration, error) {
	var t unix.Timespec
	err := unix.ClockGettime(id, &t)
	return time.Duration(t.Nano()), err
}

// memory is the resident bytes of the process, and the most they ever were.
func (s *server) memory() (now, most int64, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		kib, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64) // others are no numbers
		switch name {
		case "VmRSS":
			now = kib << 10
		case "VmHWM":
			most = kib << 10
		}
	}
	return now, most, err
}

// settle waits until the process does next to nothing.
func (s *server) settle() error {
	for range 100 {
		was, err := s.cpu()
		if err != nil {
			return err
		}
		if err := pause(s.ctx, 100*time.Millisecond); err != nil {
			return err
		}
		is, err := s.cpu()
		if err != nil || is-was < 2*time.Millisecond {
			return err
		}
	}
	return errors.New("the server does not come to rest")
}

// tables is the files of the tables in the data directory.
func (s *server) tables() ([]string, error) {
	return filepath.Glob(filepath.Join(s.data, "cache", "symcache", "*", "*"))
}

// await waits until there are n tables and the server is quiet.
func (s *server) await(n int, ask func() error) error {
	return errors.Join(s.awaitTables(n, ask), s.settle())
}

// awaitTables waits until there are n tables. When nothing moves it asks again,
// as tables may be built for the second request only.
func (s *server) awaitTables(n int, ask func() error) error {
	had, since := -1, time.Now()
	for start := time.Now(); time.Since(start) < 3*time.Minute; {
		files, err := s.tables()
		if err != nil || len(files) >= n {
			return err
		}
		if len(files) > had {
			had, since = len(files), time.Now()
		} else if time.Since(since) > 5*time.Second {
			if err := ask(); err != nil {
				return err
			}
			since = time.Now()
		}
		if err := pause(s.ctx, 10*time.Millisecond); err != nil {
			return err
		}
	}
	return fmt.Errorf("%d of %d tables were built", had, n)
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// freePort is a port that nobody listens on.
func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, errors.Join(err, l.Close())
}

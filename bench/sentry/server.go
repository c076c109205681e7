//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// server is a running server.
type server struct {
	cmd  *exec.Cmd
	base string
}

// start starts a server on a data directory and waits until it listens.
func start(binary, data string, args ...string) (*server, error) {
	s := &server{cmd: exec.Command(binary, append([]string{"serve", "--listen", "127.0.0.1:0", "--data", data, "--set", "log.level=error"}, args...)...)}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.cmd.Stderr = os.Stderr
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	base, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if !ok {
		s.stop()
		return nil, fmt.Errorf("the server does not listen: %q, %v", line, err)
	}
	s.base = base
	return s, nil
}

func (s *server) stop() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait() // it was killed
}

// cpu is the processor time that the server has used.
func (s *server) cpu() time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond
}

// memory is a figure of the server's status, in bytes.
func (s *server) memory(name string) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			n, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return n << 10
		}
	}
	return 0
}

var client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true}}

func (s *server) ask(body []byte) ([]byte, error) {
	resp, err := client.Post(s.base+"/symbolicate", "application/json", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %.200s", resp.Status, answer)
	}
	return answer, err
}

// settle asks until the tables are there, so that nothing runs beside the load.
func (s *server) settle(body []byte) error {
	var answer []byte
	for range 3 {
		var err error
		if answer, err = s.ask(body); err != nil {
			return err
		}
		s.rest()
	}
	if bytes.Contains(answer, []byte(`"status":"missing"`)) {
		return fmt.Errorf("a module is missing: %.300s", answer)
	}
	return nil
}

// rest waits until the server has done nothing for a second.
func (s *server) rest() {
	last, since := s.cpu(), time.Now()
	for end := time.Now().Add(2 * time.Minute); time.Since(since) < time.Second && time.Now().Before(end); {
		time.Sleep(50 * time.Millisecond)
		if now := s.cpu(); now-last > 10*time.Millisecond {
			last, since = now, time.Now()
		}
	}
}

// result is what a load cost.
type result struct {
	requests  int
	took, cpu time.Duration
	p50, p99  time.Duration
	size      int // of an answer
}

// load sends requests for a while.
func (s *server) load(bodies [][]byte, clients int, how time.Duration) (result, error) {
	ctx, cancel := context.WithTimeout(context.Background(), how)
	defer cancel()
	times := make([][]time.Duration, clients)
	errs := make([]error, clients)
	sizes := make([]int, clients)
	before, began := s.cpu(), time.Now()
	var wg sync.WaitGroup
	for c := range clients {
		wg.Go(func() {
			for i := c; ctx.Err() == nil && errs[c] == nil; i++ {
				start := time.Now()
				var answer []byte
				answer, errs[c] = s.ask(bodies[i%len(bodies)])
				times[c] = append(times[c], time.Since(start))
				sizes[c] = len(answer)
			}
		})
	}
	wg.Wait()
	r := result{took: time.Since(began), cpu: s.cpu() - before, size: sizes[0]}
	all := slices.Concat(times...)
	slices.Sort(all)
	for _, err := range errs {
		if err != nil {
			return r, err
		}
	}
	r.requests, r.p50, r.p99 = len(all), all[len(all)/2], all[len(all)*99/100]
	return r, nil
}

// serveFiles is a symbol server of a folder.
func serveFiles(dir string) *httptest.Server {
	return httptest.NewServer(http.FileServer(http.Dir(dir)))
}

// size is how many bytes the files below a folder have.
func size(dir string) (total int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		if info, err := d.Info(); err == nil {
			total += info.Size()
		}
		return nil
	})
	return total
}

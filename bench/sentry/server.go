//go:build linux

package sentry

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"symbolon/bench/process"
)

// server is a running server.
type server struct{ *process.Server }

// start starts a server on a data directory and waits until it listens.
func start(o options, data string, args ...string) (*server, error) {
	s, err := process.Start(o.ctx, o.binary, data, append([]string{"--set", "log.level=error"}, args...)...)
	return &server{s}, err
}

func (s *server) stop() { _ = s.Stop() } // all figures have been taken

// used returns the processor time of the server, 0 if it has ended.
func (s *server) used() time.Duration {
	used, _ := s.CPU()
	return used
}

// bytes returns a figure of the server's status, 0 if it has ended.
func (s *server) bytes(field string) int64 {
	n, _ := s.Memory(field)
	return n
}

var client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true}}

func (s *server) ask(body []byte) ([]byte, error) {
	resp, err := client.Post("http://"+s.Addr+"/symbolicate", "application/json", bytes.NewReader(body))
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
		s.idle()
	}
	if bytes.Contains(answer, []byte(`"status":"missing"`)) {
		return fmt.Errorf("a module is missing: %.300s", answer)
	}
	return nil
}

// idle waits until the server has been idle for a second.
func (s *server) idle() {
	for quiet := 0; quiet < 10; quiet++ {
		before := s.used()
		time.Sleep(100 * time.Millisecond)
		if s.used()-before > 2*time.Millisecond {
			quiet = 0
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
	before, began := s.used(), time.Now()
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
	r := result{took: time.Since(began), cpu: s.used() - before, size: sizes[0]}
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

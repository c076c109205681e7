//go:build linux

package mozilla

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"time"

	"symbolon/bench/process"
)

// server is a running server.
type server struct {
	*process.Server
	ctx  context.Context
	idle int64 // resident bytes before the first request
}

// start starts our server with a data directory and waits until it listens.
func (b *bench) start(data, source string, settings ...string) (*server, error) {
	args := []string{"--source", b.origin + source}
	for _, s := range settings {
		args = append(args, "--set", s)
	}
	s, err := process.Start(b.ctx, b.binary, data, args...)
	return &server{Server: s, ctx: b.ctx}, err
}

// rest waits until the server is idle after its start and records its memory.
func (s *server) rest() error {
	if err := s.Settle(); err != nil {
		return err
	}
	var err error
	s.idle, err = s.Memory("VmRSS")
	return err
}

// tables is the files of the tables in the data directory.
func (s *server) tables() ([]string, error) {
	return filepath.Glob(filepath.Join(s.Data, "cache", "symcache", "*", "*"))
}

// await waits until there are n tables and the server is quiet.
func (s *server) await(n int, ask func() error) error {
	return errors.Join(s.awaitTables(n, ask), s.Settle())
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
		if err := process.Pause(s.ctx, 10*time.Millisecond); err != nil {
			return err
		}
	}
	return fmt.Errorf("%d of %d tables were built", had, n)
}

// freePort returns a port that is not in use.
func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, errors.Join(err, l.Close())
}

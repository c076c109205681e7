package remote_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"symbolon/internal/cache/remote"
)

// server is one that a test turns off and on.
type server struct {
	mu          sync.Mutex
	down        bool
	tries       []time.Time
	disconnects int
}

func (s *server) connect(context.Context) (func(), error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tries = append(s.tries, time.Now())
	if s.down {
		return nil, errors.New("it is down")
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.disconnects++
	}, nil
}

func (s *server) set(down bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = down
}

// pauses returns the times between the tries, and forgets all but the last one.
func (s *server) pauses() (list []time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, at := range s.tries[1:] {
		list = append(list, at.Sub(s.tries[i]))
	}
	s.tries = s.tries[len(s.tries)-1:]
	return list
}

func monitor(s *server) (*remote.Monitor, *bytes.Buffer) {
	var log bytes.Buffer
	return &remote.Monitor{Tier: "test", Name: "the server", Connect: s.connect, Log: slog.New(slog.NewTextHandler(&log, nil))}, &log
}

func TestMonitorBacksOffAndLogsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{down: true}
		m, log := monitor(s)
		m.Start(0)
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		pauses := s.pauses()
		want := []time.Duration{100 * time.Millisecond, 200 * time.Millisecond, 400 * time.Millisecond}
		if !slices.Equal(pauses[:3], want) {
			t.Errorf("the first pauses are %v, want %v", pauses[:3], want)
		}
		if last := pauses[len(pauses)-1]; last != time.Minute {
			t.Errorf("the last pause is %v", last)
		}
		s.set(false)
		time.Sleep(2 * time.Minute)
		m.Stop()
		if n := strings.Count(log.String(), "level=WARN msg=\"the server unavailable, backing off\" error=\"it is down\""); n != 1 {
			t.Errorf("%d warnings: %v", n, log)
		}
		if n := strings.Count(log.String(), "level=INFO msg=\"the server available again\""); n != 1 {
			t.Errorf("%d lines about the recovery: %v", n, log)
		}
	})
}

func TestMonitorReconnects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{}
		m, log := monitor(s)
		m.Start(time.Second)
		for range 3 { // the connection is lost at once: the pauses grow
			synctest.Wait()
			m.Lost(errors.New("no answer"))
			time.Sleep(time.Second)
		}
		if got, want := s.pauses(), []time.Duration{100 * time.Millisecond, 900*time.Millisecond + 200*time.Millisecond, 800*time.Millisecond + 400*time.Millisecond}; !slices.Equal(got, want) {
			t.Errorf("connected after %v, want %v", got, want)
		}
		time.Sleep(time.Hour) // the connection holds: the pauses begin again
		lost := time.Now()
		m.Lost(errors.New("no answer"))
		time.Sleep(time.Second)
		if got := s.pauses(); len(got) != 1 {
			t.Errorf("%d tries", len(got))
		}
		if pause := s.tries[0].Sub(lost); pause != 100*time.Millisecond {
			t.Errorf("connected after %v", pause)
		}
		m.Stop()
		if s.disconnects != 5 {
			t.Errorf("disconnected %d times from 5 connections", s.disconnects)
		}
		if n := strings.Count(log.String(), "no answer"); n != 4 {
			t.Errorf("%d of 4 failures are logged: %v", n, log)
		}
	})
}

func TestMonitorWaitsForTheFirstTryOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		m, _ := monitor(&server{down: true})
		m.Start(time.Second)
		if took := time.Since(begun); took != 0 {
			t.Errorf("a try that fails at once is waited for %v", took)
		}
		m.Stop()
		m.Connect = func(ctx context.Context) (func(), error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		begun = time.Now()
		m.Start(time.Second)
		if took := time.Since(begun); took != time.Second {
			t.Errorf("a try that hangs is waited for %v", took)
		}
		m.Stop()
	})
}

package console_test

import (
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"symbolon/internal/console"
)

// screen is a terminal, safe for concurrent use.
type screen struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

// take returns the text since the last call.
func (s *screen) take() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.text.Reset()
	return s.text.String()
}

func newProgress(w io.Writer, label, noun string) *console.Progress {
	return console.NewProgress(w, label, noun, time.Now(), time.Tick(console.ProgressEvery))
}

func TestProgressShowsRateAndRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s screen
		p := newProgress(&s, "reading kiln", "")
		defer p.Close()
		after := func(d time.Duration) string {
			time.Sleep(d)
			synctest.Wait()
			lines := strings.Split(s.take(), "\r")
			return strings.TrimRight(lines[len(lines)-1], " ")
		}
		p.Set(1_000_000, 0)
		if got := after(900 * time.Millisecond); got != "" {
			t.Errorf("in the first second: %q", got)
		}
		if got, want := after(200*time.Millisecond), "reading kiln: 1.0 MB, 1.0 MB/s"; got != want {
			t.Errorf("without a size: got %q; want %q", got, want)
		}
		p.Set(4_000_000, 10_000_000)
		if got, want := after(time.Second), "reading kiln: 4.0 MB of 10.0 MB, 2.0 MB/s, 3s left"; got != want {
			t.Errorf("with a size: got %q; want %q", got, want)
		}
		p.Begin("sending\x1b[2J", 0)
		if got, want := after(time.Second), "sending\uFFFD[2J: 1s"; got != want {
			t.Errorf("another label: got %q; want %q", got, want)
		}
	})
}

func TestProgressStaysAwayFromOtherText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s screen
		p := newProgress(&s, "checking", "module")
		p.Set(1, 2)
		time.Sleep(1900 * time.Millisecond)
		synctest.Wait()
		s.take()
		p.Clear()
		if got := s.take(); !strings.HasPrefix(got, "\r ") || !strings.HasSuffix(got, " \r") {
			t.Errorf("the line is not removed: %q", got)
		}
		time.Sleep(200 * time.Millisecond)
		synctest.Wait()
		if got := s.take(); got != "" {
			t.Errorf("right after another text: %q", got)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if got := s.take(); !strings.Contains(got, "1 module of 2 modules, ") {
			t.Errorf("later: %q", got)
		}
		p.Close()
		s.take()
		time.Sleep(5 * time.Second)
		if got := s.take(); got != "" {
			t.Errorf("after Close: %q", got)
		}
	})
}

func TestProgressWithoutATerminalWritesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var none io.Writer
		p := newProgress(none, "reading", "")
		p.Set(1, 2)
		time.Sleep(time.Minute)
		p.Clear()
		p.Close()
	})
}

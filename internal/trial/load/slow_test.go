package load_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"symbolon/internal/trial"
	"symbolon/internal/waittest"
)

// ready starts a server that has the table of one small module, and tells how
// long its answers take when nothing else is to be done.
func ready(t *testing.T, set ...string) (*trial.Server, *client, func(int) string, times) {
	t.Helper()
	return readyFrom(t, trial.NewUpstream(t), set...)
}

// readyFrom is ready with a symbol server of the test's own.
func readyFrom(t *testing.T, up *trial.Upstream, set ...string) (*trial.Server, *client, func(int) string, times) {
	t.Helper()
	f := newTemplates(1, 2000)
	up.Do(f.path(), f)
	s := trial.Start(t, trial.Options{Sources: []string{up.URL}, Set: append(set, "log.level=warn")})
	c := newClient(t, s)
	body := func(i int) string { return f.stack(i*31, 30) }
	c.asking(t, 1, 0, nil, body)
	waittest.Until(t, "the table is built", func() bool { return s.Metric("table_builds_total", `outcome="built"`) == 1 })
	c.asking(t, 20, 0, nil, body)
	return s, c, body, c.asking(t, 100, time.Millisecond, nil, body)
}

// dial opens connections to a server and closes them with the test.
func dial(t *testing.T, s *trial.Server, n int) []net.Conn {
	t.Helper()
	all := make([]net.Conn, 0, n)
	t.Cleanup(func() {
		for _, conn := range all {
			conn.Close()
		}
	})
	for range n {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
		if err != nil {
			t.Fatalf("after %d connections: %v", len(all), err)
		}
		all = append(all, conn)
	}
	return all
}

// drip sends text to all connections, and then a byte to each from time to
// time, until the test ends. It skips closed connections.
func drip(t *testing.T, all []net.Conn, text string, every time.Duration) {
	stop := make(chan struct{})
	var ended sync.WaitGroup
	var sent atomic.Int64
	t.Cleanup(func() {
		close(stop)
		for _, conn := range all {
			conn.Close() // one may be in the middle of the text
		}
		ended.Wait()
	})
	for _, conn := range all {
		ended.Go(func() {
			var err error
			for piece := range slices.Chunk([]byte(text), 64<<10) {
				if _, err = conn.Write(piece); err != nil {
					break
				}
				sent.Add(1)
			}
			for err == nil {
				select {
				case <-stop:
					return
				case <-time.After(every):
					_, err = io.WriteString(conn, "1")
				}
			}
		})
	}
	waittest.Settle(t, "most of the text has come", 100*time.Millisecond, sent.Load)
}

// head is that of a request with a body of this size.
func head(size int) string {
	return fmt.Sprintf("POST /symbolicate/v5 HTTP/1.1\r\nHost: symbols\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", size)
}

// closed counts how many of the connections the server closes within a time,
// and returns the status lines that it sends before.
func closed(all []net.Conn, within time.Duration) (n int, statuses map[string]int) {
	statuses = map[string]int{}
	var mu sync.Mutex
	end := time.Now().Add(within)
	parallel(len(all), func(i int) {
		_ = all[i].SetReadDeadline(end) // else it would be waited for longer
		text, err := io.ReadAll(all[i])
		line, _, _ := bytes.Cut(text, []byte("\r\n"))
		mu.Lock()
		defer mu.Unlock()
		if timeout, ok := err.(net.Error); !ok || !timeout.Timeout() {
			n++
			statuses[string(line)]++
		}
	})
	return n, statuses
}

// 300 clients that send a byte a second would take all 200 places of a server
// that gives a place to each client after its head.
func TestManySlowBodiesDelayNobody(t *testing.T) {
	t.Parallel()
	s, c, body, quiet := ready(t, "http.body_timeout=2s")
	slow := dial(t, s, 300)
	drip(t, slow, head(10_000)+`{"memoryMap":`, time.Second)
	now := c.asking(t, 200, time.Millisecond, nil, body)
	notDelayed(t, quiet, now)
	n, statuses := closed(slow, 15*time.Second)
	if n != len(slow) || statuses["HTTP/1.1 408 Request Timeout"] != len(slow) {
		t.Errorf("%d of %d slow ones were cut off: %v", n, len(slow), statuses)
	}
}

func TestSlowHeadersDelayNobody(t *testing.T) {
	t.Parallel()
	s, c, body, quiet := ready(t, "http.header_timeout=2s")
	slow := dial(t, s, 300)
	drip(t, slow, "POST /symbolicate/v5 HTTP/1.1\r\nHost: symbols\r\nX-Slow: ", 500*time.Millisecond)
	now := c.asking(t, 200, time.Millisecond, nil, body)
	notDelayed(t, quiet, now)
	if n, _ := closed(slow, 10*time.Second); n != len(slow) {
		t.Errorf("%d of %d slow ones were cut off", n, len(slow))
	}
}

// A few clients that announce the largest bodies, send enough to be let in and
// then almost nothing, must not have the memory of all others for long.
func TestLargeSlowBodiesDelayNobody(t *testing.T) {
	t.Parallel()
	for name, slow := range map[string]struct {
		memory string
		n      int // enough to hold all memory of requests
		sent   int // bytes of each body
	}{
		"sent a little":        {"1GiB", 5, 70 << 10},
		"little memory":        {"64MiB", 2, 70 << 10},
		"sent but for the end": {"1GiB", 5, 12 << 20},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, c, body, quiet := ready(t, "memory="+slow.memory)
			drip(t, dial(t, s, slow.n), head(60_000_000)+`{"memoryMap":`+strings.Repeat(" ", slow.sent), 500*time.Millisecond)
			cut := time.AfterFunc(30*time.Second, func() { s.Kill() }) // an answer that never comes is enough
			defer cut.Stop()
			notDelayed(t, quiet, c.asking(t, 100, time.Millisecond, nil, body))
			medium(t, c)
		})
	}
}

// Clients that ask for large answers and do not read them hold what the answers
// are made of, and must hold nothing that others need.
func TestReadersThatStallDelayNobody(t *testing.T) {
	s, c, body, quiet := ready(t)
	large := newTemplates(1, 2000).stack(0, 1_000_000)
	stalled := dial(t, s, 7) // more than enough to hold all memory of requests
	begun := make(chan struct{}, len(stalled))
	for _, conn := range stalled {
		go func() {
			_, _ = io.WriteString(conn, head(len(large))+large) // most wait for those that stall
			if n, _ := conn.Read(make([]byte, 1)); n == 1 {
				begun <- struct{}{}
			}
		}()
	}
	select {
	case <-begun:
	case <-time.After(time.Minute):
		t.Fatal("no answer has begun")
	}
	waittest.Settle(t, "all answers that can begin have begun", 500*time.Millisecond, func() int { return len(begun) })
	stop := time.AfterFunc(30*time.Second, func() { s.Kill() })
	defer stop.Stop()
	notDelayed(t, quiet, c.asking(t, 100, time.Millisecond, nil, body))
	medium(t, c)
}

// medium makes requests as crash pipelines do, a thousand stacks in one. They
// may have to wait for memory, but not for longer than it takes to see that
// those who have it do not get on.
func medium(t *testing.T, c *client) {
	t.Helper()
	took := c.asking(t, 5, 0, nil, func(i int) string { return newTemplates(1, 2000).stack(i, 27_000) })
	t.Logf("of 27,000 frames: %v", took)
	if most := took.at(1); most > 12*time.Second {
		t.Errorf("one waited %v for memory", most)
	}
}

// Requests beyond the limit are refused at once, with a message, and served when
// there is place again.
func TestMoreThanAllPlacesAreRefusedAtOnce(t *testing.T) {
	s, c, body, _ := ready(t, "http.max_in_flight=4")
	var slow []net.Conn
	waittest.Until(t, "a request is refused", func() bool {
		// Some of these are refused, and after that the others are soon cut off.
		more := dial(t, s, 8)
		drip(t, more, head(200_000)+`{"memoryMap":`+strings.Repeat(" ", 70<<10), time.Second)
		slow = append(slow, more...)
		resp, err := http.Post(c.url, "application/json", strings.NewReader(body(0)))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, _ := io.ReadAll(resp.Body)
		if resp.StatusCode == http.StatusOK {
			return false
		}
		if resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") == "" || !bytes.Contains(text, []byte("too many requests at the same time")) {
			t.Errorf("%d %s %v", resp.StatusCode, text, resp.Header)
		}
		return true
	})
	for _, conn := range slow {
		conn.Close()
	}
	waittest.Until(t, "requests are served again", func() bool {
		status, _, err := c.post(strings.NewReader(body(1)), nil)
		return status == http.StatusOK && err == nil
	})
}

package load_test

import (
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"symbolon/internal/trial"
	"symbolon/internal/waittest"
)

// connections is how many clients are connected at once, if the system lets
// this process have as many files.
const connections = 10_000

// raiseFiles lets this process have as many open files as it can, and returns
// how many connections it may make.
func raiseFiles(t *testing.T) int {
	t.Helper()
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	limit.Cur = limit.Max
	_ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit) // then there are as many as there are
	_ = syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit)
	if n := int(min(limit.Cur, 1<<20)) - 500; n < connections {
		t.Logf("the limit of open files leaves %d connections, not %d", n, connections)
		return n
	}
	return connections
}

// files is how many files a server has open.
func files(t *testing.T, s *trial.Server) int {
	t.Helper()
	list, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.PID()))
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// Thousands of connections that send nothing, half a head, or nothing more
// after an answer do not delay other clients, are closed in time, and leak nothing.
func TestThousandsOfConnections(t *testing.T) {
	skipIfShort(t)
	t.Parallel()
	n := raiseFiles(t)
	s, c, body, quiet := ready(t, "http.header_timeout=3s", "http.idle_timeout=3s")
	before := files(t, s)
	idle, _ := s.Memory()
	all := dial(t, s, n)
	for i, conn := range all {
		text := [...]string{"", "POST /symbolicate/v5 HTTP/1.1\r\nHost: symb", "GET /healthz HTTP/1.1\r\nHost: symbols\r\n\r\n"}[i%3]
		if _, err := io.WriteString(conn, text); err != nil {
			t.Fatal(err)
		}
	}
	c.CloseIdleConnections() // the server may close this client's at the same time as it is used
	notDelayed(t, quiet, c.asking(t, 300, time.Millisecond, nil, body))
	_, peak := s.Memory()
	t.Logf("%d connections: %d files open, %d MiB idle, %d MiB more at most", n, files(t, s), idle>>20, (peak-idle)>>20)
	if peak-idle > 400<<20 && !trial.Race() {
		t.Errorf("the connections took %d MiB", (peak-idle)>>20)
	}
	if cut, _ := closed(all, 15*time.Second); cut != n {
		t.Errorf("%d of %d were closed", cut, n)
	}
	waittest.Until(t, "no file is left open", func() bool { return files(t, s) <= before+5 })
	notDelayed(t, quiet, c.asking(t, 100, time.Millisecond, nil, body))
}

// A server that may open no more files takes no more connections, goes on with
// those that it has, and takes new ones when there are files again.
func TestServerWithoutFilesRecovers(t *testing.T) {
	skipIfShort(t)
	t.Parallel()
	f := newTemplates(1, 2000)
	up := serveTemplates(t, f)
	s := trial.Start(t, trial.Options{Sources: []string{up.URL}, Set: []string{"http.header_timeout=1s"}, Shell: "ulimit -n 120"})
	c := newClient(t, s)
	body := func(i int) string { return f.stack(i*31, 30) }
	c.asking(t, 2, 0, nil, body)
	all := dial(t, s, 150)
	c.asking(t, 10, 0, nil, body) // on the connection that is there
	if cut, _ := closed(all, 20*time.Second); cut != len(all) {
		t.Errorf("%d of %d idle connections were closed", cut, len(all))
	}
	fresh := newClient(t, s)
	fresh.asking(t, 10, 0, nil, body)
	if wrong := s.Lines("level=ERROR"); len(wrong) > 0 {
		t.Errorf("errors were logged: %s", wrong[0])
	}
	if n := len(s.Lines("too many open files")); n == 0 || n > 100 {
		t.Errorf("%d lines tell of it", n)
	}
}

// Connections that end in the middle of a request leak nothing either.
func TestClientsThatLeaveLeaveNothing(t *testing.T) {
	s, c, body, quiet := ready(t)
	before := files(t, s)
	large := newTemplates(1, 2000).stack(0, 50_000)
	for i := range 200 {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		switch i % 3 {
		case 0: // in the middle of the body
			_, _ = io.WriteString(conn, head(len(large))+large[:len(large)/2])
		case 1: // when the answer has begun
			_, _ = io.WriteString(conn, head(len(large))+large)
			_, _ = conn.Read(make([]byte, 1))
		case 2: // by a reset
			_, _ = io.WriteString(conn, head(len(large))+large)
			_ = conn.(*net.TCPConn).SetLinger(0)
		}
		conn.Close()
	}
	waittest.Until(t, "no file is left open", func() bool { return files(t, s) <= before+5 })
	waittest.Until(t, "no request is left", func() bool { return s.Metric("http_in_flight") <= 1 })
	notDelayed(t, quiet, c.asking(t, 100, time.Millisecond, nil, body))
}

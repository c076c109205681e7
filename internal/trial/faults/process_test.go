package faults_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"symbolon/internal/trial"
	"symbolon/internal/waittest"
)

// gate is a file that is sent up to a half, and the rest once it is opened.
type gate struct {
	sym  trial.Sym
	half chan struct{} // closed when the first half is out
	open chan struct{}
	once sync.Once
}

func newGate(sym trial.Sym) *gate {
	return &gate{sym: sym, half: make(chan struct{}), open: make(chan struct{})}
}

func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b := g.sym.Bytes()
	_, _ = w.Write(b[:len(b)/2])
	w.(http.Flusher).Flush()
	g.once.Do(func() { close(g.half) })
	trial.Wait(g.open, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(b[len(b)/2:]) })).ServeHTTP(w, r)
}

// whole fails if the data directory has anything that is not whole.
func whole(t *testing.T, s *trial.Server) {
	t.Helper()
	for _, path := range cached(t, s, "symcache") {
		if _, errs, code := s.Run("table", "verify", path); code != 0 {
			t.Errorf("half a table: %s", errs)
		}
	}
	if left, err := os.ReadDir(filepath.Join(s.Data, "tmp")); err != nil || len(left) > 0 {
		t.Errorf("tmp has %v, %v", left, err)
	}
}

// TestServerThatIsKilledLeavesNothingHalf kills a server while it downloads,
// scans and builds, and starts it again on what it left.
func TestServerThatIsKilledLeavesNothingHalf(t *testing.T) {
	t.Parallel()
	sym := large(1)
	for name, end := range map[string]func(*trial.Server){
		"SIGKILL": (*trial.Server).Kill,
		"SIGTERM": func(s *trial.Server) { s.Terminate() },
	} {
		for _, moment := range []string{"download", "scan", "build"} {
			t.Run(name+" during "+moment, func(t *testing.T) {
				up := trial.NewUpstream(t)
				g := newGate(sym)
				up.Do(sym.Path(), g)
				s := trial.Start(t, trial.Options{Sources: []string{up.URL}, Set: []string{"http.shutdown_timeout=100ms"}})
				answered := make(chan struct{})
				go func() {
					defer close(answered)
					resp, err := http.Post(s.URL+"/symbolicate/v5", "application/json",
						strings.NewReader(fmt.Sprintf(`{"memoryMap":[[%q,%q]],"stacks":[[[0,%d]]]}`, sym.File, sym.ID, sym.Offset(5))))
					if err == nil {
						_, _ = io.Copy(io.Discard, resp.Body)
						resp.Body.Close()
					}
				}()
				<-g.half
				if moment != "download" {
					close(g.open)
				}
				if moment == "build" {
					<-answered
					waittest.Until(t, "the table is being built", func() bool {
						spools, err := os.ReadDir(filepath.Join(s.Data, "tmp"))
						return err == nil && len(spools) > 0 || len(cached(t, s, "symcache")) > 0
					})
				}
				begin := time.Now()
				end(s)
				<-answered
				if took := time.Since(begin); took > 5*time.Second {
					t.Errorf("it took %v to end", took)
				}
				if err := os.WriteFile(filepath.Join(s.Data, "tmp", "half"), []byte("half a file"), 0o600); err != nil {
					t.Fatal(err)
				}
				up.Do(sym.Path(), sym)
				s.Restart()
				whole(t, s)
				for _, i := range []int{0, 5, sym.Funcs / 2, sym.Funcs - 1} {
					if wrong := s.Ask(sym, i); wrong != "" {
						t.Error(wrong)
					}
				}
			})
		}
	}
}

// TestRunningRequestsEndBeforeTheServer asks it to end while a request waits
// for a file.
func TestRunningRequestsEndBeforeTheServer(t *testing.T) {
	t.Parallel()
	up := trial.NewUpstream(t)
	g := newGate(trial.NewSym(1, 1000))
	up.Do(g.sym.Path(), g)
	s := trial.Start(t, trial.Options{Sources: []string{up.URL}})
	answer := make(chan trial.Answer, 1)
	go func() { answer <- s.V5([]trial.Module{g.sym.Module}, g.sym.Frames(0, 7)...) }()
	<-g.half
	s.Signal(syscall.SIGTERM)
	waittest.Until(t, "no new connection is taken", func() bool {
		resp, err := http.Get(s.URL + "/healthz")
		if err == nil {
			resp.Body.Close()
		}
		return err != nil
	})
	close(g.open)
	if a := <-answer; a.Text(0) != g.sym.Answer(7) {
		t.Errorf("the running request: %s", a.Body)
	}
	if code := s.Wait(); code != 0 || len(warnings(s)) > 0 {
		t.Errorf("exit code %d, log %q", code, warnings(s))
	}
}

// TestServerEndsInTime asks it to end while a request waits for a file that
// never comes.
func TestServerEndsInTime(t *testing.T) {
	t.Parallel()
	up := trial.NewUpstream(t)
	sym := trial.NewSym(1, 1000)
	up.Do(sym.Path(), trial.Hang(sym.Bytes(), 100))
	s := trial.Start(t, trial.Options{Sources: []string{up.URL}, Set: []string{"http.shutdown_timeout=500ms"}})
	ended := make(chan error, 1)
	go func() {
		resp, err := http.Get(s.URL + sym.Path())
		if err == nil {
			resp.Body.Close()
		}
		ended <- err
	}()
	waittest.Until(t, "the file is asked for", func() bool { return up.Count(sym.Path()) == 1 })
	start := time.Now()
	code := s.Terminate()
	if took := time.Since(start); took < 400*time.Millisecond || took > 3*time.Second || code != 0 {
		t.Errorf("exit code %d after %v", code, took)
	}
	if err := <-ended; err == nil {
		t.Error("the request that was cut off has an answer")
	}
	if lines := warnings(s); len(lines) != 1 || !strings.Contains(lines[0], "500ms") {
		t.Errorf("log: %q", lines)
	}
}

// TestSecondServerOnADirectoryRefuses starts two.
func TestSecondServerOnADirectoryRefuses(t *testing.T) {
	t.Parallel()
	up := trial.NewUpstream(t)
	sym := trial.NewSym(1, 100)
	up.Do(sym.Path(), sym)
	s := trial.Start(t, trial.Options{Sources: []string{up.URL}})
	out, errs, code := s.Run("serve", "--listen", "127.0.0.1:0", "--data", s.Data)
	lines := strings.Split(strings.TrimSpace(errs), "\n")
	if last := lines[len(lines)-1]; code != 1 || out != "" || !strings.Contains(last, s.Data+" is in use by another symbolon") {
		t.Errorf("exit code %d, %q, %q", code, out, errs)
	}
	if wrong := s.Ask(sym, 1); wrong != "" {
		t.Error(wrong)
	}
	if x := s.Explain(sym.Module); !x.Found { // its socket is its own still
		t.Errorf("explain: %+v", x)
	}
}

// TestManyFirstRequestsShareOneDownloadAndOneBuild sends 500 requests for an
// unknown module. 100 of the clients leave before the file has been
// fetched, which neither affects the others nor leaks anything.
func TestManyFirstRequestsShareOneDownloadAndOneBuild(t *testing.T) {
	const clients, leaving = 500, 100
	sym := large(1)
	up := trial.NewUpstream(t)
	g := newGate(sym)
	up.Do(sym.Path(), g)
	s := trial.Start(t, trial.Options{Sources: []string{up.URL}, Set: []string{"http.max_in_flight=1000"}})
	leave, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() {
			if i < leaving {
				body := fmt.Sprintf(`{"memoryMap":[[%q,%q]],"stacks":[[[0,%d]]]}`, sym.File, sym.ID, sym.Offset(i))
				req, err := http.NewRequestWithContext(leave, http.MethodPost, s.URL+"/symbolicate/v5", strings.NewReader(body))
				if err != nil {
					t.Error(err)
					return
				}
				if resp, err := http.DefaultClient.Do(req); err == nil {
					resp.Body.Close()
					t.Errorf("client %d got an answer, and should have left", i)
				}
				return
			}
			if wrong := s.Ask(sym, i*99); wrong != "" {
				t.Error(wrong)
			}
		})
	}
	waittest.Until(t, "all are waiting", func() bool { return s.Metric("http_in_flight") > clients })
	cancel()
	waittest.Until(t, "some have left", func() bool { return s.Metric("http_in_flight") <= clients-leaving+1 })
	close(g.open)
	all.Wait()
	built(t, s, 1)
	if wrong := s.Ask(sym, 3); wrong != "" {
		t.Error(wrong)
	}
	if n := up.Count(sym.Path()); n != 1 || s.Metric("downloads_total") != 1 || s.Metric("table_builds_total") != 1 {
		t.Errorf("%d requests, %v downloads, %v builds", n, s.Metric("downloads_total"), s.Metric("table_builds_total"))
	}
	if n := s.Metric("http_in_flight"); n != 1 { // the one for the metrics
		t.Errorf("%v requests in flight", n)
	}
	s.Signal(syscall.SIGQUIT) // which prints every goroutine
	s.Wait()
	if n := bytes.Count([]byte(s.Log()), []byte("\ngoroutine ")); n == 0 || n > 40 {
		t.Errorf("%d goroutines are left", n)
	}
}

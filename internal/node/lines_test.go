package node_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"symbolon/internal/trial"
	"symbolon/internal/waittest"
)

// The request of a response in lines: two modules, one available at once and one with
// a delayed file.
const (
	heldID   = "AB1E2D3C4B5A69788796A5B4C3D2E1F01"
	heldPath = "/held.so/" + heldID + "/held.so.sym"
	held     = `{"stacktraces":[
{"frames":[{"instruction_addr":"0x101018"}]},
{"frames":[{"instruction_addr":"0x101018"},{"instruction_addr":"0x201018"}]},
{"frames":[{"instruction_addr":"0x201018"}]},
{"frames":[{"instruction_addr":"0x10"}]}],
"modules":[{"type":"elf","debug_file":"kettle.so","debug_id":"` + trial.KettleID + `","image_addr":"0x100000","image_size":65536},
{"type":"elf","debug_file":"held.so","debug_id":"` + heldID + `","image_addr":"0x200000","image_size":65536},
{"type":"elf","debug_file":"idle.so","debug_id":"` + heldID + `","image_addr":"0x300000","image_size":65536}]}`
)

// lineReader reads the lines of a response as they arrive.
type lineReader struct {
	t     *testing.T
	lines chan string
	leave context.CancelFunc
}

func (s *station) lines(t *testing.T, body string) *lineReader {
	t.Helper()
	ctx, leave := context.WithCancel(t.Context())
	t.Cleanup(leave)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/symbolicate", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/x-ndjson")
	l := &lineReader{t: t, lines: make(chan string, 100), leave: leave}
	go func() {
		defer close(l.lines)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			return // it left
		}
		defer resp.Body.Close()
		for in := bufio.NewScanner(resp.Body); in.Scan(); {
			l.lines <- in.Text()
		}
	}()
	return l
}

// next returns the next lines in short form, sorted: modules that are found at about
// the same time have no order.
func (l *lineReader) next(n int) []string {
	l.t.Helper()
	var out []string
	for range n {
		var text string
		select {
		case line, ok := <-l.lines:
			if !ok {
				return append(out, "the end")
			}
			text = line
		case <-time.After(time.Minute):
			l.t.Fatalf("nothing after %q", out)
		}
		var line struct {
			Type, Status string
			Index        int
			Stacktrace   struct{ Frames []struct{ Status string } }
			Module       replyModule
		}
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			l.t.Fatalf("%s: %v", text, err)
		}
		what := fmt.Sprint(line.Type, " ", line.Index, " ", line.Module.Status)
		switch line.Type {
		case "stacktrace":
			what = fmt.Sprint(line.Type, " ", line.Index, " ", line.Stacktrace.Frames)
		case "status":
			what = line.Status
		}
		out = append(out, what)
	}
	slices.Sort(out)
	return out
}

func (l *lineReader) want(lines ...string) {
	l.t.Helper()
	if got := l.next(len(lines)); !slices.Equal(got, lines) {
		l.t.Errorf("got  %q\nwant %q", got, lines)
	}
}

// holding starts a server that serves one module at once, and the other one when the
// gate opens.
func holding(t *testing.T, source, more string) (s *station, u *trial.Upstream, gate chan struct{}) {
	gate = make(chan struct{})
	u = trial.NewUpstream(t)
	u.Do(trial.KettlePath, trial.File([]byte(trial.KettleSym)))
	u.Do(heldPath, trial.Wait(gate, trial.File([]byte(strings.NewReplacer(trial.KettleID, heldID, "kettle", "held").Replace(trial.KettleSym)))))
	return open(t, t.TempDir(), sourcesOf(source, u)+more), u, gate
}

var quickLines = []string{"module 0 found", "module 2 unused", "stacktrace 0 [{symbolicated}]", "stacktrace 3 [{unknown_image}]"}

// The lines of one module are sent before the other one is found.
func TestASlowModuleDelaysNoLineOfOthers(t *testing.T) {
	t.Parallel()
	s, _, gate := holding(t, "", "")
	l := s.lines(t, held)
	l.want(quickLines...)
	close(gate)
	l.want("completed", "module 1 found", "stacktrace 1 [{symbolicated} {symbolicated}]", "stacktrace 2 [{symbolicated}]")
	l.want("the end")
	// Now both modules are available at once.
	l = s.lines(t, held)
	want := append(slices.Clone(quickLines), "completed", "module 1 found", "stacktrace 1 [{symbolicated} {symbolicated}]", "stacktrace 2 [{symbolicated}]")
	slices.Sort(want)
	l.want(want...)
	l.want("the end")
}

// The timeout of the source ends before the slow module is found.
func TestATimeoutIsReportedInTheLines(t *testing.T) {
	t.Parallel()
	s, _, gate := holding(t, ", timeout: 500ms", "")
	defer close(gate)
	l := s.lines(t, held)
	l.want(quickLines...)
	l.want("completed", "module 1 timeout", "stacktrace 1 [{symbolicated} {missing}]", "stacktrace 2 [{missing}]")
	l.want("the end")
}

// A client disconnects while its request waits for a module. The request ends; the
// download continues and serves the next request.
func TestADisconnectEndsTheRequest(t *testing.T) {
	t.Parallel()
	s, u, gate := holding(t, "", "sentry: {max_concurrent_requests: 1}\n")
	l := s.lines(t, held)
	l.want(quickLines...)
	l.leave()
	l.next(1)
	var second *lineReader
	waittest.Until(t, "the place of the request is free", func() bool { // 503 before
		second = s.lines(t, held)
		return strings.Contains(<-second.lines, `"type"`)
	})
	second.next(3)
	close(gate)
	second.want("completed", "module 1 found", "stacktrace 1 [{symbolicated} {symbolicated}]", "stacktrace 2 [{symbolicated}]")
	if n := u.Count(heldPath); n != 1 {
		t.Errorf("%d downloads", n)
	}
}

package node_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"symbolon/internal/trial"
)

// fault is a failure of a server and its form in responses.
type faultOf struct {
	name     string
	does     http.Handler
	frame    string // status
	module   string // status
	word     string // what became of the candidate
	details  string
	requests int
}

// faults returns the failures of a server for a file.
func faults(sym []byte) []faultOf {
	other := strings.Replace(string(sym), trial.KettleID, strings.Repeat("AB", 16)+"0", 1)
	return []faultOf{
		{"500", trial.Status(500), "missing", "fetching_failed", "error", "download failed: 500 Internal Server Error", 3},
		{"503", trial.Status(503), "missing", "fetching_failed", "error", "download failed: 503 Service Unavailable", 3},
		{"429", trial.Status(429), "missing", "fetching_failed", "error", "download failed: 429 Too Many Requests", 3},
		{"501", trial.Status(501), "missing", "fetching_failed", "error", "download failed: 501 Not Implemented", 1},
		{"408", trial.Status(408), "missing", "timeout", "error", "download failed: 408 Request Timeout", 1},
		{"no answer", trial.Hang(sym, -1), "missing", "timeout", "error", "download timed out after 300ms", 2},
		{"half an answer", trial.Hang(sym, 40), "missing", "timeout", "error", "download timed out after 300ms", 1},
		{"404", trial.Status(404), "missing", "missing", "notfound", "", 1},
		{"410", trial.Status(410), "missing", "missing", "notfound", "", 1},
		{"400", trial.Status(400), "missing", "missing", "notfound", "", 1},
		{"401", trial.Status(401), "missing", "fetching_failed", "noperm", "401 Unauthorized", 1},
		{"403", trial.Status(403), "missing", "fetching_failed", "noperm", "403 Forbidden", 1},
		{"garbage", trial.File([]byte("\x01\x02\x03 not a symbol file")), "malformed", "malformed", "malformed", "", 1},
		{"another file", trial.File([]byte(other)), "malformed", "malformed", "malformed", "", 1},
		{"a page", trial.Page(), "malformed", "malformed", "malformed", "", 1},
		{"nothing", trial.File(nil), "malformed", "malformed", "malformed", "", 1},
		{"too short", trial.Claim(sym[:60], len(sym)), "missing", "fetching_failed", "error", "download failed: the connection ended before the file did", 3},
		{"reset", trial.Raw("", true), "missing", "fetching_failed", "error", "download failed: connection reset by the server", 3},
		{"reset in the file", trial.Raw(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(sym), sym[:60]), true), "missing", "fetching_failed", "error", "download failed: connection reset by the server", 3},
		{"closed", trial.Raw("", false), "missing", "fetching_failed", "error", "download failed: connection closed without an answer", 3},
		{"damaged gzip", trial.Encoded([]byte("not gzip")), "malformed", "malformed", "malformed", "", 1},
		{"loop", trial.Loop(), "missing", "fetching_failed", "error", "download failed: more than 5 redirects", 6},
	}
}

// Each failure of a server has the same form in the first response, in a cached one,
// and after a restart.
func TestFaultsHaveTheSameFormWhenCached(t *testing.T) {
	for _, c := range faults([]byte(trial.KettleSym)) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			u := trial.NewUpstream(t)
			u.Do(trial.KettlePath, c.does)
			config := sourcesOf(", filters: {filetypes: [breakpad]}", u) +
				"network: {head_timeout: 300ms, read_timeout: 300ms, max_download_timeout: 20s}\n"
			data := t.TempDir()
			s := open(t, data, config)
			first := s.symbolicate(t, "", trial.Kettle, "")
			m := first.module() // the first candidate reports that sources have no path
			if first.Status != "completed" || len(m.Candidates) != 2 {
				t.Fatal(first.Text)
			}
			if got := first.frame(); got != c.frame {
				t.Errorf("the frame is %s, want %s", got, c.frame)
			}
			if m.Status != c.module {
				t.Errorf("the module is %s, want %s", m.Status, c.module)
			}
			if got := m.Candidates[1].Download; got.Status != c.word || got.Details != c.details {
				t.Errorf("the candidate is %+v", got)
			}
			again := func(when string) {
				t.Helper()
				if r := s.symbolicate(t, "", trial.Kettle, ""); r.Text != first.Text {
					t.Errorf("%s: %s, and first it was %s", when, r.Text, first.Text)
				}
				if n := u.Count(trial.KettlePath); n != c.requests {
					t.Errorf("%s: %d requests, want %d", when, n, c.requests)
				}
			}
			again("from memory")
			s.stop()
			s = open(t, data, config)
			again("after a restart")
		})
	}
}

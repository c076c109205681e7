package node_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"symbolon/internal/config"
	"symbolon/internal/node"
	"symbolon/internal/trial"
)

// station is a node with all of its doors, in this process, on a directory that
// outlives it.
type station struct {
	*node.Node
	url      string
	requests atomic.Int32
	stop     func()
}

// open opens a node over a configuration.
func open(t *testing.T, data, config string) *station {
	t.Helper()
	cfg, _, err := readConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Data = data
	log := slog.New(slog.DiscardHandler)
	n, err := node.New(cfg, nil, log)
	if err != nil {
		t.Fatal(err)
	}
	front, err := n.Front(cfg)
	if err != nil {
		t.Fatal(err)
	}
	s := &station{Node: n}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests.Add(1)
		front.ServeHTTP(w, r)
	}))
	s.url = server.URL
	s.stop = func() {
		if s.Node != nil {
			server.Close()
			n.Close()
			s.Node = nil
		}
	}
	t.Cleanup(s.stop)
	return s
}

// newNode returns a node with a data directory of its own, and its configuration.
func newNode(t *testing.T, text string) (*node.Node, *config.Config) {
	t.Helper()
	cfg, _, err := readConfig(text)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Data = t.TempDir()
	n, err := node.New(cfg, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	return n, cfg
}

// readConfig reads a configuration.
func readConfig(text string) (*config.Config, *config.Loaded, error) {
	return config.Read(config.Options{File: "c.yaml", Data: []byte(text)})
}

// reply is what /symbolicate says.
type reply struct {
	Code    int    `json:"-"` // HTTP status
	Text    string `json:"-"`
	Status  string `json:"status"`
	ID      string `json:"request_id"`
	Stacks  []struct{ Frames []replyFrame }
	Modules []replyModule
}

type replyFrame struct {
	Status   string
	Function string
	Lineno   uint32
	Context  string `json:"context_line"`
}

type replyModule struct {
	Status     string          `json:"debug_status"`
	Features   map[string]bool `json:"features"`
	Candidates []replyCandidate
}

type replyCandidate struct {
	Source, Location string
	Download         struct {
		Status, Details string
		Features        map[string]bool
	}
	Debug *struct{ Status, Details string }
}

// words are the candidates in short: what became of each download, and of what
// was to be the debug file.
func (m replyModule) words() (out []string) {
	for _, c := range m.Candidates {
		word := c.Download.Status
		if c.Debug != nil {
			word += "/" + c.Debug.Status
		}
		out = append(out, word)
	}
	return out
}

// frame is the status of the first frame.
func (r reply) frame() string {
	if len(r.Stacks) == 0 || len(r.Stacks[0].Frames) == 0 {
		return "(no frame) " + r.Text
	}
	return r.Stacks[0].Frames[0].Status
}

// module is the first module.
func (r reply) module() replyModule {
	if len(r.Modules) == 0 {
		return replyModule{Status: "(no module) " + r.Text}
	}
	return r.Modules[0]
}

// symbolicate asks for an address in a module, which is given as JSON without
// its braces; more is added to the request.
func (s *station) symbolicate(t *testing.T, query, module, more string) reply {
	t.Helper()
	body := fmt.Sprintf(`{"stacktraces":[{"frames":[{"instruction_addr":"0x1018","addr_mode":"rel:0"}]}],
"modules":[{%s,"image_addr":0,"image_size":65536}],"options":{"dif_candidates":true}%s}`, module, more)
	return sendTo(t, http.MethodPost, s.url+"/symbolicate"+query, body, "")
}

// sendTo sends a request with a token, if there is one.
func sendTo(t *testing.T, method, url, body, token string) (r reply) {
	t.Helper()
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Error(err)
		return r
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Error(err)
	}
	r.Code, r.Text = resp.StatusCode, string(text)
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
		if err := json.Unmarshal(text, &struct {
			*reply
			Stacks *[]struct{ Frames []replyFrame } `json:"stacktraces"`
		}{&r, &r.Stacks}); err != nil {
			t.Errorf("%v: %s", err, text)
		}
	}
	return r
}

// forget has the misses of a module forgotten.
func (s *station) forget(t *testing.T, module string) {
	t.Helper()
	if r := sendTo(t, http.MethodPost, s.url+"/api/forget", `{"modules":[{`+module+`}]}`, ""); r.Code != http.StatusOK {
		t.Fatalf("%d %s", r.Code, r.Text)
	}
}

// The library that the tests with real servers are about.

// sourcesOf is a configuration of symbol servers, which are named a, b and so on.
func sourcesOf(more string, upstreams ...*trial.Upstream) string {
	var b strings.Builder
	b.WriteString("sources:\n")
	for i, u := range upstreams {
		fmt.Fprintf(&b, "- {id: %c, type: http, url: '%s'%s}\n", 'a'+i, u.URL, more)
	}
	return b.String()
}

package node_test

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"symbolon/internal/filter"
	"symbolon/internal/filter/rows"
	"symbolon/internal/trial"
)

// named returns rows with names, without the line ends.
func named(t *testing.T, run *filter.Run, input string) string {
	t.Helper()
	var out bytes.Buffer
	o := rows.Options{Replace: true}
	if _, err := o.Filter(t.Context(), run, bufio.NewReader(strings.NewReader(input+"\n")), bufio.NewWriter(&out)); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// alone returns a run that uses the sources of a configuration without a server.
func alone(t *testing.T, config string) *filter.Run {
	t.Helper()
	n, _ := newNode(t, config)
	return &filter.Run{Names: n.Names(), Answer: n.Answers()}
}

// Rows that are requests have the answer of a server, with it and without it.
func TestRowsHaveTheAnswersOfTheInterfaces(t *testing.T) {
	t.Parallel()
	u := trial.NewUpstream(t)
	u.Do(trial.KettlePath, trial.File([]byte(trial.KettleSym)))
	config := "sources:\n- {id: a, type: http, url: '" + u.URL + "'}\n"
	s := open(t, t.TempDir(), config)
	remote, err := filter.NewRemote(s.url, "")
	if err != nil {
		t.Fatal(err)
	}
	job := `{"memoryMap":[["kettle.so","` + trial.KettleID + `"],["lid.so",""]],"stacks":[[[0,4100],[0,1],[1,2],[-1,3]]]%s}`
	runs := []*filter.Run{alone(t, config), {Names: remote, Answer: remote.Answer}}
	for _, c := range []struct{ path, body string }{
		{"/symbolicate/v5", fmt.Sprintf(job, "")},
		{"/symbolicate/v5", `{"jobs":[` + fmt.Sprintf(job, "") + `]}`},
		{"/symbolicate/v4", fmt.Sprintf(job, `,"version":4`)},
		{"/symbolicate", `{"stacktraces":[{"frames":[{"instruction_addr":4100,"addr_mode":"rel:0"},{"instruction_addr":"0x1"}]}],"modules":[{` + trial.Kettle + `,"image_addr":0}]}`},
	} {
		want := sendTo(t, "POST", s.url+c.path, c.body, "").Text
		if !strings.Contains(want, "boil") {
			t.Errorf("%s has the answer %s", c.path, want)
		}
		if got := sendTo(t, "POST", s.url+"/api/rows?replace=true", c.body, "").Text; got != want {
			t.Errorf("/api/rows has for %s the answer\n%s, want\n%s", c.path, got, want)
		}
		for i, run := range runs {
			if got := named(t, run, c.body); got != want {
				t.Errorf("run %d of %s: got\n%s, want\n%s", i, c.path, got, want)
			}
		}
	}
	const invalid = `{"memoryMap":[],"stacks":[[[0,0]]]}`
	for i, run := range runs {
		if got := named(t, run, invalid); got != `{"error":"job 0 has invalid stacks: stack 0 frame 0 has a module_index that isn't in modules"}` {
			t.Errorf("run %d: the invalid request has the answer %s", i, got)
		}
	}
}

// The next batch does not look the module up in its file again.
func TestTablesOfABatchAreFinished(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	libraryIn(t, folder, "mill")
	n, cfg := newNode(t, "sources:\n- {id: a, type: filesystem, path: '"+folder+"'}\n")
	got := named(t, &filter.Run{Names: n.Names()}, `{"frames":[{"debug_file":"mill","debug_id":"0F1E2D3C4B5A69788796A5B4C3D2E1F00","offset":"0x3004"}]}`)
	if !strings.Contains(got, "leaf_of_mill") {
		t.Errorf("got %s", got)
	}
	n.FinishTables(t.Context())
	if tables, err := filepath.Glob(filepath.Join(cfg.Data, "cache", "symcache", "*", "*")); err != nil || len(tables) != 1 {
		t.Errorf("%v, the tables are %q, want one", err, tables)
	}
}

func TestLimitsOfAServerHoldForRows(t *testing.T) {
	t.Parallel()
	run := alone(t, "mozilla: {strict: true, max_frames: 12}\nsentry: {max_body: 1KiB}\n")
	const job = `{"memoryMap":[],"stacks":[[]]}`
	for row, want := range map[string]string{
		`{"jobs":[` + job + strings.Repeat(","+job, 10) + `]}`:                                             `{"results":[`,
		`{"memoryMap":[],"stacks":[[[-1,1]` + strings.Repeat(",[-1,1]", 12) + `]]}`:                        `{"error":"please limit number of frames in a single request to <= 12"}`,
		`{"stacktraces":[],"modules":[],"x":"` + strings.Repeat("y", 1<<10) + `"}`:                         `{"error":"the limit of a request is 1KiB"}`,
		`{"stacktraces":[],"modules":[],"sources":[{"id":"x","type":"http","url":"http://127.0.0.1:1/"}]}`: `{"error":"sources in requests are not allowed`,
	} {
		if got := named(t, run, row); !strings.HasPrefix(got, want) {
			t.Errorf("%.80s: got %s, want %s", row, got, want)
		}
	}
}

// The addresses of requests are counted as those of other rows are, and the modules
// that are missing.
func TestAddressesOfRequestsAreCounted(t *testing.T) {
	t.Parallel()
	u := trial.NewUpstream(t)
	u.Do(trial.KettlePath, trial.File([]byte(trial.KettleSym)))
	const stacks = `"stacks":[[[0,4100],[0,4100],[0,1],[-1,3]]]`
	symbolicator := `{"stacktraces":[{"frames":[{"instruction_addr":4100,"addr_mode":"rel:0"},{"instruction_addr":4100,"addr_mode":"rel:0"},{"instruction_addr":1,"addr_mode":"rel:0"}]}],"modules":[{` + trial.Kettle + `,"image_addr":0}]}`
	memory := `{"memoryMap":[["kettle.so","` + trial.KettleID + `"]],` + stacks
	for url, want := range map[string]struct {
		named  int
		reason string
	}{u.URL: {2, ""}, "http://127.0.0.1:1": {0, "transport"}} {
		config := "sources:\n- {id: a, type: http, url: '" + url + "'}\n"
		for _, row := range []string{`{"jobs":[` + memory + `}]}`, memory + `,"version":4}`, symbolicator} {
			run := alone(t, config)
			named(t, run, row)
			reason := ""
			if list := run.Missing(); len(list) == 1 && list[0].Addresses == 3 {
				reason = list[0].Reason()
			}
			if got := run.Counts(); got != (filter.Counts{Addresses: 3, Named: want.named}) || reason != want.reason {
				t.Errorf("%s at %s: counts %+v and missing %v, want %+v", row, url, got, run.Missing(), want)
			}
		}
	}
}

// Requests in rows that are too large to be answered at once are answered one after
// another.
func TestRowsWaitForABusyInterface(t *testing.T) {
	t.Parallel()
	run := alone(t, "sentry: {max_concurrent_requests: 1}\n")
	const row, answer = `{"stacktraces":[],"modules":[]}`, `{"status":"completed","stacktraces":[],"modules":[]}`
	if got, want := named(t, run, strings.Repeat(row+"\n", 40)+row), strings.Repeat(answer+"\n", 40)+answer; got != want {
		t.Errorf("got %.400s", got)
	}
}

func TestRequestsAmongRowsAreLimited(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir(), "mozilla: {max_jobs: 2}\n")
	const row = `{"memoryMap":[],"stacks":[[]]}` + "\n"
	got := sendTo(t, "POST", s.url+"/api/rows?replace=true", strings.Repeat(row, 5), "").Text
	if n := strings.Count(got, "please limit number of requests among the rows to <= 2"); n != 3 || strings.Count(got, "\n") != 5 {
		t.Errorf("%d of 5 rows are over the limit of 2: %s", n, got)
	}
}

func TestNamesIncludeUploadsOfAllProjects(t *testing.T) {
	t.Parallel()
	s := newShop(t, rand.New(rand.NewPCG(1, 2)), "")
	s.upload(t, "tea", private(t, "tea"))
	row := `{"frames":[{"module":"tile","id":"` + tileBuildID + `","offset":"0x11e0"}]}`
	if got := named(t, &filter.Run{Names: s.Names()}, row); !strings.Contains(got, nameIn("tea")) {
		t.Errorf("a private upload has no name: %s", got)
	}
}

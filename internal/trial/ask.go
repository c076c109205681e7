package trial

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Module names a module in a request.
type Module struct{ File, ID string }

// Frame is an address in a module of a request; the module is its index.
type Frame struct {
	Module int
	Offset uint64
}

// Answer is an answer of v5.
type Answer struct {
	Status  int // zero without an answer
	Body    string
	Took    time.Duration
	Results []Result
}

// Result is the answer to one job.
type Result struct {
	Stacks [][]Named                `json:"stacks"`
	Found  map[string]*bool         `json:"found_modules"`
	Errors map[string][]ModuleError `json:"module_errors"`
}

// Named is a frame of an answer.
type Named struct {
	Module   string `json:"module"`
	Function string `json:"function"`
	File     string `json:"file"`
	Line     int    `json:"line"`
}

// ModuleError is the reason why a module was not found in one place.
type ModuleError struct {
	Name    string `json:"name"`
	Message string `json:"message"`
}

// first returns the result of the first job, or an empty one.
func (a Answer) first() (r Result) {
	if len(a.Results) > 0 {
		r = a.Results[0]
	}
	return r
}

// Text returns frame n of the first stack as "function file:line", or "" if its
// address has no function.
func (a Answer) Text(n int) string {
	stacks := a.first().Stacks
	if len(stacks) == 0 || n >= len(stacks[0]) {
		return fmt.Sprintf("(missing frame in the answer %d %s)", a.Status, a.Body)
	}
	f := stacks[0][n]
	if f.Function == "" {
		return ""
	}
	return fmt.Sprintf("%s %s:%d", f.Function, f.File, f.Line)
}

// Found reports whether the first job found m.
func (a Answer) Found(m Module) bool {
	found := a.first().Found[m.File+"/"+m.ID]
	return found != nil && *found
}

// Reasons returns the kind and text of each error of m, a line for each place.
func (a Answer) Reasons(m Module) string {
	var all []string
	for _, e := range a.first().Errors[m.File+"/"+m.ID] {
		all = append(all, e.Name+": "+e.Message)
	}
	return strings.Join(all, "\n")
}

// V5 asks for one stack of frames.
func (s *Server) V5(modules []Module, frames ...Frame) Answer {
	s.t.Helper()
	var names [][2]string
	for _, m := range modules {
		names = append(names, [2]string{m.File, m.ID})
	}
	stack := [][2]uint64{}
	for _, f := range frames {
		stack = append(stack, [2]uint64{uint64(f.Module), f.Offset})
	}
	body, err := json.Marshal(map[string]any{"memoryMap": names, "stacks": [][][2]uint64{stack}, "extensions": true})
	if err != nil {
		s.t.Error(err)
	}
	return s.Post("/symbolicate/v5", string(body))
}

// Post sends a body and reads the answer as one of v5.
func (s *Server) Post(path, body string) (a Answer) {
	s.t.Helper()
	start := time.Now()
	a.Status, a.Body = s.answer(http.Post(s.URL+path, "application/json", strings.NewReader(body)))
	a.Took = time.Since(start)
	if a.Status == http.StatusOK {
		if err := json.Unmarshal([]byte(a.Body), &struct{ Results *[]Result }{&a.Results}); err != nil {
			s.t.Errorf("the answer cannot be read: %v in %.300s", err, a.Body)
		}
	}
	return a
}

// Get reads a path.
func (s *Server) Get(path string) (status int, body string) {
	s.t.Helper()
	return s.answer(http.Get(s.URL + path))
}

func (s *Server) answer(resp *http.Response, err error) (status int, body string) {
	s.t.Helper()
	if err != nil {
		s.t.Errorf("get the answer: %v", err)
		return 0, ""
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Errorf("read the answer: %v", err)
	}
	return resp.StatusCode, string(text)
}

// Explanation is the output of "symbolon explain".
type Explanation struct {
	Found   bool    `json:"found"`
	Verdict string  `json:"verdict"`
	Tried   []Tried `json:"tried"`
}

// Tried is one place of an Explanation.
type Tried struct {
	Source   string `json:"source"`
	Location string `json:"location"`
	Verdict  string `json:"verdict"`
	Detail   string `json:"detail"`
	Status   int    `json:"status"`
	Retries  int    `json:"retries"`
	Cached   bool   `json:"cached"`
	Chosen   bool   `json:"chosen"`
}

// Explain asks the running server about m, through its control socket.
func (s *Server) Explain(m Module) Explanation {
	s.t.Helper()
	var x Explanation
	out, errs, code := s.Run("explain", "--json", "--data", s.Data, m.File+"/"+m.ID)
	if code != 0 {
		s.t.Errorf("explain: exit %d: %s", code, errs)
	} else if err := json.Unmarshal([]byte(out), &x); err != nil {
		s.t.Errorf("explain: %v in %s", err, out)
	}
	return x
}

// Metric returns the sum of the series of a metric with all of these labels, each as
// in `outcome="ok"`. name is without the prefix of all names.
func (s *Server) Metric(name string, labels ...string) float64 {
	s.t.Helper()
	_, body := s.Get("/metrics")
	sum := 0.0
	for line := range strings.Lines(body) {
		series, number, _ := strings.Cut(strings.TrimSpace(line), "} ")
		if !strings.Contains(series, "{") {
			series, number, _ = strings.Cut(series, " ")
		}
		rest, ok := strings.CutPrefix(series+"{", "symbolon_"+name+"{")
		if !ok || slices.ContainsFunc(labels, func(l string) bool { return !strings.Contains(rest, l) }) {
			continue
		}
		value, err := strconv.ParseFloat(number, 64)
		if err != nil {
			s.t.Errorf("metrics: %q", line)
		}
		sum += value
	}
	return sum
}

package mozilla_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"symbolon/internal/api/mozilla"
	"symbolon/internal/fault"
	"symbolon/internal/symbolicate"
	"symbolon/internal/token"
)

// The keys come in the order of the documents.
func TestKeysAreInOrder(t *testing.T) {
	h := door(mozilla.Config{Extensions: true}, demo)
	expect(t, h, "/symbolicate/v5", `{"memoryMap": [["tool.pdb", "`+toolID+`"]], "stacks": [[[0, 4096]]]}`, 200,
		`{"results":[{"stacks":[[{"frame":0,"module":"tool.exe","module_offset":"0x1000","function":"main","function_offset":"0x0","function_size":"0x40",`+
			`"file":"c:\\src\\main.c","line":10,"inlines":[{"function":"inner()","file":"c:\\src\\util.h","line":31},{"function":"middle()","file":"c:\\src\\util.h","line":20}]}]],`+
			`"found_modules":{"tool.pdb/`+toolID+`":true}}]}`)
}

func TestModulesAreUniqueInEachJob(t *testing.T) {
	h := door(mozilla.Config{}, demo)
	job := `{"memoryMap": [["a", "A"], ["b", "B"], ["a", "A"]], "stacks": [[]]}`
	const want = `{"stacks":[[]],"found_modules":{"a/A":null,"b/B":null}}`
	expect(t, h, "/symbolicate/v5", `{"jobs": [`+job+`,`+job+`]}`, 200, `{"results":[`+want+`,`+want+`]}`)
}

// pieces is a ResponseWriter that remembers how much came at once.
type pieces struct {
	*httptest.ResponseRecorder
	sizes []int
	fail  bool
}

func (p *pieces) Write(b []byte) (int, error) {
	p.sizes = append(p.sizes, len(b))
	if p.fail {
		return 0, errors.New("gone")
	}
	return p.ResponseRecorder.Write(b)
}

func manyFrames(n int) string {
	return `{"memoryMap": [["tool.pdb", "` + toolID + `"]], "stacks": [[` + strings.TrimSuffix(strings.Repeat("[0,4096],", n), ",") + `]]}`
}

func TestLargeAnswersAreSentInPieces(t *testing.T) {
	h := door(mozilla.Config{}, demo)
	for _, path := range []string{"/symbolicate/v5", "/symbolicate/v4"} {
		w := &pieces{ResponseRecorder: httptest.NewRecorder()}
		h.ServeHTTP(w, httptest.NewRequest("POST", path, strings.NewReader(manyFrames(20_000))))
		if !json.Valid(w.Body.Bytes()) || strings.Count(w.Body.String(), "main") < 20_000 {
			t.Errorf("%s: it is not the whole answer", path)
		}
		if len(w.sizes) < w.Body.Len()/(128<<10) || len(w.sizes) > w.Body.Len()/(32<<10) {
			t.Errorf("%s: %d bytes came in %d pieces", path, w.Body.Len(), len(w.sizes))
		}
	}
}

func TestWorkEndsWhenTheClientLeaves(t *testing.T) {
	h := door(mozilla.Config{}, demo)
	for _, path := range []string{"/symbolicate/v5", "/symbolicate/v4"} {
		w := &pieces{ResponseRecorder: httptest.NewRecorder(), fail: true}
		h.ServeHTTP(w, httptest.NewRequest("POST", path, strings.NewReader(manyFrames(100_000))))
		if len(w.sizes) != 1 {
			t.Errorf("%s: %d pieces were tried", path, len(w.sizes))
		}
	}
}

func TestFaultOfTheEngineBecomesAStatus(t *testing.T) {
	body := `{"memoryMap": [["a", "AB"]], "stacks": [[[0, 1]]]}`
	for _, c := range []struct {
		err  error
		want int
	}{{errors.New("odd"), 500}, {fault.New(fault.Timeout, "", "too long"), 504}} {
		d := mozilla.NewWith(mozilla.Config{}, mozilla.Deps{Now: now, Log: quiet},
			func(context.Context, *symbolicate.Request) ([]symbolicate.Module, mozilla.Lookups, error) {
				return nil, nil, c.err
			})
		if w := do(front(d), "POST", "/symbolicate/v5", body); w.Code != c.want || !strings.HasPrefix(w.Body.String(), fmt.Sprintf(`{"title":"%d `, c.want)) {
			t.Errorf("%v: got %d %s", c.err, w.Code, w.Body)
		}
	}
}

func TestClientThatLeavesDoesNotWait(t *testing.T) {
	entered, left := make(chan struct{}), make(chan error, 1)
	d := mozilla.New(mozilla.Config{}, mozilla.Deps{Now: now, Log: quiet, Grant: mozilla.Anonymous,
		Run: func(ctx context.Context, _ *token.Grant, _ *symbolicate.Request) (*symbolicate.Result, error) {
			close(entered)
			<-ctx.Done()
			left <- ctx.Err()
			return nil, context.Cause(ctx)
		}})
	srv := httptest.NewServer(front(d))
	defer srv.Close()
	ctx, leave := context.WithCancel(context.Background())
	go func() {
		<-entered
		leave()
	}()
	r := httptest.NewRequestWithContext(ctx, "POST", srv.URL+"/symbolicate/v5", strings.NewReader(`{"memoryMap": [["a", "AB"]], "stacks": [[[0, 1]]]}`))
	r.RequestURI = ""
	if _, err := srv.Client().Do(r); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("the engine saw %v", err)
	}
}

// The real result of the engine, empty, through the door as it is built.
func TestDoorReadsResultsOfTheEngine(t *testing.T) {
	asked := 0
	d := mozilla.New(mozilla.Config{}, mozilla.Deps{Now: now, Log: quiet, Grant: mozilla.Anonymous,
		Run: func(_ context.Context, _ *token.Grant, req *symbolicate.Request) (*symbolicate.Result, error) {
			asked = len(req.Modules)
			return &symbolicate.Result{Modules: make([]symbolicate.Module, len(req.Modules))}, nil
		}})
	expect(t, front(d), "/symbolicate/v5", `{"memoryMap": [["a", "AB"]], "stacks": [[[-1, 1]]]}`, 200,
		`{"results":[{"stacks":[[{"frame":0,"module":"<unknown>","module_offset":"0x1"}]],"found_modules":{"a/AB":null}}]}`)
	if asked != 1 {
		t.Errorf("the engine was given %d modules", asked)
	}
}

func TestConfig(t *testing.T) {
	c := mozilla.Config{}.Defaults()
	if c != (mozilla.Config{V4Profile: "default", MaxJobs: 1000, MaxFrames: 2_000_000, MaxModules: 100_000}) {
		t.Errorf("the defaults are %+v", c)
	}
}

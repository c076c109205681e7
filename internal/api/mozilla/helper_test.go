package mozilla_test

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/api/mozilla"
	"symbolon/internal/fault"
	"symbolon/internal/locate"
	"symbolon/internal/sym"
	"symbolon/internal/symbolicate"
)

// call is one level of an answer, in words.
type call struct {
	name, file string
	line       uint32
}

// fn is a function of a module; the last of calls is itself, those before were
// inlined into it.
type fn struct {
	start, size uint64
	calls       []call
}

// mod is a module that the test's engine knows.
type mod struct {
	code string // the name of the code
	fns  []fn
	cost func(*symbolicate.Module)
}

// library is an engine for tests: modules by "file/id". It answers in the terms
// of the real one.
type library map[string]mod

type shelf struct {
	req   *symbolicate.Request
	lib   library
	texts []string
	at    map[string]sym.Text
}

func (l library) run(_ context.Context, req *symbolicate.Request) ([]symbolicate.Module, mozilla.Lookups, error) {
	mods := make([]symbolicate.Module, len(req.Modules))
	for _, f := range req.Frames {
		if f.Module < 0 || mods[f.Module].Asked {
			continue
		}
		m := &mods[f.Module]
		m.Asked = true
		known, found := l[req.Modules[f.Module].DebugFile+"/"+req.Modules[f.Module].DebugIDText]
		m.Found, m.Name = found && known.fns != nil, known.code
		m.Report.Lookup = time.Millisecond
		switch {
		case known.cost != nil:
			known.cost(m)
		case m.Found:
			m.Report.Hit = true
		default:
			m.Report.Fault = fault.New(fault.NotFound, "", "no source has the file")
		}
	}
	return mods, &shelf{req, l, []string{""}, map[string]sym.Text{}}, nil
}

func (s *shelf) text(t string) sym.Text {
	if t == "" {
		return 0
	}
	if _, ok := s.at[t]; !ok {
		s.at[t] = sym.Text(len(s.texts))
		s.texts = append(s.texts, t)
	}
	return s.at[t]
}

func (s *shelf) Frames(i int) (out []sym.Frame, _ error) {
	f := s.req.Frames[i]
	m := s.req.Modules[f.Module]
	best := -1
	fns := s.lib[m.DebugFile+"/"+m.DebugIDText].fns
	for j, g := range fns {
		if g.start <= f.Addr && (s.req.Nearest || f.Addr-g.start < g.size) {
			best = j
		}
	}
	if best < 0 {
		return nil, nil
	}
	g := fns[best]
	for _, c := range g.calls {
		out = append(out, sym.Frame{Func: s.text(cmp.Or(c.name, "<unknown>")), File: s.text(c.file), Line: c.line, Entry: g.start, Size: g.size})
	}
	return out, nil
}

func (s *shelf) AppendText(dst []byte, _ int32, t sym.Text) ([]byte, bool) {
	return append(dst, s.texts[t]...), false
}
func (s *shelf) AppendFile(dst []byte, m int32, t sym.Text) ([]byte, bool) {
	return s.AppendText(dst, m, t)
}
func (s *shelf) Release() {}

// tried is a candidate in a trail.
func tried(bytes int64, took time.Duration, f *fault.Error) locate.Tried {
	t := locate.Tried{Source: "s", Kind: "breakpad", Fault: f}
	t.Attempt.Bytes, t.Attempt.Time = bytes, took
	return t
}

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

// door serves a library by a real front.
func door(cfg mozilla.Config, lib library) http.Handler {
	d := mozilla.NewWith(cfg, mozilla.Deps{Now: time.Now, Log: quiet}, lib.run)
	return front(d)
}

func front(d *mozilla.Door) http.Handler {
	page := api.Route{Methods: []string{"GET"}, Pattern: "/", Handle: func(http.ResponseWriter, *http.Request) {}} // a server has one
	return api.New(api.Config{}, api.Options{Log: quiet, Now: time.Now}, d.Routes(), []api.Route{page})
}

func do(h http.Handler, method, target, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// expect posts a body and compares the whole answer.
func expect(t *testing.T, h http.Handler, path, body string, status int, want string) {
	t.Helper()
	w := do(h, "POST", path, body)
	if w.Code != status || w.Body.String() != want {
		t.Errorf("POST %s %.200s\ngot  %d %s\nwant %d %s", path, body, w.Code, w.Body, status, want)
	}
	if got := w.Header().Get("Content-Type"); got != "application/json" {
		t.Errorf("POST %s %.200s: it is %s", path, body, got)
	}
}

func now() time.Time { return time.Now() }

// record has h answer r. A broken connection is an empty answer.
func record(h http.Handler, r *http.Request) (w *httptest.ResponseRecorder) {
	w = httptest.NewRecorder()
	defer func() {
		if p := recover(); p != nil && p != http.ErrAbortHandler {
			panic(p)
		}
	}()
	h.ServeHTTP(w, r)
	return w
}

func doContext(ctx context.Context, h http.Handler, path string) *httptest.ResponseRecorder {
	return record(h, httptest.NewRequestWithContext(ctx, "GET", path, nil))
}

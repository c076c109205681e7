package sentry_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/api/sentry"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/object"
	"symbolon/internal/sym"
	"symbolon/internal/symbolicate"
	"symbolon/internal/table"
)

var quiet = slog.New(slog.DiscardHandler)

// library is a module that the engine of the tests knows.
type library struct {
	arch         ident.Arch
	features     object.Features
	report       table.Report
	sourceReport table.Report
	missing      bool
	frames       map[uint64][]sym.Frame // by relative address
	texts        []string               // by handle
	sources      map[string]string      // text by path
	links        map[string]string
}

// engine answers from libraries by code id.
type engine map[string]*library

type lookup struct {
	req  *symbolicate.Request
	libs []*library
}

func (e engine) run(_ context.Context, req *symbolicate.Request) ([]symbolicate.Module, sentry.Lookups, error) {
	known := make([]symbolicate.Module, len(req.Modules))
	l := &lookup{req: req, libs: make([]*library, len(req.Modules))}
	for _, f := range req.Frames {
		if f.Module >= 0 {
			known[f.Module].Asked = true
		}
	}
	for i, m := range req.Modules {
		lib := e[string(m.CodeID)]
		switch {
		case !known[i].Asked:
		case lib == nil:
			known[i].Report.Fault = fault.New(fault.NotFound, "", "not found")
		default:
			l.libs[i] = lib
			known[i].Found, known[i].Arch, known[i].Features, known[i].Report, known[i].SourceReport = !lib.missing, lib.arch, lib.features, lib.report, lib.sourceReport
		}
	}
	return known, l, nil
}

// Addr steps as the engine does for x86_64 and arm64.
func (l *lookup) Addr(i int) (uint64, bool) {
	f := l.req.Frames[i]
	addr := f.Addr
	align, back := uint64(1), uint64(1)
	if l.libs[f.Module].arch == ident.ArchARM64 {
		align, back = 4, 4
	}
	if f.Step != symbolicate.Exact {
		addr -= addr % align
	}
	if f.Step == symbolicate.Before {
		addr -= back
	}
	return addr, addr >= l.req.Bases[f.Module]
}

func (l *lookup) Frames(i int) ([]sym.Frame, error) {
	f := l.req.Frames[i]
	addr, ok := l.Addr(i)
	if !ok {
		return nil, nil
	}
	return l.libs[f.Module].frames[addr-l.req.Bases[f.Module]], nil
}

func (l *lookup) AppendRaw(dst []byte, m int32, t sym.Text) ([]byte, bool) {
	text := l.libs[m].texts[t]
	return append(dst, text...), !strings.ContainsAny(text, `"\`)
}

func (l *lookup) AppendFile(dst []byte, m int32, t sym.Text) ([]byte, bool) {
	return l.AppendRaw(dst, m, t)
}

func (l *lookup) Source(m int32, path string) ([]byte, string) {
	return []byte(l.libs[m].sources[path]), l.libs[m].links[path]
}

func (l *lookup) Release() {}

// door returns a door over an engine, and a front for it.
func door(t *testing.T, cfg sentry.Config, deps sentry.Deps, run sentry.Run) (*api.Front, *sentry.Door) {
	t.Helper()
	deps.Now, deps.Log = time.Now, quiet
	d := sentry.NewWith(cfg, deps, func(sentry.Search) (sentry.Run, error) { return run, nil })
	t.Cleanup(d.Close)
	return front(d), d
}

func front(d *sentry.Door) *api.Front {
	return api.New(api.Config{}, api.Options{Log: quiet, Now: time.Now}, d.Routes())
}

func do(f *api.Front, method, path, body string) *httptest.ResponseRecorder {
	return doAs(f, method, path, "application/json", body)
}

func doAs(f *api.Front, method, path, kind, body string) *httptest.ResponseRecorder {
	var src io.Reader
	if body != "" {
		src = bytes.NewReader([]byte(body))
	}
	r := httptest.NewRequest(method, path, src)
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	w := httptest.NewRecorder()
	f.ServeHTTP(w, r)
	return w
}

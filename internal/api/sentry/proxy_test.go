package sentry_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/api/sentry"
	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/source"
)

// content is a file of a source that is open.
type content struct{ bin.Source }

func (content) Info() api.FileInfo             { return api.FileInfo{Tag: "tag"} }
func (content) Frames() (io.ReadSeeker, int64) { return nil, 0 }
func (content) Close() error                   { return nil }

// files is a door with a file of six bytes for every module, which tells what was
// asked for last.
func files(t *testing.T, cfg sentry.Config, asked *ident.Module, kind *string) *api.Front {
	t.Helper()
	f, _ := door(t, cfg, sentry.Deps{File: func(_ context.Context, _ sentry.Search, list []source.FileRequest) (api.File, error) {
		*asked, *kind = list[0].Module, list[0].Kinds[0]
		if asked.CodeFile == "gone.dll" {
			return nil, fault.New(fault.NotFound, "", "not found")
		}
		return content{bin.Bytes([]byte("MODULE"))}, nil
	}}, demo().run)
	return f
}

func TestProxyKnowsThePathsOfSymbolServers(t *testing.T) {
	const uuid = "49B0CD174BAC2C034C4C44205044422E"
	var m ident.Module
	var kind string
	f := files(t, sentry.Config{}, &m, &kind)
	for path, want := range map[string]string{
		"a.pdb/" + uuid + "1/a.pdb":                               source.PDB,
		"A.pdb/" + strings.ToLower(uuid) + "1/a.PDB":              source.PDB,
		"a./a.pdb/" + uuid + "1/a.pdb":                            "",
		"a/a.pdb/" + uuid + "1/a.pdb":                             source.PDB, // in two tiers
		"ha/harbor.pdb/" + uuid + "1/harbor.pdb":                  source.PDB,
		"xx/harbor.pdb/" + uuid + "1/harbor.pdb":                  "",
		"a.dll/6553f1015000/a.dll":                                source.PE,
		"a.so/" + uuid + "0/a.so.sym":                             source.Breakpad,
		"a.so/nothing/a.so.sym":                                   "",
		"a.so/elf-buildid-487e24dd/a.so":                          source.ELFCode,
		"_.debug/elf-buildid-sym-487e24dd/_.debug":                source.ELFDebug,
		"a.dylib/mach-uuid-" + strings.ToLower(uuid) + "/a.dylib": source.MachCode,
		"_.dwarf/mach-uuid-sym-" + uuid + "/_.dwarf":              source.MachDebug,
		"a.pdb/nothing/a.pdb":                                     "",
		"a.pdb/" + uuid + "1/b.pdb":                               "",
		"a.pdb/" + uuid + "1":                                     "",
	} {
		m, kind = ident.Module{}, ""
		w := do(f, "GET", "/proxy/"+path, "")
		if kind != want || (w.Code == 200) != (want != "") {
			t.Errorf("%s: got %d, asked for %q of %+v, want %q", path, w.Code, kind, m, want)
		}
	}
}

func TestProxyServesRanges(t *testing.T) {
	var m ident.Module
	var kind string
	f := files(t, sentry.Config{}, &m, &kind)
	get := func(method, path string, header ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, path, nil)
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		w := httptest.NewRecorder()
		f.ServeHTTP(w, r)
		return w
	}
	const path = "/proxy/a.dll/6553f1015000/a.dll"
	for _, c := range []struct {
		method, path, key, value string
		code                     int
		body                     string
	}{
		{"GET", path, "X", "", 200, "MODULE"},
		{"HEAD", path, "X", "", 200, ""},
		{"GET", path, "Range", "bytes=1-2", 206, "OD"},
		{"GET", path, "Range", "bytes=9-", 416, "invalid range: failed to overlap\n"},
		{"GET", path, "If-None-Match", `"tag"`, 304, ""},
		{"GET", "/proxy/gone.dll/6553f1015000/gone.dll", "X", "", 404, ""},
	} {
		w := get(c.method, c.path, c.key, c.value)
		if w.Code != c.code || w.Body.String() != c.body {
			t.Errorf("%s %s: %s: got %d %q, want %d %q", c.method, c.key, c.value, w.Code, w.Body, c.code, c.body)
		}
		if w.Code == 200 && (w.Header().Get("Content-Length") != "6" || w.Header().Get("ETag") != `"tag"` || w.Header().Get("Content-Type") != "application/octet-stream") {
			t.Errorf("%s: headers %v", c.method, w.Header())
		}
	}
	off := files(t, sentry.Config{DisableProxy: true}, &m, &kind)
	if w := do(off, "GET", path, ""); w.Code != 404 {
		t.Errorf("switched off: %d", w.Code)
	}
}

// A client that has waited for long polls less often.
func TestRetryAfterGrowsWithTheWait(t *testing.T) {
	var offset atomic.Int64
	gate := make(chan struct{})
	now := func() time.Time { return time.Now().Add(time.Duration(offset.Load())) }
	deps := sentry.Deps{Now: now, Log: quiet}
	d := sentry.NewWith(sentry.Config{}, deps, func(sentry.Search) (sentry.Run, error) { return gated(gate), nil })
	t.Cleanup(d.Close)
	f := front(d)
	id := submit(t, f, "").ID
	for _, c := range []struct {
		waited time.Duration
		want   int
	}{{0, 1}, {10 * time.Second, 5}, {5 * time.Minute, 30}} {
		offset.Store(int64(c.waited))
		var got ticket
		if w := do(f, "GET", "/requests/"+id+"?timeout=0", ""); json.Unmarshal(w.Body.Bytes(), &got) != nil || got.Retry != c.want {
			t.Errorf("after %v: got %s, want %d", c.waited, w.Body, c.want)
		}
	}
	close(gate)
}

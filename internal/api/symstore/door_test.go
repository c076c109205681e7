package symstore_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/api/symstore"
	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/source"
	"symbolon/internal/token"
)

const guid = "A1A1F661F927ABC44C4C44205044422E"

// file is an open file.
type file struct {
	bin.Source
	open *int // files that are not closed
}

func (file) Info() api.FileInfo             { return api.FileInfo{Name: "app.pdb", Tag: "tag"} }
func (file) Frames() (io.ReadSeeker, int64) { return nil, 0 }
func (f file) Close() error                 { *f.open--; return nil }

// front returns a front over files with their kind as their content, and the log. The
// test fails if a file is left open.
func front(t *testing.T) (*api.Front, *bytes.Buffer) {
	opened := 0
	t.Cleanup(func() {
		if opened != 0 {
			t.Errorf("%d files are left open", opened)
		}
	})
	open := func(_ context.Context, _ *token.Grant, asked []source.FileRequest) (api.File, error) {
		for _, a := range asked {
			switch id := a.Module.DebugID.Breakpad() + a.Module.CodeID.String(); id {
			case guid + "a", strings.Repeat("0", 33) + "6b00d8c26000", strings.Repeat("0", 33) + strings.ToLower(guid), guid + "1",
				guid + "ffffffff":
				opened++
				return file{bin.Bytes([]byte(a.Kinds[0])), &opened}, nil
			case strings.Repeat("0", 33) + "0bad0bad0bad":
				return nil, fault.New(fault.Transport, "", "the source is down")
			case strings.Repeat("0", 33) + "0de00de00de0":
				return nil, fault.New(fault.Denied, "", "the source denies it")
			}
		}
		return nil, fault.New(fault.NotFound, "", "no source has the file")
	}
	grant := func(r *http.Request) (*token.Grant, error) {
		if r.Header.Get("Authorization") != "" {
			return nil, token.ErrUnknown
		}
		return &token.Grant{}, nil
	}
	log := &bytes.Buffer{}
	opt := api.Options{Log: slog.New(slog.NewTextHandler(log, nil)), Now: time.Now}
	hasFiles := func(context.Context, *token.Grant) bool { return true }
	deps := symstore.Deps{Grant: grant, Open: open, HasFiles: hasFiles, Log: slog.New(slog.DiscardHandler)}
	return api.New(api.Config{}, opt, symstore.New(deps).Routes()), log
}

func do(h http.Handler, method, path string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// The requests are those that the clients send.
func TestDebuggersForWindowsGetFiles(t *testing.T) {
	f, _ := front(t)
	agent := []string{"User-Agent", "Microsoft-Symbol-Server/10.0.26100.1", "Accept-Encoding", "gzip"}
	for _, c := range []struct {
		client, path string
		want         string // content; "": 404
		header       []string
	}{
		{"symsrv", "/app.pdb/" + guid + "1/app.pdb", "pdb", agent},
		{"symsrv", "/app.exe/6B00D8C26000/app.exe", "pe", agent},
		{"symsrv", "/app.pdb/" + guid + "1/app.pd_", "", agent},
		{"symsrv", "/app.exe/6B00D8C26000/app.ex_", "", agent},
		{"symsrv", "/app.pdb/" + guid + "1/file.ptr", "", agent},
		{"symsrv", "/index2.txt", "", agent},
		{"SymProxy", "/app.pdb/" + strings.ToLower(guid) + "1/app.pdb", "pdb", []string{"Pragma", "no-cache"}},
		{"PerfView", "/app.pdb/" + guid + "1/app.pdb", "pdb", []string{"Accept", "application/msfz0"}},
		{"PerfView", "/ap/app.pdb/" + guid + "1/app.pdb", "pdb", []string{"Accept", "application/msfz0"}},
		{"PerfView", "/ap/app.pdb/" + guid + "1/app.pd_", "", nil},
		{"PerfView", "/ap/app.pdb/" + guid + "1/file.ptr", "", nil},
		{"SYMSRV2", "/app.pdb/" + guid + "1/msfz0/app.pdb", "", agent},
		{"SymProxyCloud", "/app.pdb/" + guid + "1/app.pdb", "pdb", []string{"Accept", "application/msfz0"}},
		{"Visual Studio, a portable PDB", "/app.pdb/" + strings.ToLower(guid) + "FFFFFFFF/app.pdb", "pdb", agent},
		{"dotnet-symbol, a portable PDB", "/app.pdb/" + strings.ToLower(guid) + "ffffffff/app.pdb", "pdb",
			[]string{"SymbolChecksum", "SHA256:" + strings.Repeat("0f", 32)}},
		{"dotnet-symbol, a PE file", "/app.exe/6b00d8c26000/app.exe", "pe", nil},
		{"dotnet-symbol, a single-file host", "/apphost/elf-buildid-" + strings.ToLower(guid) + "00000000/apphost", "elf_code", nil},
		{"dotnet-symbol, helpers of coreclr", "/mscordaccore.dll/0badc1a56000/mscordaccore.dll", "", nil},
		{"dotnet-symbol, helpers of coreclr", "/libmscordaccore.so/elf-buildid-coreclr-" + strings.ToLower(guid) + "00000000/libmscordaccore.so", "", nil},
		{"dotnet-symbol, helpers of coreclr", "/libmscordaccore.dylib/mach-uuid-coreclr-" + strings.ToLower(guid) + "/libmscordaccore.dylib", "", nil},
		{"dotnet-symbol, a dSYM", "/_.dwarf/mach-uuid-sym-" + strings.ToLower(guid) + "/_.dwarf", "mach_debug", nil},
		{"dotnet-symbol", "/app.r2rmap/r2rmap-v1-" + strings.ToLower(guid) + "/app.r2rmap", "", nil},
		{"dotnet-symbol", "/libapp.so/elf-buildid-" + strings.ToLower(guid) + "00000000/libapp.so", "elf_code", nil},
		{"dotnet-symbol", "/_.debug/elf-buildid-sym-" + strings.ToLower(guid) + "00000000/_.debug", "elf_debug", nil},
		{"dotnet-symbol", "/libapp.dylib/mach-uuid-" + strings.ToLower(guid) + "/libapp.dylib", "mach_code", nil},
		{"dotnet-symbol", "/a.cs/sha1-0123456789abcdef0123456789abcdef01234567/a.cs", "", nil},
		{"LLDB, an age in decimal digits", "/app.pdb/" + guid + "10/app.pdb", "pdb", nil},
		{"Symbolicator", "/a1/" + strings.ToLower(guid[2:]) + "1/debuginfo", "pdb", nil},
		{"Symbolicator", "/a1/" + strings.ToLower(guid[2:]) + "/executable", "elf_code", nil},
		{"a folder's mark", "/pingme.txt", "", nil},
		{"a folder's mark", "/flat.txt", "", nil},
		{"an unknown file", "/app.pdb/" + guid + "2/app.pdb", "", agent},
		{"another name", "/app.pdb/" + guid + "1/other.pdb", "", agent},
		{"not an id", "/app.pdb/nothing/app.pdb", "", agent},
		{"a denied file", "/app.exe/0de00de00de0/app.exe", "", agent},
		{"a path above", "/..%5capp.pdb/" + guid + "1/..%5capp.pdb", "", nil},
	} {
		w := do(f, "GET", c.path, c.header...)
		if c.want == "" && w.Code != 404 || c.want != "" && (w.Code != 200 || w.Body.String() != c.want) {
			t.Errorf("%s: %s: got %d %q, want %q", c.client, c.path, w.Code, w.Body, c.want)
		}
	}
	if w := do(f, "GET", "/app.pdb/"+guid+"1/app.pdb", "Authorization", "Basic eDp5"); w.Code != 401 || w.Header().Get("WWW-Authenticate") == "" {
		t.Errorf("an invalid token: got %d %v", w.Code, w.Header())
	}
	if w := do(f, "GET", "/app.exe/0bad0bad0bad/app.exe"); w.Code != 502 {
		t.Errorf("a failing source: got %d, want 502", w.Code)
	}
}

func TestFilesHaveRangesAndTags(t *testing.T) {
	f, _ := front(t)
	path := "/app.pdb/" + guid + "1/app.pdb"
	if w := do(f, "HEAD", path); w.Code != 200 || w.Header().Get("Content-Length") != "3" || w.Header().Get("ETag") != `"tag"` {
		t.Errorf("HEAD: got %d %v", w.Code, w.Header())
	}
	if w := do(f, "GET", path, "Range", "bytes=1-1"); w.Code != 206 || w.Body.String() != "d" {
		t.Errorf("a range: got %d %q", w.Code, w.Body)
	}
	if w := do(f, "GET", path, "If-None-Match", `"tag"`); w.Code != 304 {
		t.Errorf("a known file: got %d, want 304", w.Code)
	}
}

func TestProbesOfSymbolServersAreNotLogged(t *testing.T) {
	f, log := front(t)
	for _, path := range []string{"/index2.txt", "/app.pdb/" + guid + "1/file.ptr", "/ap/app.pdb/" + guid + "1/file.ptr"} {
		do(f, "GET", path)
	}
	if log.Len() > 0 {
		t.Errorf("the log has %s", log)
	}
}

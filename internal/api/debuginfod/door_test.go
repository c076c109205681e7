package debuginfod_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/api/debuginfod"
	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/fixture"
	"symbolon/internal/source"
	"symbolon/internal/token"
)

const buildID = "c6f380dd74c250cc9af0c5529c18f6c3db342fb5"

// file is an open file.
type file struct {
	bin.Source
	name string
}

func (f file) Info() api.FileInfo             { return api.FileInfo{Name: f.name, Tag: f.name} }
func (f file) Frames() (io.ReadSeeker, int64) { return nil, 0 }
func (f file) Close() error                   { return nil }

// binary returns an ELF file. The code is only in the program.
func binary(isDebug bool) []byte {
	e := &fixture.ELF{Wide: true, Type: 2, Machine: 62}
	code := fixture.ELFSection{Name: ".text", Type: 1, Data: []byte("code")}
	if isDebug {
		code = fixture.ELFSection{Name: ".text", Type: 8, Size: 4}
	}
	e.Add(code)
	if isDebug {
		e.Add(fixture.ELFSection{Name: ".debug_info", Type: 1, Data: []byte("information")})
	}
	e.Add(fixture.ELFSection{Name: ".far", Type: 1, Size: 1 << 40})
	return e.Bytes()
}

// deps has the files of one program.
func deps() debuginfod.Deps {
	return debuginfod.Deps{
		Log: slog.New(slog.DiscardHandler),
		Grant: func(r *http.Request) (*token.Grant, error) {
			if r.Header.Get("Authorization") != "" {
				return nil, token.ErrUnknown
			}
			return &token.Grant{}, nil
		},
		Open: func(_ context.Context, _ *token.Grant, asked []source.FileRequest) (api.File, error) {
			switch asked[0].Module.CodeID {
			case "0bad":
				return nil, fault.New(fault.Transport, "", "the source is down")
			case "0a51":
				return nil, fault.New(fault.Denied, "", "the source denies it")
			}
			for _, a := range asked {
				if a.Module.CodeID == buildID {
					isDebug := a.Part == source.DebugPart
					return file{bin.Bytes(binary(isDebug)), map[bool]string{true: "kiln.debug", false: "kiln"}[isDebug]}, nil
				}
			}
			return nil, fault.New(fault.NotFound, "", "no source has the file")
		},
		Source: func(_ context.Context, _ *token.Grant, _ []source.FileRequest, path string) ([]byte, error) {
			text, ok := map[string]string{"/src/a b+c$~.c": "spaces", "/src//lib/../x.c": "as sent", `C:\src\x.c`: "Windows"}[path]
			if !ok {
				return nil, fault.New(fault.NotFound, "", "no file has the source file")
			}
			return []byte(text), nil
		},
	}
}

// opened is a file that counts itself until it is closed.
type opened struct {
	api.File
	open *int
}

func (o opened) Close() error { *o.open--; return o.File.Close() }

func front(cfg debuginfod.Config, d debuginfod.Deps) *api.Front {
	opt := api.Options{Log: slog.New(slog.DiscardHandler), Now: time.Now}
	return api.New(api.Config{}, opt, debuginfod.New(cfg, d).Routes())
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

func TestDebuggersGetFiles(t *testing.T) {
	d, open := deps(), 0
	find := d.Open
	d.Open = func(ctx context.Context, g *token.Grant, asked []source.FileRequest) (api.File, error) {
		f, err := find(ctx, g, asked)
		if err != nil {
			return nil, err
		}
		open++
		return opened{f, &open}, nil
	}
	f := front(debuginfod.Config{}, d)
	program, debug := string(binary(false)), string(binary(true))
	for path, want := range map[string]string{
		buildID + "/debuginfo":                            debug,
		buildID + "/debuginfo/":                           debug, // the rest is ignored
		strings.ToUpper(buildID) + "/executable":          program,
		buildID + "/section/.debug_info":                  "information",
		buildID + "/section/.text":                        "code", // the debug file does not have its bytes
		buildID + "/source/src/a%20b%2Bc%24~.c":           "spaces",
		buildID + "/source/src/a%20b+c$~.c":               "spaces", // as LLVM sends it
		buildID + "/source/src//lib/../x.c":               "as sent",
		buildID + `/source/C:%5Csrc%5Cx.c`:                "Windows",
		buildID + "/section/.nothing":                     "",
		buildID + "/section/":                             "",
		buildID + "/section/.far":                         "", // damaged: beyond the end of the file
		buildID + "/source/src/other.c":                   "",
		buildID + "/source/..%2f..%2fetc/passwd":          "",
		buildID + "/source":                               "",
		buildID + "/nothing":                              "",
		buildID:                                           "",
		buildID[1:] + "/debuginfo":                        "",
		"xyz/debuginfo":                                   "",
		"/debuginfo":                                      "",
		"":                                                "",
		strings.Repeat("ab", 20) + "/debuginfo":           "",
		strings.Repeat("ab", 20) + "/section/.debug_info": "",
		"0a51/executable":                                 "",
	} {
		w := do(f, "GET", "/buildid/"+path)
		if want != "" && (w.Code != 200 || w.Body.String() != want) {
			t.Errorf("%s: got %d %.100q, want %.100q", path, w.Code, w.Body, want)
		}
		if want == "" && (w.Code != 404 || w.Body.String() != "not found") {
			t.Errorf("%s: got %d %.100q, want 404", path, w.Code, w.Body)
		}
		if open != 0 {
			t.Fatalf("%s: %d files are left open", path, open)
		}
	}
}

func TestHeadersOfFiles(t *testing.T) {
	f := front(debuginfod.Config{}, deps())
	w := do(f, "HEAD", "/buildid/"+buildID+"/section/.debug_info")
	for name, want := range map[string]string{
		"X-DEBUGINFOD-SIZE": "11", "X-DEBUGINFOD-FILE": "kiln.debug", "Content-Length": "11", "ETag": `"kiln.debug-.debug_info"`,
		"Content-Type": "application/octet-stream", "Accept-Ranges": "bytes",
	} {
		if got := w.Header().Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	w = do(f, "GET", "/buildid/"+buildID+"/section/.debug_info", "Range", "bytes=2-5")
	if w.Code != 206 || w.Body.String() != "form" {
		t.Errorf("a range: got %d %q", w.Code, w.Body)
	}
	w = do(f, "GET", "/buildid/"+buildID+"/section/.debug_info", "If-None-Match", `"kiln.debug-.debug_info"`)
	if w.Code != 304 {
		t.Errorf("a known file: got %d, want 304", w.Code)
	}
	w = do(f, "GET", "/buildid/"+buildID+"/executable", "X-DEBUGINFOD-MAXSIZE", "10")
	if w.Code != 406 || w.Body.String() != "File too large, max size=10" {
		t.Errorf("a file that is too large: got %d %q", w.Code, w.Body)
	}
	w = do(f, "GET", "/buildid/"+buildID+"/executable", "Authorization", "Bearer revoked")
	if w.Code != 401 || w.Header().Get("WWW-Authenticate") == "" {
		t.Errorf("an invalid token: got %d %v", w.Code, w.Header())
	}
	w = do(f, "POST", "/buildid/"+buildID+"/executable")
	if w.Code != 405 {
		t.Errorf("POST: got %d, want 405", w.Code)
	}
}

func TestNamesOfFilesInHeadersHaveNoControlCharacters(t *testing.T) {
	d := deps()
	d.Open = func(context.Context, *token.Grant, []source.FileRequest) (api.File, error) {
		return file{bin.Bytes(binary(false)), "a\x1b\nb\x7f é"}, nil
	}
	w := do(front(debuginfod.Config{}, d), "GET", "/buildid/"+buildID+"/executable")
	if got, want := w.Header().Get("X-DEBUGINFOD-FILE"), "a__b_ é"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestFailingSourceIsNotAMissingFile(t *testing.T) {
	s := httptest.NewServer(front(debuginfod.Config{}, deps()))
	defer s.Close()
	for _, path := range []string{"/debuginfo", "/section/.text"} {
		if _, err := http.Get(s.URL + "/buildid/0bad" + path); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("%s: got %v, want a reset", path, err)
		}
	}
	w := do(front(debuginfod.Config{DisableReset: true}, deps()), "GET", "/buildid/0bad/debuginfo")
	if w.Code != 502 {
		t.Errorf("without resets: got %d, want 502", w.Code)
	}
}

// unreadable is a file whose bytes are damaged.
type unreadable struct{ file }

func (unreadable) ReadAt([]byte, int64) (int, error) {
	return 0, fault.New(fault.Malformed, "blob", "frame 0 is damaged")
}

func TestDamagedFileIsNotAMissingSection(t *testing.T) {
	d := deps()
	d.Open = func(context.Context, *token.Grant, []source.FileRequest) (api.File, error) {
		return unreadable{file{bin.Bytes(binary(true)), "kiln"}}, nil
	}
	w := do(front(debuginfod.Config{DisableReset: true}, d), "GET", "/buildid/"+buildID+"/section/.text")
	if w.Code != 500 {
		t.Errorf("got %d %s, want 500", w.Code, w.Body)
	}
}

// reads counts the bytes that are read.
type reads struct {
	bin.Source
	n int
}

func (r *reads) ReadAt(p []byte, off int64) (int, error) {
	r.n += len(p)
	return r.Source.ReadAt(p, off)
}

func TestSectionIsCutWithoutReadingTheFile(t *testing.T) {
	e := &fixture.ELF{Wide: true, Type: 2, Machine: 62}
	e.Add(fixture.ELFSection{Name: ".debug_info", Type: 1, Data: make([]byte, 16<<20)})
	e.Add(fixture.ELFSection{Name: ".note", Type: 1, Data: []byte("small")})
	counted := &reads{Source: struct{ bin.Source }{bin.Bytes(e.Bytes())}}
	d := deps()
	d.Open = func(context.Context, *token.Grant, []source.FileRequest) (api.File, error) {
		return file{counted, "kiln"}, nil
	}
	if w := do(front(debuginfod.Config{}, d), "GET", "/buildid/"+buildID+"/section/.note"); w.Body.String() != "small" || counted.n > 4096 {
		t.Errorf("got %q with %d bytes read, want at most 4096", w.Body, counted.n)
	}
}

func FuzzPaths(f *testing.F) {
	for _, path := range []string{"/debuginfo", "/section/.text", "/source//a/../b"} {
		f.Add(buildID + path)
	}
	h := front(debuginfod.Config{DisableReset: true}, deps())
	f.Fuzz(func(t *testing.T, rest string) {
		r := httptest.NewRequest("GET", "/buildid/", nil)
		r.URL.Path, r.URL.RawPath = "/buildid/"+rest, ""
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != 200 && w.Code != 404 && w.Code != 502 {
			t.Errorf("%q: status %d", rest, w.Code)
		}
	})
}

package mozilla_test

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"symbolon/internal/api"
	"symbolon/internal/api/mozilla"
	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/source"
	"symbolon/internal/token"
)

// openFile is a file that knows whether it was closed.
type openFile struct {
	bin.Source
	closed *int
}

func (openFile) Info() api.FileInfo             { return api.FileInfo{Tag: "tag"} }
func (openFile) Frames() (io.ReadSeeker, int64) { return nil, 0 }

func (f openFile) Close() error {
	*f.closed++
	return nil
}

// anyone has the grant of a client without a token.
func anyone(*http.Request) (*token.Grant, error) { return &token.Grant{}, nil }

// unknown has no binaries.
func unknown(context.Context, *token.Grant, source.FileRequest) (ident.Module, error) {
	return ident.Module{}, fault.New(fault.NotFound, "", "no source has the file")
}

var symText = "MODULE Linux x86_64 " + libID + " a.so\n" + strings.Repeat("PUBLIC 1000 0 name\n", 200)

func TestSymbolFilesAreServed(t *testing.T) {
	var asked ident.Module
	closed := 0
	deps := mozilla.Deps{Now: now, Log: quiet, Grant: anyone, Identify: unknown, Open: func(_ context.Context, _ *token.Grant, list []source.FileRequest) (api.File, error) {
		m := list[0].Module
		asked = m
		switch {
		case strings.HasPrefix(m.DebugFile, "denied"):
			return nil, fault.New(fault.Denied, "", "no")
		case strings.HasPrefix(m.DebugFile, "late"):
			return nil, fault.New(fault.Timeout, "", "no")
		case strings.HasPrefix(m.DebugFile, "broken"):
			return nil, errors.New("odd")
		case strings.HasPrefix(m.DebugFile, "gone"):
			return nil, fault.New(fault.NotFound, "", "no")
		}
		return openFile{bin.Bytes([]byte(symText)), &closed}, nil
	}}
	deps.OpenTry = deps.Open
	h := front(mozilla.New(mozilla.Config{}, deps))
	id := strings.ToLower(libID)
	for path, want := range map[string]int{
		"/a.so/" + libID + "/a.so.sym":                      200,
		"/a.so/" + id + "/a.so.sym":                         200,
		"/try/a.so/" + id + "/a.so.sym":                     200,
		"//a.so//" + id + "/a.so.sym?code_file=&x":          200,
		"/xul.pdb/" + id + "/xul.sym":                       200,
		"/XUL.PDB/" + id + "/XUL.sym":                       200,
		"/XUL.PDB/" + id + "/XUL.PDB.sym":                   200,
		"/a%20(b)+~@&:%3F*/" + id + "/a%20(b)+~@&:%3F*.sym": 200,
		"/%E5%90%8D.so/" + id + "/%E5%90%8D.so.sym":         200,
		"/a.so/" + id + "/b.so.sym":                         404,
		"/a.so/" + id + "/a.so":                             404,
		"/a.so/" + id + "/a.so.SYM":                         404,
		"/a.so/" + id + "/a.sym":                            404,
		"/a.pdb/" + id + "/file.ptr":                        404,
		"/.pdb/" + id + "/.sym":                             200,
		"/a.so/" + strings.Repeat("0", 33) + "/a.so.sym":    404,
		"/a.so/ABCDE/a.so.sym":                              404,
		"/a.so/xyz/a.so.sym":                                404,
		"/../" + id + "/...sym":                             404,
		"/x%C3%BC/" + id + "/x%C3%BC.sym":                   200,
		"/%5Bkernel%5D/" + id + "/%5Bkernel%5D.sym":         200,
		"/x%00/" + id + "/x%00.sym":                         404,
		"/x%5Cy/" + id + "/x%5Cy.sym":                       404,
		"/x%FFy/" + id + "/x%FFy.sym":                       404,
		"/x%2Fy/" + id + "/x%2Fy.sym":                       404,
		"/gone.so/" + id + "/gone.so.sym":                   404,
		"/denied.so/" + id + "/denied.so.sym":               403,
		"/late.so/" + id + "/late.so.sym":                   504,
		"/broken.so/" + id + "/broken.so.sym":               500,
	} {
		w := do(h, "GET", path, "")
		if w.Code != want {
			t.Errorf("%s: got %d %.100s, want %d", path, w.Code, w.Body, want)
			continue
		}
		if want == 200 && (w.Body.String() != symText || w.Header().Get("Content-Type") != "text/plain; charset=utf-8" || asked.DebugIDText != libID) {
			t.Errorf("%s: got %s %.100s, asked for %+v", path, w.Header().Get("Content-Type"), w.Body, asked)
		}
		if want != 200 && w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%s: the refusal is %s", path, w.Header().Get("Content-Type"))
		}
	}
	if closed != 12 {
		t.Errorf("%d files were closed", closed)
	}
	strict := front(mozilla.New(mozilla.Config{Strict: true}, deps))
	for path, want := range map[string]int{
		"/%E5%90%8D.so/" + id + "/%E5%90%8D.so.sym": 200, "/x%C3%BC/" + id + "/x%C3%BC.sym": 404, "/%5Bkernel%5D/" + id + "/%5Bkernel%5D.sym": 404,
	} {
		if w := do(strict, "GET", path, ""); w.Code != want {
			t.Errorf("strict: %s: got %d, want %d", path, w.Code, want)
		}
	}
	if w := do(h, "GET", "/gone.so/"+id+"/gone.so.sym", ""); w.Body.String() != `{"error":"Symbol Not Found"}` {
		t.Errorf("a missing file is %s", w.Body)
	}
	if w := do(h, "PUT", "/a.so/"+id+"/a.so.bin", ""); w.Code != 404 || w.Body.String() != `{"title":"404 Not Found"}` {
		t.Errorf("no symbol file: got %d %s", w.Code, w.Body)
	}
	if w := do(h, "PUT", "/a.so/"+id+"/a.so.sym", ""); w.Code != 405 || w.Header().Get("Allow") != "GET, HEAD, OPTIONS" {
		t.Errorf("PUT: got %d, Allow %q", w.Code, w.Header().Get("Allow"))
	}
}

func TestSymbolFilesHaveRangesAndCompression(t *testing.T) {
	closed := 0
	d := mozilla.New(mozilla.Config{}, mozilla.Deps{Now: now, Log: quiet, Grant: anyone, Open: func(_ context.Context, _ *token.Grant, _ []source.FileRequest) (api.File, error) {
		return openFile{bin.Bytes([]byte(symText)), &closed}, nil
	}})
	h, path := front(d), "/a.so/"+libID+"/a.so.sym"
	w := do(h, "HEAD", path, "")
	if w.Code != 200 || w.Header().Get("Content-Length") == "" || w.Body.Len() > 0 {
		t.Errorf("HEAD: got %d, Content-Length %q, %d bytes", w.Code, w.Header().Get("Content-Length"), w.Body.Len())
	}
	w = do(h, "GET", path, "", "Range", "bytes=0-5", "Accept-Encoding", "gzip")
	if w.Code != 206 || w.Body.String() != "MODULE" {
		t.Errorf("a part: got %d %.100s", w.Code, w.Body)
	}
	w = do(h, "GET", path, "", "Accept-Encoding", "gzip")
	if tag := w.Header().Get("ETag"); tag != `W/"tag"` { // other bytes than without compression
		t.Errorf("packed: got the tag %s", tag)
	}
	z, err := gzip.NewReader(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(z); string(text) != symText || err != nil {
		t.Errorf("packed: got %.100s, %v", text, err)
	}
}

// minidump-stackwalk asks so for the debug id of a binary that a dump lacks it for.
func TestCodeIDsLeadToDebugIDs(t *testing.T) {
	const buildID = "c6f380dd74c250cc9af0c5529c18f6c3db342fb5"
	deps := mozilla.Deps{Now: now, Log: quiet, Grant: anyone, Identify: func(_ context.Context, g *token.Grant, a source.FileRequest) (ident.Module, error) {
		id, err := ident.ParseBreakpadID(libID)
		if err != nil {
			t.Fatal(err)
		}
		switch a.Module.CodeID {
		case "6b00d8c26000":
			return ident.Module{DebugFile: `C:\\build\\xul 1.pdb`, DebugID: id}, nil
		case "6b00d8c27000":
			return ident.Module{DebugFile: "xul.pdb"}, nil
		}
		if a.Module.CodeID == buildID {
			return ident.Module{DebugFile: "libtea.so", DebugID: id}, nil
		}
		return unknown(t.Context(), g, a)
	}}
	deps.Open = func(context.Context, *token.Grant, []source.FileRequest) (api.File, error) {
		return nil, fault.New(fault.NotFound, "", "no source has it")
	}
	h := front(mozilla.New(mozilla.Config{}, deps))
	for path, want := range map[string]string{
		"/xul.dll/6B00D8C26000/xul.sym?code_file=a": "../../xul%201.pdb/" + libID + "/xul%201.sym?code_file=a",
		"/try/xul.dll/6B00D8C26000/xul.dll.sym":     "../../xul%201.pdb/" + libID + "/xul%201.sym",
		"/xul.dll/6B00D8C27000/xul.sym":             "",
		"/xul.dll/6B00D8C28000/xul.sym":             "",
		"/libtea.so/" + buildID + "/libtea.so.sym":  "../../libtea.so/" + libID + "/libtea.so.sym",
		"/libtea.so/" + libID + "/libtea.so.sym":    "",
	} {
		for _, method := range []string{"GET", "HEAD"} {
			w := do(h, method, path, "")
			if got := w.Header().Get("Location"); got != want || (w.Code == 302) != (want != "") || (w.Code == 404) != (want == "") {
				t.Errorf("%s %s: got %d to %q, want %q", method, path, w.Code, got, want)
			}
		}
	}
}

func TestClientsThatLeftGetNoAnswer(t *testing.T) {
	ctx, leave := context.WithCancel(context.Background())
	d := mozilla.New(mozilla.Config{}, mozilla.Deps{Now: now, Log: quiet, Grant: anyone, Open: func(ctx context.Context, _ *token.Grant, _ []source.FileRequest) (api.File, error) {
		leave()
		return nil, ctx.Err()
	}})
	w := doContext(ctx, front(d), "/a.so/"+libID+"/a.so.sym")
	if w.Body.Len() > 0 {
		t.Errorf("they got %s", w.Body)
	}
}

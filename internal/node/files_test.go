package node_test

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"

	"symbolon/internal/bin"
	"symbolon/internal/debugfile"
	"symbolon/internal/ident"
	"symbolon/internal/node"
	"symbolon/internal/waittest"
)

// corpusFile returns a file of the corpus of debug files, and its module.
func corpusFile(t *testing.T, name string) ([]byte, ident.Module) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("../object/testdata/corpus", name))
	if err != nil {
		t.Fatal(err)
	}
	_, modules, err := debugfile.Identify(bin.Bytes(content))
	if err != nil {
		t.Fatal(err)
	}
	return content, modules[0]
}

// upload uploads files to the store of a node, and returns the id of the upload.
func (s *station) upload(t *testing.T, project string, files map[string][]byte) string {
	t.Helper()
	d := s.Files().Begin(project, nil, "a test")
	defer d.Close()
	for name, content := range files {
		if _, err := d.Add(t.Context(), name, bytes.NewReader(content)); err != nil {
			t.Fatal(err)
		}
	}
	u, err := d.Commit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return u.ID
}

// fetch gets a file in a content coding, or without one, and decodes it.
func fetch(t *testing.T, url, coding string) (status int, h http.Header, content []byte) {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if req.Header.Set("Accept-Encoding", "identity"); coding != "" {
		req.Header.Set("Accept-Encoding", coding)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body := io.Reader(resp.Body)
	if resp.Header.Get("Content-Encoding") == "zstd" {
		z, err := zstd.NewReader(body)
		if err != nil {
			t.Fatal(err)
		}
		defer z.Close()
		body = z
	}
	if content, err = io.ReadAll(body); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, content
}

// One upload is there for every kind of debugger at once.
func TestUploadedFilesAreReadByDebuggers(t *testing.T) {
	s := open(t, t.TempDir(), "")
	program, m := corpusFile(t, "debuglink")
	debug, _ := corpusFile(t, "debuglink.debug")
	whole, wm := corpusFile(t, "clang-cc-dwarf5") // with code and debug information
	pdb, pm := corpusFile(t, "win-x86_64.pdb")
	pe, em := corpusFile(t, "call-msvc.dll")
	elf, all, mach := m.CodeID.String(), wm.CodeID.String(), pm.DebugID.Breakpad()
	before, _, _ := fetch(t, s.url+"/buildid/"+elf+"/debuginfo", "")
	s.upload(t, ident.DefaultProject, map[string][]byte{
		"bin/kiln": program, "kiln.debug": debug, "whole": whole, "app.pdb": pdb, `call-msvc.dll`: pe,
	})
	if before != 404 {
		t.Errorf("before the upload: got %d, want 404", before)
	}
	for path, want := range map[string][]byte{
		"/buildid/" + elf + "/debuginfo":                          debug,
		"/buildid/" + elf + "/executable":                         program,
		"/buildid/" + all + "/debuginfo":                          whole,
		"/buildid/" + all + "/executable":                         whole,
		"/buildid/" + mach[:32] + "00000001/debuginfo":            pdb, // as LLDB asks
		"/kiln/elf-buildid-" + elf + "/kiln":                      program,
		"/_.debug/elf-buildid-sym-" + elf + "/_.debug":            debug,
		"/" + elf[:2] + "/" + elf[2:] + "/debuginfo":              debug,
		"/app.pdb/" + mach + "/APP.PDB":                           pdb,
		"/ap/app.pdb/" + mach + "/app.pdb":                        pdb,
		"/CALL-MSVC.dll/" + em.CodeID.String() + "/call-msvc.dll": pe,
		"/other.dll/" + em.CodeID.String() + "/other.dll":         nil, // the id is weak: the name must be the same
		"/proxy/app.pdb/" + mach + "/app.pdb":                     pdb,
	} {
		for _, coding := range []string{"", "zstd"} {
			status, h, got := fetch(t, s.url+path, coding)
			if want == nil && status != 404 {
				t.Errorf("%s: got %d, want 404", path, status)
			}
			if want != nil && (status != 200 || !bytes.Equal(got, want) || h.Get("Content-Encoding") != coding || h.Get("Content-Length") == "") {
				t.Errorf("%s as %q: got %d %v with %d bytes, want %d bytes", path, coding, status, h, len(got), len(want))
			}
		}
	}
	_, h, _ := fetch(t, s.url+"/buildid/"+elf+"/executable", "")
	if h.Get("X-DEBUGINFOD-FILE") != "kiln" || h.Get("Last-Modified") == "" || h.Get("ETag") == "" {
		t.Errorf("the headers are %v", h)
	}
	if r := sendTo(t, http.MethodGet, s.url+"/app.pdb/"+mach+"/app.sym", "", ""); r.Code != 200 || r.Text != write(t, pdb, "app.pdb") {
		t.Errorf("a .sym file of a PDB: got %d %.100s", r.Code, r.Text)
	}
}

func TestMissingFilesOfDebuggersAreCounted(t *testing.T) {
	s := open(t, t.TempDir(), "")
	for _, path := range []string{
		"/buildid/0123456789abcdef/debuginfo", "/app.pdb/0F1E2D3C4B5A69788796A5B4C3D2E1F01/app.pdb",
		"/app.so/0F1E2D3C4B5A69788796A5B4C3D2E1F00/app.so.sym",
	} {
		if status, _, _ := fetch(t, s.url+path, ""); status != 404 {
			t.Errorf("%s: got %d, want 404", path, status)
		}
	}
	rows, err := s.Missing(t.Context(), node.MissingQuery{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for _, r := range rows {
		got[r.Door+" "+r.DebugFile+r.CodeID] = true
	}
	for _, want := range []string{"debuginfod 0123456789abcdef", "symstore app.pdb", "tecken app.so"} {
		if !got[want] {
			t.Errorf("%q is not counted: %v", want, got)
		}
	}
}

func TestDamagedUploadsAreReported(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	cfg, _, err := readConfig("")
	if err != nil {
		t.Fatal(err)
	}
	cfg.Data = data
	log := &waittest.Log{}
	n, err := node.New(cfg, nil, slog.New(slog.NewTextHandler(log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	front, err := n.Front(cfg)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(front)
	defer server.Close()
	whole, m := corpusFile(t, "clang-cc-dwarf5")
	(&station{Node: n}).upload(t, ident.DefaultProject, map[string][]byte{"kiln": whole})
	paths, err := filepath.Glob(filepath.Join(data, "*/blob/*/*"))
	if err != nil || len(paths) != 1 {
		t.Fatal(paths, err)
	}
	content, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	content[len(content)/2] ^= 1
	if err := os.WriteFile(paths[0], content, 0o600); err != nil {
		t.Fatal(err)
	}
	key := "blob/" + filepath.Base(filepath.Dir(paths[0])) + "/" + filepath.Base(paths[0])
	for _, path := range []string{"executable", "section/.text"} {
		if resp, err := http.Get(server.URL + "/buildid/" + m.CodeID.String() + "/" + path); err == nil {
			t.Errorf("%s: got %d, want a reset", path, resp.StatusCode)
		}
		log.Await(t, path+" status=500")
	}
	if log.Count("level=ERROR") != 2 || log.Count(key) != 2 {
		t.Errorf("the log has no two errors with %s: %s", key, log)
	}
}

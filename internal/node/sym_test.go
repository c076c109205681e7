package node_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"

	"symbolon/internal/bin"
	"symbolon/internal/debugfile"
	"symbolon/internal/fixture"
	"symbolon/internal/ident"
	"symbolon/internal/object"
	"symbolon/internal/scratch"
	"symbolon/internal/symwrite"
)

// write returns the .sym file of a debug file.
func write(t *testing.T, content []byte, name string) string {
	t.Helper()
	f, err := debugfile.Open(bin.Bytes(content), object.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	opt := symwrite.Options{File: name, Generator: "symbolon", Scratch: scratch.Dir(t.TempDir())}
	if err := symwrite.Write(t.Context(), &out, f.Objects()[0], opt); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestSymFilesAreMadeOfOtherFiles(t *testing.T) {
	for _, name := range []string{"clang-cc-dwarf5", "win-x86_64.pdb", "macho-x86_64.dsym"} {
		t.Run(name, func(t *testing.T) {
			content, err := os.ReadFile(filepath.Join("../object/testdata/corpus", name))
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
				t.Fatal(err)
			}
			f, err := debugfile.Open(bin.Bytes(content), object.Options{})
			if err != nil {
				t.Fatal(err)
			}
			s := open(t, t.TempDir(), "sources:\n- {id: files, type: filesystem, path: '"+dir+"'}\n")
			stem := strings.TrimSuffix(name, ".pdb")
			path := "/" + name + "/" + f.Objects()[0].Info().Module.DebugID.Breakpad() + "/" + stem + ".sym"
			want := write(t, content, name)
			var all sync.WaitGroup
			for range 4 { // it is made once
				all.Go(func() {
					if r := sendTo(t, http.MethodGet, s.url+path, "", ""); r.Code != 200 || r.Text != want {
						t.Errorf("got %d with %d bytes, want %d bytes", r.Code, len(r.Text), len(want))
					}
				})
			}
			all.Wait()
			req, err := http.NewRequest(http.MethodGet, s.url+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Accept-Encoding", "zstd")
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			z, err := zstd.NewReader(resp.Body)
			if err != nil {
				t.Fatal(err)
			}
			defer z.Close()
			if text, err := io.ReadAll(z); err != nil || string(text) != want || resp.Header.Get("Content-Encoding") != "zstd" {
				t.Errorf("as zstd: got %v with %d bytes, %v", resp.Header, len(text), err)
			}
			for _, path := range []string{
				"/proxy" + path, "/" + name[:2] + path,
			} {
				if r := sendTo(t, http.MethodGet, s.url+path, "", ""); r.Code != 200 || r.Text != want {
					t.Errorf("%s: got %d with %d bytes, want %d bytes", path, r.Code, len(r.Text), len(want))
				}
			}
		})
	}
}

// Without a validator of the source the content identifies the file.
func TestSymFileIsMadeOfAFileWithoutValidator(t *testing.T) {
	content, m := corpusFile(t, "win-x86_64.pdb")
	id := m.DebugID.Breakpad()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/app.pdb/"+id+"/app.pdb" {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(content)
	}))
	defer server.Close()
	s := open(t, t.TempDir(), "network: {connect_to_reserved_ips: true}\nsources:\n- {id: store, type: http, url: '"+server.URL+
		"', layout: {type: symstore}}\n")
	for range 2 {
		if r := sendTo(t, http.MethodGet, s.url+"/app.pdb/"+id+"/app.sym", "", ""); r.Code != 200 || r.Text != write(t, content, "app.pdb") {
			t.Errorf("got %d %.100s", r.Code, r.Text)
		}
	}
}

// programOf returns a program with unwind information that has this PDB.
func programOf(pdb *fixture.PDB) []byte {
	program := fixture.NewPE(fixture.PEX64)
	program.Time, program.ImageSize = 0x6b0b088e, 0x8000
	program.Section(fixture.PESection{Name: ".text", Addr: 0x1000, Data: make([]byte, 0x400), Flags: fixture.PECode})
	program.Section(fixture.PESection{Name: ".xdata", Addr: 0x5000, Data: fixture.PEUnwind{Codes: []uint16{0x4204}}.Bytes()})
	program.Table(fixture.PEDirException, fixture.PESection{Name: ".pdata", Addr: 0x6000, Data: fixture.PEPack([]uint32{0x1100, 0x1120, 0x5000})})
	record := fixture.PEPack("RSDS", pdb.GUID, pdb.DebugAge, `D:\build\tea.pdb`+"\x00")
	debug, size := fixture.PEDebug(0x7000, 0, fixture.PEDebugEntry{Kind: 2, Data: record, Mapped: true})
	program.Table(fixture.PEDirDebug, fixture.PESection{Name: ".rdata", Addr: 0x7000, Flags: fixture.PEData, Data: debug})
	program.Dirs[fixture.PEDirDebug][1] = size
	return program.Bytes()
}

// A PDB does not have the name of its program.
func TestSymFileNamesTheCodeFile(t *testing.T) {
	debug := fixture.SamplePDB()
	pdb, exe := debug.Bytes(), programOf(debug)
	_, modules, err := debugfile.Identify(bin.Bytes(pdb))
	if err != nil {
		t.Fatal(err)
	}
	m := modules[0]
	const line = "\nINFO CODE_ID 6B0B088E8000"
	for name, want := range map[string]string{"tea.dll": line + " tea.dll\n", "tea pot.exe": line + " tea pot.exe\n", "executable": line + "\n", "tea.dl_": line + "\n"} {
		dir := t.TempDir()
		for name, content := range map[string][]byte{"call.pdb": pdb, name: exe} {
			if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		path := "/call.pdb/" + m.DebugID.Breakpad() + "/call.sym"
		folder := open(t, t.TempDir(), "sources:\n- {id: files, type: filesystem, path: '"+dir+"'}\n")
		uploads := open(t, t.TempDir(), "")
		uploads.upload(t, ident.DefaultProject, map[string][]byte{"call.pdb": pdb, "bin/" + name: exe})
		for place, s := range map[string]*station{"folder": folder, "uploads": uploads} {
			if r := sendTo(t, http.MethodGet, s.url+path, "", ""); r.Code != 200 || !strings.Contains(r.Text, want) {
				t.Errorf("%s of a %s: got %d without %q: %.300s", name, place, r.Code, want, r.Text)
			}
		}
	}
}

// A separate debug file has no unwind information: it is in the program.
func TestSymFileHasTheUnwindInformationOfTheProgram(t *testing.T) {
	dir := t.TempDir()
	id := ""
	for _, name := range []string{"debuglink", "debuglink.debug"} {
		content, err := os.ReadFile(filepath.Join("../object/testdata/corpus", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
		_, modules, err := debugfile.Identify(bin.Bytes(content))
		if err != nil {
			t.Fatal(err)
		}
		id = modules[0].DebugID.Breakpad()
	}
	s := open(t, t.TempDir(), "sources:\n- {id: files, type: filesystem, path: '"+dir+"'}\n")
	r := sendTo(t, http.MethodGet, s.url+"/kiln/"+id+"/kiln.sym", "", "")
	for _, record := range []string{"MODULE Linux x86_64 " + id + " kiln\n", "\nINFO CODE_ID ", "\nFUNC ", "\nSTACK CFI INIT "} {
		if !strings.Contains(r.Text, record) {
			t.Errorf("got %d without %q: %.300s", r.Code, record, r.Text)
		}
	}
}

package node_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"symbolon/internal/fixture"
	"symbolon/internal/trial"
)

// idOfSym is the build id of a library whose debug id is fixture.SymID.
var idOfSym = []byte{0x3c, 0x2d, 0x1e, 0x0f, 0x5a, 0x4b, 0x78, 0x69, 0x87, 0x96, 0xa5, 0xb4, 0xc3, 0xd2, 0xe1, 0xf0, 1, 2, 3, 4}

// dumpOf returns a dump of Linux with three threads in a library, far up in the
// address space. Functions call each other by unwind information up to _start.
func dumpOf(library string) []byte {
	const base, stack = 0x7f00_0000_0000, 0x7ffd_0000_0000
	d := &fixture.Minidump{Order: binary.LittleEndian, CPU: fixture.DumpAMD64, OS: fixture.DumpLinux, Pack: "Linux 6.1.0 #1 SMP x86_64"}
	d.System()
	var threads []fixture.DumpThread
	for i := range 3 {
		sp := uint64(stack + 0x10000*i)
		memory := make([]byte, 0x100)
		binary.LittleEndian.PutUint64(memory, base+0x1009)
		binary.LittleEndian.PutUint64(memory[8:], base+0x2008)
		threads = append(threads, fixture.DumpThread{ID: uint32(71 + i), StackAddr: sp, Stack: memory,
			Context: d.Context(map[string]uint64{"rip": base + 0x3004, "rsp": sp})})
	}
	d.Threads(threads...)
	d.Modules(fixture.DumpModule{Base: base, Size: 0x10000, Name: "/opt/" + library, Record: d.BuildID(idOfSym...)})
	d.Exception(fixture.DumpCrash{Thread: 72, Code: 11, Flags: 1, Addr: 0x7f00_1234_5678})
	return d.Bytes()
}

// symOf returns the .sym file of such a library, whose functions end in its name.
func symOf(library string) []byte {
	const rules = ".cfa: $rsp 8 + .ra: .cfa -8 + ^"
	return fixture.NewSym(library).File(0, "./main.c").Origin(0, "inlined_of_"+library).
		Func(0x1000, 0x40, "middle_of_"+library).Inline(0, 7, 0, 0, 0x1000, 0x10).Line(0x1000, 0x40, 3, 0).
		Func(0x2000, 0x40, "_start").Line(0x2000, 0x40, 9, 0).
		Func(0x3000, 0x40, "leaf_of_"+library).Line(0x3000, 0x40, 5, 0).
		CFIInit(0x1000, 0x40, rules).CFIInit(0x2000, 0x40, ".cfa: $rsp 8 + .ra: .undef").CFIInit(0x3000, 0x40, rules).Bytes()
}

// sendDump sends a dump and other parts of a form, by name.
func (s *station) sendDump(t *testing.T, query, token string, dump []byte, parts map[string]string) (status int, text string) {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	file, _ := form.CreateFormFile("upload_file_minidump", "crash.dmp")
	_, _ = file.Write(dump)
	for name, value := range parts {
		_ = form.WriteField(name, value)
	}
	form.Close()
	return s.post(t, "/minidump"+query, token, form.FormDataContentType(), &body)
}

// post sends a request of any type.
func (s *station) post(t *testing.T, path, token, kind string, body io.Reader) (status int, text string) {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, s.url+path, body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", kind)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	defer resp.Body.Close()
	out, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Error(err)
	}
	return resp.StatusCode, string(out)
}

// libraryIn writes the .sym file of a library to a folder as a symbol server has it.
func libraryIn(t *testing.T, folder, library string) {
	t.Helper()
	path := filepath.Join(folder, library, fixture.SymID)
	if err := os.MkdirAll(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(path, library+".sym"), symOf(library), 0o600); err != nil {
		t.Fatal(err)
	}
}

// stacksOf returns the functions of the stacks of an answer.
func stacksOf(t *testing.T, text string) string {
	t.Helper()
	var answer struct {
		Stacks []struct {
			ID     uint64 `json:"thread_id"`
			Crash  bool   `json:"is_requesting"`
			Frames []struct{ Function, Trust string }
		} `json:"stacktraces"`
	}
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	var b strings.Builder
	for _, s := range answer.Stacks {
		fmt.Fprintf(&b, "%d %v:", s.ID, s.Crash)
		for _, f := range s.Frames {
			fmt.Fprintf(&b, " %s(%s)", f.Function, f.Trust)
		}
		b.WriteString("\n")
	}
	return b.String()
}

const stacksOfDump = `71 false: leaf_of_mill(context) inlined_of_mill(cfi) middle_of_mill(cfi) _start(cfi)
72 true: leaf_of_mill(context) inlined_of_mill(cfi) middle_of_mill(cfi) _start(cfi)
73 false: leaf_of_mill(context) inlined_of_mill(cfi) middle_of_mill(cfi) _start(cfi)
`

func TestDumpBecomesStacks(t *testing.T) {
	folder := t.TempDir()
	libraryIn(t, folder, "mill")
	s := open(t, t.TempDir(), "sources:\n- {id: a, type: filesystem, path: '"+folder+"'}\n")
	for range 2 { // from the file, then from tables
		status, text := s.sendDump(t, "", "", dumpOf("mill"), map[string]string{"options": `{"dif_candidates":true}`})
		if got := stacksOf(t, text); status != http.StatusOK || got != stacksOfDump {
			t.Errorf("%d %s, want\n%s", status, got, stacksOfDump)
		}
		for _, want := range []string{
			`"crash_reason":"SIGSEGV / SEGV_MAPERR / 0x7f0012345678"`, `"debug_status":"found","unwind_status":"found"`,
			`"has_debug_info":true,"has_unwind_info":true`, `"arch":"x86_64"`, `"unwind":{"status":"ok"},"debug":{"status":"ok"}`,
		} {
			if !strings.Contains(text, want) {
				t.Errorf("the answer lacks %s: %s", want, text)
			}
		}
	}
}

func TestSourcesOfADumpAreThoseOfTheRequest(t *testing.T) {
	u := trial.NewUpstream(t)
	u.Do("/mill/"+fixture.SymID+"/mill.sym", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(symOf("mill")) }))
	s := open(t, t.TempDir(), "network: {connect_to_reserved_ips: true}\nsentry: {allow_request_sources: true}\n")
	own := map[string]string{"sources": fmt.Sprintf(`[{"id":"own","type":"http","url":%q}]`, u.URL)}
	if _, text := s.sendDump(t, "?scope=one", "", dumpOf("mill"), own); stacksOf(t, text) != stacksOfDump {
		t.Errorf("with a source: %s", text)
	}
	_, text := s.sendDump(t, "?scope=two", "", dumpOf("mill"), nil)
	if want := `"debug_status":"missing","unwind_status":"missing"`; !strings.Contains(text, want) {
		t.Errorf("without sources: %s, want %s", text, want)
	}
}

func TestTokensHoldForDumps(t *testing.T) {
	dir := t.TempDir()
	libraryIn(t, filepath.Join(dir, "one"), "mill")
	libraryIn(t, filepath.Join(dir, "two"), "dock")
	s := open(t, t.TempDir(), strings.ReplaceAll(`sources:
- {id: one, type: filesystem, path: DIR/one}
- {id: two, type: filesystem, path: DIR/two}
access: {clients: [{name: a, token: token-of-the-first, scopes: [a], sources: [one]}, {name: o, token: token-of-operator, admin: true}]}
`, "DIR", dir))
	for _, c := range []struct {
		token, query, library string
		parts                 map[string]string
		status                int
		text                  string
	}{
		{"", "", "mill", nil, 401, ""},
		{"token-of-operator", "", "mill", nil, 403, ""},
		{"token-of-the-first", "?scope=b", "mill", nil, 403, ""},
		{"token-of-the-first", "", "mill", map[string]string{"sources": "[]"}, 403, ""},
		{"token-of-the-first", "?scope=a", "mill", nil, 200, "leaf_of_mill"},
		{"token-of-the-first", "", "dock", nil, 200, `"debug_status":"missing"`},
	} {
		if status, text := s.sendDump(t, c.query, c.token, dumpOf(c.library), c.parts); status != c.status || !strings.Contains(text, c.text) {
			t.Errorf("%s%s %s: %d %s, want %d with %s", c.token, c.query, c.library, status, text, c.status, c.text)
		}
	}
}

func TestManyDumpsLeaveNoFiles(t *testing.T) {
	folder, data := t.TempDir(), t.TempDir()
	libraryIn(t, folder, "mill")
	s := open(t, data, "sources:\n- {id: a, type: filesystem, path: '"+folder+"'}\n")
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if _, text := s.sendDump(t, "", "", dumpOf("mill"), nil); stacksOf(t, text) != stacksOfDump {
				t.Errorf("%s, want\n%s", text, stacksOfDump)
			}
		})
	}
	wg.Wait()
	s.stop()
	if left, _ := filepath.Glob(filepath.Join(data, "*", "tmp", "*")); len(left) > 0 {
		t.Errorf("temporary files are left: %v", left)
	}
}

func TestAppleReportBecomesStacks(t *testing.T) {
	folder := t.TempDir()
	libraryIn(t, folder, "mill")
	s := open(t, t.TempDir(), "sources:\n- {id: a, type: filesystem, path: '"+folder+"'}\n")
	const report = "Process:             mill [77]\nCode Type:           X86-64\n\nThread 0 Crashed:\n" +
		"0   mill                  0x0000000100003004 0x100000000 + 12292\n1   mill                  0x0000000100001009 0x100000000 + 4105\n\n" +
		"Binary Images:\n       0x100000000 -        0x10000ffff +mill (1.0) <0F1E2D3C-4B5A-6978-8796-A5B4C3D2E1F0> /Applications/mill\n"
	_, text := s.post(t, "/applecrashreport", "", "application/octet-stream", strings.NewReader(report))
	if got, want := stacksOf(t, text), "0 true: leaf_of_mill() inlined_of_mill() middle_of_mill()\n"; got != want {
		t.Errorf("%s, want %s: %s", got, want, text)
	}
}

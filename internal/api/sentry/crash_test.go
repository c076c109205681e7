package sentry_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"symbolon/internal/api"
	"symbolon/internal/api/sentry"
	"symbolon/internal/api/wire"
	"symbolon/internal/cache"
	"symbolon/internal/crash"
	"symbolon/internal/fault"
	"symbolon/internal/fixture"
	"symbolon/internal/source"
	"symbolon/internal/source/sourcetest"
	"symbolon/internal/symbolicate"
	"symbolon/internal/trial/rig"
	"symbolon/internal/waittest"
)

// A crashDoor has a door for crash files, without sources.
type crashDoor struct {
	*api.Front
	open    atomic.Int32 // temporary files
	gate    chan struct{}
	diskErr error
	engine  sentry.Run
}

// newCrashDoor returns a door for dumps of at most 64 KiB. Stacks are walked when the
// gate is open.
func newCrashDoor(t *testing.T, cfg sentry.Config, sources ...source.Source) *crashDoor {
	t.Helper()
	c := &crashDoor{gate: make(chan struct{}), engine: engine{}.run}
	tables := rig.Open(t, rig.Options{Sources: sources}).Tables
	processor := crash.New(crash.Deps{Engine: symbolicate.New(symbolicate.Config{}, tables, time.Now), Tables: tables})
	c.Front, _ = door(t, cfg, sentry.Deps{
		MaxDump: 64 << 10,
		Spool: func() (cache.Spool, error) {
			c.open.Add(1)
			return &memorySpool{door: c}, nil
		},
		Crashes: func(context.Context, sentry.Search) (*crash.Processor, error) {
			<-c.gate
			return processor, nil
		},
	}, func(ctx context.Context, req *symbolicate.Request) ([]symbolicate.Module, sentry.Lookups, error) {
		return c.engine(ctx, req)
	})
	t.Cleanup(func() {
		waittest.Until(t, "the end of all temporary files", func() bool { return c.open.Load() == 0 })
	})
	return c
}

// memorySpool is a temporary file in memory. Reads after Close fail.
type memorySpool struct {
	door   *crashDoor
	data   []byte
	closed bool
}

func (s *memorySpool) Size() int64 { return int64(len(s.data)) }

func (s *memorySpool) ReadAt(b []byte, off int64) (int, error) {
	if s.closed {
		return 0, errors.New("read of a closed file")
	}
	return bytes.NewReader(s.data).ReadAt(b, off)
}

func (s *memorySpool) Write(b []byte) (int, error) {
	if s.door.diskErr != nil {
		return 0, s.door.diskErr
	}
	s.data = append(s.data, b...)
	return len(b), nil
}

func (s *memorySpool) Close() error {
	if s.closed {
		return errors.New("closed twice")
	}
	s.closed = true
	s.door.open.Add(-1)
	return nil
}

// A part is a part of a form.
type part struct{ name, value string }

// formOf returns a form and its content type.
func formOf(parts ...part) (kind, body string) {
	var b strings.Builder
	w := multipart.NewWriter(&b)
	for _, p := range parts {
		to, _ := w.CreatePart(textproto.MIMEHeader{"Content-Disposition": {`form-data; name="` + p.name + `"; filename="x"`}})
		_, _ = io.WriteString(to, p.value)
	}
	w.Close()
	return w.FormDataContentType(), b.String()
}

// post sends a form and returns the answer.
func (c *crashDoor) post(path string, parts ...part) *httptest.ResponseRecorder {
	kind, body := formOf(parts...)
	return doAs(c.Front, "POST", path, kind, body)
}

const file = "upload_file_minidump"

// dump returns a dump of Linux on amd64 with two threads, the second of which crashed.
// Change adds to it.
func dump(change ...func(*fixture.Minidump)) string {
	d := &fixture.Minidump{Order: binary.LittleEndian, CPU: fixture.DumpAMD64, OS: fixture.DumpLinux, Pack: "Linux 6.1.0 #1 SMP x86_64"}
	d.System()
	stack := make([]byte, 0x80)
	binary.LittleEndian.PutUint64(stack[8:], 0x40002010)
	d.Threads(
		fixture.DumpThread{ID: 21, StackAddr: 0x70000000, Stack: stack,
			Context: d.Context(map[string]uint64{"rip": 0x40001000, "rsp": 0x70000000})},
		fixture.DumpThread{ID: 22, StackAddr: 0x70001000, Stack: stack,
			Context: d.Context(map[string]uint64{"rip": 0x40003000, "rsp": 0x70001000})},
	)
	id := []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20}
	d.Modules(
		fixture.DumpModule{Base: 0x60000000, Size: 0x1000, Name: "/usr/share/fonts/serif.ttf"},
		fixture.DumpModule{Base: 0x50000000, Size: 0x1000, Name: "/usr/lib/libpress.so", Record: d.BuildID(id...)},
		fixture.DumpModule{Base: 0x40000000, Size: 0x10000, Name: "/srv/orchard", Record: d.BuildID(id...)},
	)
	d.Exception(fixture.DumpCrash{Thread: 22, Code: 11, Flags: 1, Addr: 0x10})
	for _, f := range change {
		f(d)
	}
	return string(d.Bytes())
}

func TestDumpIsAnswered(t *testing.T) {
	c := newCrashDoor(t, sentry.Config{})
	close(c.gate)
	got := c.post("/minidump", part{file, dump()}).Body.String()
	for _, want := range []string{
		`{"status":"completed","timestamp":1262805309,"system_info":{"os_name":"Linux","os_version":"`,
		`"cpu_arch":"x86_64","device_model":""},"crashed":true,"crash_reason":"SIGSEGV / SEGV_MAPERR / 0x10","assertion":"","stacktraces":[`,
		`{"thread_id":21,"is_requesting":false,"registers":{"r10":"0x0",`,
		`{"thread_id":22,"is_requesting":true,"registers":{`,
		`"frames":[{"status":"missing","original_index":0,"instruction_addr":"0x40003000","package":"/srv/orchard","trust":"context"}`,
		`"modules":[{"debug_status":"missing","unwind_status":"missing","features":{"has_debug_info":false,"has_unwind_info":false,"has_symbols":false,` +
			`"has_sources":false},"arch":"unknown","type":"elf","code_id":"0102030405060708090a0b0c0d0e0f1011121314","code_file":"/srv/orchard",` +
			`"debug_id":"04030201-0605-0807-090a-0b0c0d0e0f10","debug_file":"/srv/orchard","image_addr":"0x40000000","image_size":65536},` + // lowest address first
			`{"debug_status":"unused","unwind_status":"unused",`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the answer lacks %s: %s", want, got)
		}
	}
	if strings.Contains(got, "serif.ttf") {
		t.Errorf("a mapped file without ids is a module: %s", got)
	}
}

func TestThreadsWithoutRegistersHaveNoFrames(t *testing.T) {
	c := newCrashDoor(t, sentry.Config{})
	close(c.gate)
	got := c.post("/minidump", part{file, dump(func(d *fixture.Minidump) {
		d.Threads(fixture.DumpThread{ID: 20}, fixture.DumpThread{ID: 21}, fixture.DumpThread{ID: 22})
		d.Stream(fixture.DumpBreakpad, uint32(3), uint32(20), uint32(22)) // 20 wrote the dump
	})}).Body.String()
	want := `"stacktraces":[{"thread_id":20,"is_requesting":false,"frames":[]},{"thread_id":21,"is_requesting":false,"frames":[]},` +
		`{"thread_id":22,"is_requesting":true,"frames":[]}]`
	if !strings.Contains(got, want) {
		t.Errorf("the answer lacks %s: %s", want, got)
	}
}

func TestFramesAreInTheFirstOfOverlappingModules(t *testing.T) {
	c := newCrashDoor(t, sentry.Config{})
	close(c.gate)
	got := c.post("/minidump", part{file, dump(func(d *fixture.Minidump) {
		id := d.BuildID(1, 2, 3, 4, 5, 6, 7, 8)
		d.Modules(
			fixture.DumpModule{Base: 0x40002000, Size: 0x2000, Name: "/srv/inner", Record: id},
			fixture.DumpModule{Base: 0x40000000, Size: 0x10000, Name: "/srv/orchard", Record: id},
			fixture.DumpModule{Base: 0x40010000, Size: 0x1000, Name: "/srv/next", Record: id},
		)
	})}).Body.String()
	if want := `"instruction_addr":"0x40003000","package":"/srv/orchard"`; !strings.Contains(got, want) {
		t.Errorf("the answer lacks %s: %s", want, got)
	}
	if strings.Contains(got, "/srv/inner") || !strings.Contains(got, "/srv/next") {
		t.Errorf("the modules are not those of the walks: %s", got)
	}
}

func TestDumpMayBeTheBody(t *testing.T) {
	c := newCrashDoor(t, sentry.Config{})
	close(c.gate)
	for _, kind := range []string{"application/octet-stream", "application/x-dmp"} {
		if w := doAs(c.Front, "POST", "/minidump", kind, dump()); !strings.Contains(w.Body.String(), `"completed"`) {
			t.Errorf("%s: %d %s", kind, w.Code, w.Body)
		}
	}
}

func TestFormsAreBounded(t *testing.T) {
	c := newCrashDoor(t, sentry.Config{})
	close(c.gate)
	many := []part{{file, dump()}}
	for len(many) < 1001 {
		many = append(many, part{"more", ""})
	}
	for _, x := range []struct {
		name   string
		parts  []part
		status int
		text   string
	}{
		{"as many parts as allowed", many[:1000], 200, `"completed"`},
		{"one part more", many, 400, "a form may have 1000 parts"},
		{"a large part", []part{{file, dump()}, {"platform", strings.Repeat(" ", 1<<20)}, {"options", strings.Repeat(" ", 1<<20+1)}}, 413,
			"options: must be at most 1MiB"},
		{"a large part of another request", []part{{file, dump()}, {"note", strings.Repeat(" ", 1<<20+1)}}, 200, `"completed"`},
		{"a large file", []part{{file, strings.Repeat("x", 64<<10+1)}}, 413, "the limit of a dump is 64KiB (crash.max_dump)"},
		{"a file of the largest size", []part{{file, strings.Repeat("x", 64<<10)}}, 200, "Header mismatch"},
		{"a second file", []part{{file, "no dump"}, {file, dump()}}, 200, `"completed"`},
		{"a large second file", []part{{file, dump()}, {file, strings.Repeat("x", 64<<10+1)}}, 413, "the limit of a dump is 64KiB (crash.max_dump)"},
		{"no file", nil, 400, "missing minidump"},
		{"a form as the file", []part{{file, "--x\r\n"}}, 400, "minidump contains multipart form data"},
		{"an empty file", []part{{file, ""}}, 200, `{"status":"failed","message":"Missing minidump header (empty minidump?)"}`},
	} {
		w := c.post("/minidump", x.parts...)
		if w.Code != x.status || !strings.Contains(w.Body.String(), x.text) {
			t.Errorf("%s: %d %s, want %d with %s", x.name, w.Code, w.Body, x.status, x.text)
		}
		if n := c.open.Load(); n != 0 {
			t.Errorf("%s: %d temporary files are left", x.name, n)
		}
	}
	if w := doAs(c.Front, "POST", "/minidump", "application/octet-stream", strings.Repeat("x", 64<<10+1)); w.Code != 413 {
		t.Errorf("a large body: %d %s, want 413", w.Code, w.Body)
	}
}

func TestBodiesThatAreNoFormAreRefused(t *testing.T) {
	c := newCrashDoor(t, sentry.Config{})
	close(c.gate)
	kind, body := formOf(part{file, dump()})
	for _, x := range []struct{ kind, body, text string }{
		{"application/json", "{}", "multipart/form-data with a boundary"},
		{"multipart/form-data", body, "multipart/form-data with a boundary"},
		{"", body, "multipart/form-data with a boundary"},
		{kind, body[:len(body)/2], "unexpected EOF"},
		{kind, strings.Replace(body, "Content-Disposition:", "Content-Disposition", 1), "malformed MIME header"},
	} {
		w := doAs(c.Front, "POST", "/minidump", x.kind, x.body)
		if w.Code != 400 || !strings.Contains(w.Body.String(), x.text) || !strings.Contains(w.Body.String(), `{"detail":"`) {
			t.Errorf("%s: %d %s, want 400 with %s", x.kind, w.Code, w.Body, x.text)
		}
	}
	c.diskErr = fault.New(fault.Internal, "", "the disk is broken")
	if w := c.post("/minidump", part{file, dump()}); w.Code != 500 {
		t.Errorf("a broken disk: %d %s, want 500", w.Code, w.Body)
	}
}

func TestPartsOfAFormAreChecked(t *testing.T) {
	c := newCrashDoor(t, sentry.Config{AllowRequestSources: true})
	close(c.gate)
	for _, x := range []struct{ name, value, want string }{
		{"sources", `[{"id":`, "sources: invalid JSON at byte 7: unexpected end of JSON input"},
		{"sources", `[]x`, "sources: invalid JSON at byte 3: invalid character 'x' after top-level value"},
		{"sources", `{}`, "sources: must be an array"},
		{"options", `[{}]`, "options: must be an object"},
		{"scraping", `5`, "scraping: must be an object"},
		{"platform", `native`, "platform: invalid JSON at byte 2: invalid character 'a' in literal null (expecting 'u')"},
		{"rewrite_first_module", `[{"from":"(","to":""}]`, "rewrite_first_module: from: must be a regular expression: missing closing ): `(`"},
		{"rewrite_first_module", `[{"from":""}]`, "rewrite_first_module: must be an object with to"},
		{"rewrite_first_module", `[` + strings.Repeat(`{"from":"x","to":""},`, 100) + `{"from":"x","to":""}]`,
			"rewrite_first_module: a request may have 100 rules"},
		{"future", `?`, ""},
		{"platform", `"native"`, ""},
		{"rewrite_first_module", `null`, ""},
	} {
		w := c.post("/minidump", part{file, dump()}, part{x.name, x.value})
		if x.want == "" && w.Code != 200 {
			t.Errorf("%s %.50s: %d %s, want 200", x.name, x.value, w.Code, w.Body)
		}
		if want := fmt.Sprintf(`{"detail":%q}`, x.want); x.want != "" && (w.Code != 400 || w.Body.String() != want) {
			t.Errorf("%s %.50s: %d %s, want 400 %s", x.name, x.value, w.Code, w.Body, want)
		}
	}
}

func TestDumpWithTooManyModulesIsRefused(t *testing.T) {
	c := newCrashDoor(t, sentry.Config{AllowRequestSources: true})
	d := &fixture.Minidump{Order: binary.LittleEndian, CPU: fixture.DumpAMD64, OS: fixture.DumpLinux}
	d.System()
	d.Threads(fixture.DumpThread{ID: 1})
	d.Modules(slices.Repeat([]fixture.DumpModule{{Base: 0x1000, Size: 0x1000}}, 500)...)
	var sources []string
	for i := range 100 {
		sources = append(sources, fmt.Sprintf(`{"id":"%d","type":"http","url":"http://a.test/%d/"}`, i, i))
	}
	w := c.post("/minidump", part{file, string(d.Bytes())}, part{"sources", "[" + strings.Join(sources, ",") + "]"})
	if want := `{"detail":"too many modules for so many sources; use fewer sources"}`; w.Code != 413 || w.Body.String() != want {
		t.Errorf("%d %s, want 413 %s", w.Code, w.Body, want)
	}
}

func TestFirstModuleIsLookedUpByItsNewName(t *testing.T) {
	c := newCrashDoor(t, sentry.Config{})
	close(c.gate)
	var names []string
	c.engine = func(ctx context.Context, req *symbolicate.Request) ([]symbolicate.Module, sentry.Lookups, error) {
		for _, m := range req.Modules {
			names = append(names, m.DebugFile)
		}
		return engine{}.run(ctx, req)
	}
	got := c.post("/minidump", part{file, dump()}, part{"rewrite_first_module",
		`[{"from":"nothing","to":"x"},{"from":"[^/]+$","to":"renamed"}]`}).Body.String()
	if want := "/srv/renamed /usr/lib/libpress.so"; strings.Join(names, " ") != want {
		t.Errorf("debug files %v, want %s", names, want)
	}
	if !strings.Contains(got, `"debug_file":"/srv/orchard"`) {
		t.Errorf("the answer has another name than the dump: %s", got)
	}
}

// Electron has its rules in its crash reporter.
func TestRulesOfElectronRenameItsPrograms(t *testing.T) {
	const rules = `[{"from":"[^/\\\\]+ (?<suffix>Framework|Helper( \\(.+\\))?)$","to":"Electron $suffix"},` +
		`{"from":"[^/\\\\]+\\.exe\\.pdb$","to":"electron.exe.pdb"},{"from":"[^/\\\\]+$","to":"electron"}]`
	for name, want := range map[string]string{
		"My Awesome Crasher Helper (Renderer)":      "Electron Helper (Renderer)",
		"/Applications/Pear.app/Pear Framework":     "/Applications/Pear.app/Electron Framework",
		`C:\projects\src\out\Default\myapp.exe.pdb`: `C:\projects\src\out\Default\electron.exe.pdb`,
		"/srv/pear":    "/srv/electron",
		"pear.exe.pdb": "electron.exe.pdb",
		"/srv/":        "/srv/",
	} {
		q, err := wire.DecodeForm(map[string][]byte{"rewrite_first_module": []byte(rules)}, wire.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if got := q.Rename(name); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

func TestProgramFoundByItsCodeIDHasTheIDsOfItsDebugFile(t *testing.T) {
	program := fixture.NewPE(fixture.PEX64)
	program.Time, program.ImageSize = 0x5e5f6061, 0x10000
	program.Section(fixture.PESection{Name: ".text", Addr: 0x1000, Size: 0x4000, Data: make([]byte, 0x400), Flags: fixture.PECode})
	program.Section(fixture.PESection{Name: ".xdata", Addr: 0x5000,
		Data: fixture.PEUnwind{Prolog: 5, Codes: []uint16{0x4205, 0x3001}}.Bytes()})
	program.Table(fixture.PEDirException, fixture.PESection{Name: ".pdata", Addr: 0x6000,
		Data: fixture.PEPack([]uint32{0x1000, 0x1010, 0x5000})})
	record := fixture.PEPack("RSDS", [16]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}, uint32(2), `D:\build\orchard.pdb`+"\x00")
	debug, size := fixture.PEDebug(0x7000, 0, fixture.PEDebugEntry{Kind: 2, Data: record, Mapped: true})
	program.Table(fixture.PEDirDebug, fixture.PESection{Name: ".rdata", Addr: 0x7000, Flags: fixture.PEData, Data: debug})
	program.Dirs[fixture.PEDirDebug][1] = size
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if path.Base(r.URL.Path) != "orchard.exe" {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(program.Bytes()) // the client may end before
	}))
	defer server.Close()
	c := newCrashDoor(t, sentry.Config{}, rig.Web(t, source.Config{}, server.URL+"/")...)
	close(c.gate)
	d := &fixture.Minidump{Order: binary.LittleEndian, CPU: fixture.DumpAMD64, OS: fixture.DumpWindows}
	d.System()
	d.Threads(fixture.DumpThread{ID: 1, StackAddr: 0x70000000, Stack: make([]byte, 0x80),
		Context: d.Context(map[string]uint64{"rip": 0x40001008, "rsp": 0x70000000})})
	d.Modules(fixture.DumpModule{Base: 0x40000000, Size: 0x10000, Name: `C:\orchard.exe`, Timestamp: 0x5e5f6061})
	got := c.post("/minidump", part{file, string(d.Bytes())}).Body.String()
	want := `"code_id":"5e5f606110000","code_file":"C:\\orchard.exe","debug_id":"04030201-0605-0807-090a-0b0c0d0e0f10-2","debug_file":"orchard.pdb"`
	if !strings.Contains(got, want) {
		t.Errorf("the answer lacks %s: %s", want, got)
	}
}

func TestStacksOfTheClientReplaceOurs(t *testing.T) {
	c := newCrashDoor(t, sentry.Config{})
	close(c.gate)
	sent := dump(func(d *fixture.Minidump) {
		symbol := "JIT:fold"
		d.Stream(fixture.DumpClientStacks, uint32(1), uint32(1), uint32(2), uint32(len(symbol)), // header
			uint32(22), uint32(0), uint32(2), uint32(0), // thread, padded
			uint64(0x40003456), uint32(0), uint32(0), uint64(0x12345), uint32(0), uint32(len(symbol)), []byte(symbol))
	})
	got := c.post("/minidump", part{file, sent}).Body.String()
	for _, want := range []string{
		`"instruction_addr":"0x40001000","package":"/srv/orchard","trust":"context"`, // of the other thread
		`"frames":[{"status":"missing","original_index":0,"instruction_addr":"0x40003456","package":"/srv/orchard","trust":"prewalked"},` +
			`{"status":"unknown_image","original_index":1,"instruction_addr":"0x12345","function":"JIT:fold","trust":"prewalked"}]`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the answer lacks %s: %s", want, got)
		}
	}
	if strings.Contains(got, `"instruction_addr":"0x40003000"`) {
		t.Errorf("the stack of the dump is there as well: %s", got)
	}
}

func TestStacksOfTheClientNeedNoCPU(t *testing.T) {
	c := newCrashDoor(t, sentry.Config{})
	close(c.gate)
	d := &fixture.Minidump{Order: binary.LittleEndian, CPU: 0x7777, OS: fixture.DumpLinux}
	d.System()
	d.Threads(fixture.DumpThread{ID: 22}, fixture.DumpThread{ID: 23})
	d.Stream(fixture.DumpClientStacks, uint32(1), uint32(1), uint32(1), uint32(0), uint32(22), uint32(0), uint32(1), uint32(0),
		uint64(0x40003456), uint32(0), uint32(0))
	got := c.post("/minidump", part{file, string(d.Bytes())}).Body.String()
	want := `"stacktraces":[{"thread_id":22,"frames":[{"status":"unknown_image","original_index":0,"instruction_addr":"0x40003456","trust":"prewalked"}]},{"thread_id":23,"frames":[]}]`
	if !strings.Contains(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestStacksOfTheClientAreBounded(t *testing.T) {
	// All threads share frames with a long name.
	const threads, frames, name = 600, 256, 4 << 10
	c := newCrashDoor(t, sentry.Config{})
	close(c.gate)
	d := &fixture.Minidump{Order: binary.LittleEndian, CPU: fixture.DumpAMD64, OS: fixture.DumpLinux}
	d.System()
	var list []fixture.DumpThread
	words := []any{uint32(1), uint32(threads), uint32(frames), uint32(name)}
	for i := range uint32(threads) {
		list = append(list, fixture.DumpThread{ID: i})
		words = append(words, i, uint32(0), uint32(frames))
	}
	d.Threads(list...)
	for range frames {
		words = append(words, uint64(0x40003456), uint32(0), uint32(name))
	}
	d.Stream(fixture.DumpClientStacks, append(words, []byte(strings.Repeat("x", name)))...)
	got := c.post("/minidump", part{file, string(d.Bytes())}).Body
	if n, want := bytes.Count(got.Bytes(), []byte(`"prewalked"`)), crash.MaxFrames; n != want {
		t.Errorf("%d frames, want %d", n, want)
	}
	if most := 64<<20 + crash.MaxFrames*150; got.Len() > most {
		t.Errorf("%d bytes, want at most %d", got.Len(), most)
	}
}

func TestStacksHave256Frames(t *testing.T) {
	c := newCrashDoor(t, sentry.Config{})
	close(c.gate)
	sent := dump(func(d *fixture.Minidump) {
		const n = 300
		words := []any{uint32(1), uint32(1), uint32(n), uint32(0), uint32(22), uint32(0), uint32(n), uint32(0)}
		for i := range n {
			words = append(words, uint64(0x40000000+i), uint32(0), uint32(0))
		}
		d.Stream(fixture.DumpClientStacks, words...)
	})
	if got := strings.Count(c.post("/minidump", part{file, sent}).Body.String(), `"prewalked"`); got != 256 {
		t.Errorf("%d frames, want 256", got)
	}
}

func TestDumpIsAnsweredInLines(t *testing.T) {
	c := newCrashDoor(t, sentry.Config{})
	close(c.gate)
	r := httptest.NewRequest("POST", "/minidump", strings.NewReader(dump()))
	r.Header.Set("Content-Type", "application/octet-stream")
	r.Header.Set("Accept", "application/x-ndjson")
	w := httptest.NewRecorder()
	c.ServeHTTP(w, r)
	var got []string
	for line := range strings.Lines(w.Body.String()) {
		got = append(got, line[:min(len(line), 34)])
	}
	want := []string{`{"type":"crash","crash":{"timestamp`, `{"type":"stacktrace","index":0,"sta`, `{"type":"stacktrace","index":1,"sta`,
		`{"type":"module","index":0,"module`, `{"type":"module","index":1,"module`, `{"type":"status","status":"complet`}
	for i := range want {
		if i >= len(got) || got[i] != want[i][:34] {
			t.Fatalf("lines %q, want %q", got, want)
		}
	}
}

func TestDumpIsKeptUntilItsStacksAreWalked(t *testing.T) {
	c := newCrashDoor(t, sentry.Config{})
	var pending ticket
	decode(t, c.post("/minidump?timeout=0", part{file, dump()}), &pending)
	if pending.Status != "pending" {
		t.Fatalf("status %q, want pending", pending.Status)
	}
	if n := c.open.Load(); n != 1 {
		t.Errorf("%d temporary files, want 1", n)
	}
	close(c.gate)
	if w := do(c.Front, "GET", "/requests/"+pending.ID, ""); !strings.Contains(w.Body.String(), `"crash_reason"`) {
		t.Errorf("the poll: %d %s", w.Code, w.Body)
	}
	if n := c.open.Load(); n != 0 {
		t.Errorf("%d temporary files are left after the answer", n)
	}
}

func TestWorkGoesOnWithoutItsClient(t *testing.T) {
	c := newCrashDoor(t, sentry.Config{})
	for _, accept := range []string{"application/json", "application/x-ndjson"} {
		kind, body := formOf(part{file, dump()})
		ctx, leave := context.WithCancel(t.Context())
		r := httptest.NewRequestWithContext(ctx, "POST", "/minidump", strings.NewReader(body))
		r.Header.Set("Content-Type", kind)
		r.Header.Set("Accept", accept)
		done := make(chan struct{})
		go func() {
			defer close(done)
			defer func() { _ = recover() }() // the front breaks the connection
			c.ServeHTTP(httptest.NewRecorder(), r)
		}()
		waittest.Until(t, "the dump", func() bool { return c.open.Load() == 1 })
		leave()
		c.gate <- struct{}{}
		<-done
		waittest.Until(t, "the end of the temporary file", func() bool { return c.open.Load() == 0 })
	}
}

func TestRefusedRequestsLeaveNoDump(t *testing.T) {
	c := newCrashDoor(t, sentry.Config{MaxConcurrentRequests: 1})
	var pending ticket
	decode(t, c.post("/minidump?timeout=0", part{file, dump()}), &pending)
	for _, x := range []struct {
		path   string
		parts  []part
		status int
	}{
		{"/minidump?timeout=soon", nil, 400},
		{"/minidump", []part{{"sources", "[]"}}, 403},
		{"/minidump", nil, 503},
	} {
		w := c.post(x.path, append(x.parts, part{file, dump()})...)
		if w.Code != x.status {
			t.Errorf("%s: %d %s, want %d", x.path, w.Code, w.Body, x.status)
		}
		if n := c.open.Load(); n != 1 {
			t.Errorf("%s %d: %d temporary files, want that of the request that runs", x.path, x.status, n)
		}
	}
	close(c.gate)
	do(c.Front, "GET", "/requests/"+pending.ID, "")
}

const appleReport = `Incident Identifier: 8F1C2A60-0000-0000-0000-000000000000
Hardware Model:      MacBookPro18,1
Process:             orchard [77]
Code Type:           X86-64 (Native)
OS Version:          Mac OS X 10.15.7 (19H2)
Date/Time:           2021-03-04 05:06:07.000 +0000
Exception Type:  EXC_BAD_ACCESS (SIGSEGV)
Exception Codes: KERN_INVALID_ADDRESS at 0x10
Crashed Thread:  1

Thread 0 name:  queue
Thread 0:
0   orchard                  0x0000000100001010 0x100000000 + 4112

Thread 1 Crashed:
0   orchard                  0x0000000100001020 0x100000000 + 4128
1   libelsewhere.dylib       0x00000007f0001020 start + 32

Thread 1 crashed with X86 Thread State (64-bit):
  rip: 0x0000000100001020  rax: 0x0000000000000010

Binary Images:
       0x100000000 -        0x10000ffff +orchard (1.0) <0F1E2D3C-4B5A-6978-8796-A5B4C3D2E1F0> /Applications/orchard
`

func TestAppleReportIsAnswered(t *testing.T) {
	c := newCrashDoor(t, sentry.Config{})
	got := c.post("/applecrashreport", part{"apple_crash_report", appleReport}).Body.String()
	for _, want := range []string{
		`{"status":"completed","timestamp":1614834367,"system_info":{"os_name":"macOS","os_version":"10.15.7","os_build":"19H2",` +
			`"cpu_arch":"x86_64","device_model":"MacBookPro18,1"},"crashed":true,"crash_reason":"EXC_BAD_ACCESS (SIGSEGV)",` +
			`"crash_details":"KERN_INVALID_ADDRESS at 0x10","stacktraces":[{"thread_id":0,"thread_name":"queue","is_requesting":false,` +
			`"frames":[{"status":"missing","original_index":0,"instruction_addr":"0x100001010","package":"/Applications/orchard"}]},` +
			`{"thread_id":1,"is_requesting":true,"registers":{"rax":"0x10","rip":"0x100001020"},` +
			`"frames":[{"status":"missing","original_index":0,"instruction_addr":"0x100001020","package":"/Applications/orchard"},` +
			`{"status":"unknown_image","original_index":1,"instruction_addr":"0x7f0001020","package":"libelsewhere.dylib","function":"start"}]}],"modules":[`,
		`"type":"macho","code_id":"0f1e2d3c4b5a69788796a5b4c3d2e1f0","code_file":"/Applications/orchard","debug_id":"0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0",` +
			`"debug_file":"/Applications/orchard","image_addr":"0x100000000","image_size":65535}]}`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the answer lacks %s: %s", want, got)
		}
	}
	if n := c.open.Load(); n != 0 {
		t.Errorf("%d temporary files are left", n)
	}
}

const ipsReport = `{"app_name":"orchard","timestamp":"2021-03-04 05:06:07.00 +0000","os_version":"macOS 13.2 (22D49)"}
{"cpuType":"ARM-64","modelCode":"Mac14,7","osVersion":{"train":"macOS 13.2","build":"22D49"},"procName":"orchard",
"exception":{"type":"EXC_BAD_ACCESS","signal":"SIGSEGV","subtype":"KERN_INVALID_ADDRESS at 0x10"},"faultingThread":0,
"threads":[{"triggered":true,"frames":[{"imageIndex":0,"imageOffset":4112},{"imageIndex":1,"imageOffset":32,"symbol":"start"}]}],
"usedImages":[{"base":4294967296,"size":65536,"uuid":"0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0","name":"orchard","path":"/Applications/orchard","arch":"arm64"},
{"base":34091302912,"size":4096,"uuid":"1f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0","name":"dyld","path":"/usr/lib/dyld","arch":"arm64"}]}`

func TestIPSReportIsAnswered(t *testing.T) {
	c := newCrashDoor(t, sentry.Config{})
	got := c.post("/applecrashreport", part{"apple_crash_report", ipsReport}).Body.String()
	for _, want := range []string{
		`{"status":"completed","timestamp":1614834367,"system_info":{"os_name":"macOS","os_version":"13.2","os_build":"22D49","cpu_arch":"arm64","device_model":"Mac14,7"}`,
		`"crash_reason":"EXC_BAD_ACCESS (SIGSEGV)","crash_details":"KERN_INVALID_ADDRESS at 0x10"`,
		`{"thread_id":0,"is_requesting":true,"frames":[{"status":"missing","original_index":0,"instruction_addr":"0x100001010","package":"/Applications/orchard"},`,
		`"code_id":"0f1e2d3c4b5a69788796a5b4c3d2e1f0","code_file":"/Applications/orchard","debug_id":"0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0",` +
			`"debug_file":"/Applications/orchard","image_addr":"0x100000000","image_size":65536}`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the answer lacks %s: %s", want, got)
		}
	}
}

func TestBrokenUploadsOfDumpsAreRefused(t *testing.T) {
	c := newCrashDoor(t, sentry.Config{})
	close(c.gate)
	server := httptest.NewServer(c.Front)
	defer server.Close()
	kind, form := formOf(part{file, dump()})
	bomb := sourcetest.Gzip(make([]byte, 32<<20))
	for _, x := range []struct {
		name, kind, coding string
		size               int // in the header
		body               []byte
		status             int
		text               string
	}{
		{"half of a form", kind, "", len(form), []byte(form[:len(form)/2]), 400, "the body ended early"},
		{"half of a dump", "application/x-dmp", "", 4096, []byte(dump()[:2048]), 400, "the body ended early"},
		{"a part of a million", kind, "", 64 << 20, []byte(strings.Repeat(strings.SplitAfter(form, "\r\n")[0]+
			"Content-Disposition: form-data; name=a\r\n\r\n\r\n", 10000)), 400, "a form may have 1000 parts"},
		{"a bomb", "application/x-dmp", "gzip", len(bomb), bomb, 413, "Request Entity Too Large"},
		{"half of a compressed dump", "application/x-dmp", "gzip", len(bomb) / 2, bomb[:len(bomb)/2], 413, ""},
		{"bytes that are not zstd", "application/x-dmp", "zstd", 4, []byte("dump"), 400, "the body is not zstd"},
	} {
		conn, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		head := fmt.Sprintf("POST /minidump HTTP/1.1\r\nHost: a\r\nContent-Type: %s\r\nContent-Length: %d\r\n", x.kind, x.size)
		if x.coding != "" {
			head += "Content-Encoding: " + x.coding + "\r\n"
		}
		_, _ = conn.Write(append([]byte(head+"\r\n"), x.body...)) // the server may answer and close before
		_ = conn.(*net.TCPConn).CloseWrite()
		got, _ := io.ReadAll(conn)
		conn.Close()
		if !strings.HasPrefix(string(got), fmt.Sprint("HTTP/1.1 ", x.status)) || !strings.Contains(string(got), x.text) {
			t.Errorf("%s: %s, want %d %s", x.name, got, x.status, x.text)
		}
		waittest.Until(t, "the end of the temporary file", func() bool { return c.open.Load() == 0 })
	}
}

func TestFullDiskIsNotTheFaultOfACompressedDump(t *testing.T) {
	c := newCrashDoor(t, sentry.Config{})
	close(c.gate)
	c.diskErr = syscall.ENOSPC
	r := httptest.NewRequest("POST", "/minidump", bytes.NewReader(sourcetest.Zstd([]byte(dump()))))
	r.Header.Set("Content-Type", "application/x-dmp")
	r.Header.Set("Content-Encoding", "zstd")
	w := httptest.NewRecorder()
	if c.Front.ServeHTTP(w, r); w.Code != 500 {
		t.Errorf("%d %s, want 500", w.Code, w.Body)
	}
}

// decode reads an answer.
func decode(t *testing.T, w *httptest.ResponseRecorder, into any) {
	t.Helper()
	if err := json.Unmarshal(w.Body.Bytes(), into); err != nil {
		t.Fatalf("%d %s: %v", w.Code, w.Body, err)
	}
}

func TestSystemOfAnAppleReportIsDivided(t *testing.T) {
	c := newCrashDoor(t, sentry.Config{})
	for text, want := range map[string]string{
		"Mac OS X 10.15.7 (19H2)": "macOS|10.15.7|19H2",
		"Mac OS X 10.5.8":         "macOS|10.5.8|",
		"macOS 13.2 (22D49)":      "macOS|13.2|22D49",
		"iPhone OS 16.1 (20B82)":  "iOS|16.1|20B82",
		"Darwin":                  "Darwin||",
	} {
		var got struct {
			System struct {
				Name    string `json:"os_name"`
				Version string `json:"os_version"`
				Build   string `json:"os_build"`
			} `json:"system_info"`
		}
		sent := strings.Replace(appleReport, "Mac OS X 10.15.7 (19H2)", text, 1)
		decode(t, c.post("/applecrashreport", part{"apple_crash_report", sent}), &got)
		if s := got.System; s.Name+"|"+s.Version+"|"+s.Build != want {
			t.Errorf("%s: %v, want %s", text, s, want)
		}
	}
}

package pages_test

import (
	"encoding/binary"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symbolon/internal/fixture"
	"symbolon/internal/trial"
)

// Modules of the demo, and one that no source has.
const (
	demoLog = "==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602000000014\n" +
		"    #0 0x7f2a10002024  (/demo/libkettle.so+0x2024) (BuildId: 3c2d1e0f5a4b78698796a5b4c3d2e1f012345678)\n" +
		"    #1 0x7f2a20002024  (/demo/gone.so+0x2024) (BuildId: aa2d1e0f5a4b78698796a5b4c3d2e1f012345678)\n"
	demoRequest = `{"jobs": [{"memoryMap": [["libkettle.so", "0F1E2D3C4B5A69788796A5B4C3D2E1F00"]],` + "\n" + `"stacks": [[[0, 8228]]]}]}`
)

const appleReport = "Process:         App [42]\nCode Type:       X86-64 (Native)\nOS Version:      macOS 13.3 (22E252)\nException Type:  EXC_BAD_ACCESS (SIGSEGV)\n\n" +
	"Thread 0 Crashed:\n0   App   \t0x0000000100001010 0x100000000 + 4112\n\nBinary Images:\n" +
	"       0x100000000 -        0x10000ffff App (1) <0F1E2D3C-4B5A-6978-8796-A5B4C3D2E1F0> /App\n"

// written returns the path of a file.
func written(t *testing.T, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// dump returns the dump of a process that crashed in the library of the demo.
func dump() []byte {
	d := &fixture.Minidump{Order: binary.LittleEndian, CPU: fixture.DumpAMD64, OS: fixture.DumpLinux, Pack: "Linux 6.1.0 #1 SMP x86_64"}
	d.System()
	thread := func(id uint32, pc, sp uint64) fixture.DumpThread {
		return fixture.DumpThread{ID: id, StackAddr: sp, Stack: make([]byte, 0x200), Context: d.Context(map[string]uint64{"rip": pc, "rsp": sp})}
	}
	d.Threads(thread(11, 0x50001004, 0x70002000), thread(12, 0x40002024, 0x70000000))
	build := []byte("\x3c\x2d\x1e\x0f\x5a\x4b\x78\x69\x87\x96\xa5\xb4\xc3\xd2\xe1\xf0\x12\x34\x56\x78")
	other := []byte("\xaa\x2d\x1e\x0f\x5a\x4b\x78\x69\x87\x96\xa5\xb4\xc3\xd2\xe1\xf0\x12\x34\x56\x78")
	d.Modules(
		fixture.DumpModule{Base: 0x40000000, Size: 0x10000, Name: "/demo/libkettle.so", Record: d.BuildID(build...)},
		fixture.DumpModule{Base: 0x50000000, Size: 0x10000, Name: "/demo/gone.so", Record: d.BuildID(other...)},
	)
	d.Exception(fixture.DumpCrash{Thread: 12, Code: 11, Flags: 1, Addr: 0x10})
	return d.Bytes()
}

func TestNewcomerSeesNamesByTheExample(t *testing.T) {
	t.Parallel()
	b := newTab(t, trial.Start(t, trial.Options{Demo: true}))
	b.open("/")
	b.looks("try")
	b.click("button", "Try an example")
	b.shows("teapot::clamp(double, double)")
	b.shows("/demo/kettle/boil.c:43")
	b.looks("tried")
}

func TestTextsHaveNamesOnThePage(t *testing.T) {
	t.Parallel()
	b := newTab(t, trial.Start(t, trial.Options{Demo: true}))
	b.open("/")
	b.fill("textarea", demoRequest)
	b.click("button", "Show names")
	b.shows("kettle_boil")
	b.fill("textarea", demoLog)
	b.click("button", "Show names")
	b.shows("#0 0x7f2a10002024 in kettle_boil /demo/kettle/boil.c:43")
	b.shows("Addresses with names: 1 of 2.")
	if got := eval[string](b, `document.querySelector('textarea').value`); got != demoLog {
		t.Errorf("the form has the text %q, want the one that was sent", got)
	}
	b.looks("tried-log")
	b.click("section a", "gone.so")
	b.shows("Where it was looked for")
	b.shows("aa2d1e0f5a4b78698796a5b4c3d2e1f012345678")
}

func TestFilesAreReadByTheirKind(t *testing.T) {
	t.Parallel()
	s := trial.Start(t, trial.Options{Demo: true, Set: []string{"crash.max_dump=1MiB"}})
	b := newTab(t, s)
	b.open("/")
	for _, c := range []struct {
		name    string
		content []byte
		want    string
	}{
		{"app.log", []byte(demoLog), "kettle_boil"},
		{"long.log", []byte(demoLog + strings.Repeat("x", 900<<10)), "Only the first"},
		{"app.crash", []byte(appleReport), "EXC_BAD_ACCESS"},
		{"crash.dmp", dump(), "Thread 1 (id 12), crashed"},
		{"kettle.sym", []byte(trial.KettleSym), "A debug file. It was not kept."},
		{"rubbish", []byte("\x01\x00\x02\x00rubbish"), "neither a text nor a profile, a dump or a debug file"},
		{"damaged.dmp", dump()[:40], "malformed"},
		{"large.log", make([]byte, 2<<20), "the limit of a file is 1MiB (crash.max_dump)"},
	} {
		b.choose("input[type=file]", written(t, c.name, c.content))
		b.shows(c.want)
	}
	b.choose("input[type=file]", written(t, "kettle.sym", []byte(trial.KettleSym)))
	b.shows("A debug file. It was not kept.")
	b.looks("tried-debug")
}

func TestCrashHasItsThreads(t *testing.T) {
	t.Parallel()
	b := newTab(t, trial.Start(t, trial.Options{Demo: true}))
	b.open("/ui/crash")
	b.looks("crash-form")
	b.choose("input[type=file]", written(t, "crash.dmp", dump()))
	b.shows("Thread 1 (id 12), crashed")
	if got := eval[string](b, `document.querySelector('h2').textContent`); got != "Thread 1 (id 12), crashed" {
		t.Errorf("the first thread is %q", got)
	}
	b.shows("kettle_boil")
	b.shows("gone.so")
	b.shows("not found: no source has the file")
	b.looks("crash")
	if got := eval[string](b, `document.getElementById('report').textContent`); !strings.Contains(got, "Crash reason:  SIGSEGV") {
		t.Errorf("the text is %q", got)
	}
}

func TestProfileOpensInTheFirefoxProfiler(t *testing.T) {
	t.Parallel()
	const content = `{"meta":{"version":27,"libs":[]},"threads":[]}`
	s := trial.Start(t, trial.Options{Demo: true})
	b := newTab(t, s)
	b.open("/ui/profile")
	b.looks("profile-form")
	b.choose("input[type=file]", written(t, "rubbish", []byte("rubbish")))
	b.shows("the file is not a profile of the Firefox Profiler")
	b.choose("input[type=file]", written(t, "app.profile.json", []byte(content)))
	b.shows("Open in the Firefox Profiler")
	b.looks("profile")
	link := eval[string](b, `document.querySelector('a.button').href`)
	rest, isOther := strings.CutPrefix(link, "https://profiler.firefox.com/from-url/")
	path, server, _ := strings.Cut(rest, "/?symbolServer=")
	at, err := url.QueryUnescape(path)
	if !isOther || err != nil || server != url.QueryEscape(s.URL) {
		t.Fatalf("the link is %s", link)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Origin", "https://profiler.firefox.com")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || string(text) != content || answer.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("the page of another origin gets %s %q %v, %v", answer.Status, text, answer.Header, err)
	}
}

func TestADroppedFileIsSent(t *testing.T) {
	t.Parallel()
	b := newTab(t, trial.Start(t, trial.Options{Demo: true}))
	b.open("/")
	b.awaits(`(() => {
		const zone = document.querySelector('.drop');
		const data = new DataTransfer();
		data.items.add(new File([%s], 'app.log'));
		return zone && zone.dispatchEvent(new DragEvent('drop', {dataTransfer: data, bubbles: true, cancelable: true})) === false;
	})()`, demoLog)
	b.shows("#0 0x7f2a10002024 in kettle_boil /demo/kettle/boil.c:43")
}

func TestBackLeadsToThePageBefore(t *testing.T) {
	t.Parallel()
	b := newTab(t, trial.Start(t, trial.Options{Demo: true}))
	b.open("/")
	b.click("button", "Try an example")
	b.shows("teapot::clamp(double, double)")
	b.awaits(`history.back() === undefined`)
	b.shows("Health")
	b.lacks("teapot::clamp(double, double)")
}

package crash_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/crash"
	"symbolon/internal/fixture"
	"symbolon/internal/source"
	"symbolon/internal/symbolicate"
	"symbolon/internal/trial/rig"
)

// buildID is the build id of all modules. Its debug id is fixture.SymID.
var buildID = []byte{0x3c, 0x2d, 0x1e, 0x0f, 0x5a, 0x4b, 0x78, 0x69, 0x87, 0x96, 0xa5, 0xb4, 0xc3, 0xd2, 0xe1, 0xf0, 1, 2, 3, 4}

// Addresses of newDump.
const (
	orchard = 0x40000000 // modules of 64 KiB
	press   = 0x50000000
	stack   = 0x70000000
)

// newDump returns a dump of Linux on amd64, which crashed at an address. Its stack
// begins with some words.
func newDump(pc uint64, words ...uint64) *fixture.Minidump {
	d := &fixture.Minidump{Order: binary.LittleEndian, CPU: fixture.DumpAMD64, OS: fixture.DumpLinux, Pack: "Linux 6.1.0 #1 SMP x86_64"}
	d.System()
	d.Threads(thread(d, 11, pc, stack, words...), thread(d, 12, press+0x1004, stack+0x2000, orchard+0x2008, 0))
	d.Modules(
		fixture.DumpModule{Base: orchard, Size: 0x10000, Name: "/srv/orchard", Record: d.BuildID(buildID...)},
		fixture.DumpModule{Base: press, Size: 0x10000, Name: "/srv/libpress.so", Record: d.BuildID(buildID...)},
	)
	return d
}

// thread returns a thread with a stack.
func thread(d *fixture.Minidump, id uint32, pc, sp uint64, words ...uint64) fixture.DumpThread {
	memory := make([]byte, 0x200)
	for i, w := range words {
		binary.LittleEndian.PutUint64(memory[8*i:], w)
	}
	return fixture.DumpThread{ID: id, StackAddr: sp, Stack: memory, Context: d.Context(map[string]uint64{"rip": pc, "rsp": sp})}
}

// crashed adds the reason of a crash of the first thread.
func crashed(d *fixture.Minidump) *fixture.Minidump {
	d.Exception(fixture.DumpCrash{Thread: 11, Code: 11, Flags: 1, Addr: 0x10})
	return d
}

const rules = ".cfa: $rsp 8 + .ra: .cfa -8 + ^"

// symbols are the .sym files of the modules.
var symbols = map[string][]byte{
	"orchard.sym": fixture.NewSym("orchard").File(0, "./main.c").Origin(0, "pick").
		Func(0x1000, 0x40, "harvest").Inline(0, 7, 0, 0, 0x1000, 0x10).Line(0x1000, 0x40, 3, 0).
		Func(0x2000, 0x40, "_start").Line(0x2000, 0x40, 9, 0).
		CFIInit(0x1000, 0x40, rules).CFIInit(0x2000, 0x40, ".cfa: $rsp 8 + .ra: .undef").Bytes(),
	"libpress.so.sym": fixture.NewSym("libpress.so").Func(0x1000, 0x40, "squeeze").CFIInit(0x1000, 0x40, rules).Bytes(),
}

// A bench has a processor with the symbols, and counts the files that it fetches.
type bench struct {
	*crash.Processor
	mu      sync.Mutex
	fetched map[string]int
}

func newBench(t testing.TB, symbols map[string][]byte) *bench {
	b := &bench{fetched: map[string]int{}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := path.Base(r.URL.Path)
		if symbols[name] == nil {
			http.NotFound(w, r)
			return
		}
		b.mu.Lock()
		b.fetched[name]++
		b.mu.Unlock()
		_, _ = w.Write(symbols[name])
	}))
	t.Cleanup(server.Close)
	var o rig.Options
	if symbols != nil {
		o.Sources = rig.Web(t, source.Config{}, server.URL+"/")
	}
	layers := rig.Open(t, o)
	b.Processor = crash.New(crash.Deps{Engine: symbolicate.New(symbolicate.Config{}, layers.Tables, time.Now), Tables: layers.Tables})
	return b
}

// process returns the report on a dump.
func (b *bench) process(t testing.TB, file []byte, opt crash.Options) *crash.Report {
	t.Helper()
	d, _, err := crash.Open(bin.Bytes(file))
	if err != nil {
		t.Fatal(err)
	}
	r, err := b.Process(t.Context(), d, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Release)
	return r
}

// frames formats the frames of a stack.
func frames(s crash.Stack) string {
	var list []string
	for _, f := range s.Frames {
		text := fmt.Sprintf("%s %x", f.Trust, f.Addr)
		for _, x := range f.Functions {
			text += fmt.Sprintf(" %s %s:%d", x.Name, x.File, x.Line)
		}
		list = append(list, text)
	}
	return strings.Join(list, "; ")
}

// document returns the JSON of a report.
func document(t testing.TB, r any) map[string]any {
	t.Helper()
	var b bytes.Buffer
	if err := crash.WriteJSON(&b, r, false); err != nil {
		t.Fatal(err)
	}
	out := map[string]any{}
	if err := json.Unmarshal(b.Bytes(), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestCompactJSONIsTheSameDocumentInOneLine(t *testing.T) {
	for _, requesting := range []bool{true, false} {
		d := newDump(press + 0x1004)
		if requesting {
			d = crashed(d)
		}
		r := newBench(t, nil).process(t, d.Bytes(), crash.Options{})
		var wide, narrow, want bytes.Buffer
		if err := errors.Join(crash.WriteJSON(&wide, r, false), crash.WriteJSON(&narrow, r, true)); err != nil {
			t.Fatal(err)
		}
		var x any
		if err := json.Unmarshal(wide.Bytes(), &x); err != nil {
			t.Fatal(err)
		}
		if err := json.Compact(&want, wide.Bytes()); err != nil {
			t.Fatal(err)
		}
		if narrow.String() != want.String() {
			t.Errorf("got\n%s\nwant\n%s", &narrow, &want)
		}
	}
}

// at returns the part of a document that keys and indexes lead to, as text.
func at(d any, steps ...any) string {
	for _, s := range steps {
		if i, ok := s.(int); ok {
			d = d.([]any)[i]
		} else {
			d = d.(map[string]any)[s.(string)]
		}
	}
	return fmt.Sprint(d)
}

func TestStackHasFunctions(t *testing.T) {
	r := newBench(t, symbols).process(t, crashed(newDump(press+0x1004, orchard+0x1009, orchard+0x2008)).Bytes(), crash.Options{})
	want := "context 50001004 squeeze :0; cfi 40001008 pick ./main.c:3 harvest ./main.c:7; cfi 40002007 _start ./main.c:9"
	if got := frames(r.Stacks[0]); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestModuleIsFetchedOnceAndOnlyIfItIsTouched(t *testing.T) {
	d := newDump(press+0x1004, press+0x1009)
	d.Threads(thread(d, 11, press+0x1004, stack), thread(d, 12, press+0x1008, stack+0x2000), thread(d, 13, press+0x100c, stack+0x4000))
	b := newBench(t, symbols)
	r := b.process(t, crashed(d).Bytes(), crash.Options{})
	if fmt.Sprint(b.fetched) != "map[libpress.so.sym:1]" {
		t.Errorf("fetched %v", b.fetched)
	}
	if s := r.Symbols[0]; s.Debug.Asked || s.Unwind.Asked {
		t.Errorf("orchard was looked up: %+v", s)
	}
	if s := r.Symbols[1]; !s.Debug.Found || !s.Unwind.Found || len(s.Debug.Trail) == 0 {
		t.Errorf("libpress.so was not found: %+v", s)
	}
}

func TestJSONHasTheSchemaOfRustMinidump(t *testing.T) {
	d := crashed(newDump(press+0x1004, orchard+0x1009, orchard+0x2008))
	d.Names(11, "picker")
	x := document(t, newBench(t, symbols).process(t, d.Bytes(), crash.Options{}))
	for want, got := range map[string]string{
		"SIGSEGV / SEGV_MAPERR": at(x, "crash_info", "type"),
		"0x0000000000000010":    at(x, "crash_info", "address"),
		"amd64":                 at(x, "system_info", "cpu_arch"),
		"6.1.0 #1 SMP":          at(x, "system_info", "os_ver"),
		"2":                     at(x, "thread_count"),
		"picker":                at(x, "threads", 0, "thread_name"),
		"<nil>":                 at(x, "threads", 1, "thread_name"),
		"harvest":               at(x, "threads", 0, "frames", 1, "function"),
		"0x0000000000000008":    at(x, "threads", 0, "frames", 1, "function_offset"),
		"0x0000000000001008":    at(x, "threads", 0, "frames", 1, "module_offset"),
		"0x0000000040001008":    at(x, "threads", 0, "frames", 1, "offset"),
		"7":                     at(x, "threads", 0, "frames", 1, "line"),
		"pick":                  at(x, "threads", 0, "frames", 1, "inlines", 0, "function"),
		"libpress.so":           at(x, "threads", 0, "frames", 0, "module"),
		"context":               at(x, "crashing_thread", "frames", 0, "trust"),
		"0x0000000050001004":    at(x, "crashing_thread", "frames", 0, "registers", "rip"),
		"0":                     at(x, "crashing_thread", "threads_index"),
		fixture.SymID:           at(x, "modules", 1, "debug_id"),
		"3c2d1e0f5a4b78698796a5b4c3d2e1f001020304": at(x, "modules", 1, "code_id"),
		"true": at(x, "modules", 1, "loaded_symbols"),
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if url := at(x, "modules", 1, "symbol_url"); !strings.HasSuffix(url, "/libpress.so.sym") {
		t.Errorf("the symbols of libpress.so are from %s", url)
	}
}

// addSideStreams adds the streams that are passed on.
func addSideStreams(d *fixture.Minidump) {
	d.Stream(fixture.DumpLSB, "DISTRIB_ID=Grove\nVERSION_ID=12\n")
	d.Stream(fixture.DumpLimits, "Limit                     Soft Limit           Hard Limit           Units     \n"+
		"Max open files            1024                 unlimited            files     \nMax nice priority         0                    0                    \n")
	d.Stream(fixture.DumpCPUInfo, "microcode\t: 0x2006e05\n")
	d.Stream(fixture.DumpStatus, "Pid:\t31337\n")
	d.Stream(fixture.DumpMaps, "40000000-40010000 r-xp 00000000 00:00 0 /srv/orchard\n70000000-70001000 rw-p 00000000 00:00 0 [stack]\n")
	d.Stream(fixture.DumpSoftErrors, `["first",{"code":7}]`)
	d.Stream(fixture.DumpMisc, uint32(24), uint32(2), uint32(0), uint32(fixture.DumpTime-60), uint64(0))
	d.Table(fixture.DumpHandles, d.Words(uint64(64), d.Text("Event"), uint32(0), [4]uint32{}))
	d.Stream(fixture.DumpMacBoot, uint32(0x4d7a0002), uint64(d.Text("-v")))
	record := d.Put(d.Words(uint64(0), uint64(5), uint64(1), uint64(0), uint64(3), "/lib/x\x00too hot\x00\x00\x00\x00"))
	d.Stream(fixture.DumpMacCrash, uint32(0x4d7a0001), uint32(1), uint32(40), record, [38]uint32{})
	text := func(s string) (b [128]uint16) {
		for i, x := range s {
			b[i] = uint16(x)
		}
		return b
	}
	word := func(s string) uint32 { return d.Put(d.Words(uint32(len(s)), s, uint8(0))).Off }
	d.Stream(fixture.DumpCrashpad, uint32(1), [32]byte{}, d.Put(d.Words(uint32(1), word("ptype"), word("renderer"))), fixture.DumpLocation{})
	d.Stream(fixture.DumpAssertion, text("x > 0"), text("pick"), text("a.c"), uint32(7), uint32(1))
}

func TestJSONHasTheSideStreams(t *testing.T) {
	d := crashed(newDump(press+0x1004, orchard+0x1009))
	addSideStreams(d)
	x := document(t, newBench(t, nil).process(t, d.Bytes(), crash.Options{}))
	for want, got := range map[string]string{
		"map[codename: description: id:Grove release:12]":              at(x, "lsb_release"),
		"map[hard:unlimited name:Max open files soft:1024 unit:files]": at(x, "proc_limits", "limits", 0),
		"map[hard:0 name:Max nice priority soft:0 unit:n/a]":           at(x, "proc_limits", "limits", 1),
		"0x2006e05":           at(x, "system_info", "cpu_microcode_version"),
		"31337":               at(x, "pid"),
		"60":                  at(x, "process_uptime"),
		"2":                   at(x, "linux_memory_map_count"),
		"[first map[code:7]]": at(x, "soft_errors"),
		"[map[handle:64 object_name:<nil> type_name:Event]]": at(x, "handles"),
		"-v":                                     at(x, "mac_boot_args"),
		"0x0000000000000003":                     at(x, "mac_crash_info", "records", 0, "abort_cause"),
		"<nil>":                                  at(x, "mac_crash_info", "records", 0, "dialog_mode"),
		"map[key:ptype value:renderer]":          at(x, "crashpad_info", "annotations", 0),
		"too hot":                                at(x, "mac_crash_info", "records", 0, "message"),
		"x > 0, pick, a.c:7 (invalid parameter)": at(x, "crash_info", "assertion"),
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestJSONHasHints(t *testing.T) {
	d := &fixture.Minidump{Order: binary.LittleEndian, CPU: fixture.DumpAMD64, OS: fixture.DumpLinux}
	d.System()
	context := d.Context(map[string]uint64{"rip": press, "rsp": stack, "rax": 0})
	d.Threads(fixture.DumpThread{ID: 11, StackAddr: stack, Stack: make([]byte, 64), Context: context})
	d.Memory(fixture.DumpRange{Addr: press, Data: append([]byte{0x8b, 0x40, 0x10}, make([]byte, 29)...)}) // mov eax, [rax+0x10]
	x := document(t, newBench(t, nil).process(t, crashed(d).Bytes(), crash.Options{}))
	for want, got := range map[string]string{
		"mov eax, dword [rax + 0x10]":                             at(x, "crash_info", "instruction"),
		"map[kind:null-pointer offset:0x0000000000000010]":        at(x, "crash_info", "adjusted_address"),
		"map[access_type:read address:0x0000000000000010 size:4]": at(x, "crash_info", "memory_accesses", 0),
		"[]": at(x, "crash_info", "crash_inconsistencies"),
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestMissingAndDamagedSymbolsAreReported(t *testing.T) {
	files := map[string][]byte{"libpress.so.sym": []byte("<html>sign in</html>")}
	x := document(t, newBench(t, files).process(t, crashed(newDump(press+0x1004, orchard+0x1009)).Bytes(), crash.Options{}))
	if got := at(x, "modules", 1, "corrupt_symbols"); got != "true" {
		t.Errorf("corrupt_symbols of libpress.so is %s", got)
	}
	if got := at(x, "modules", 0, "missing_symbols"); got != "true" {
		t.Errorf("missing_symbols of orchard is %s", got)
	}
	if got := at(x, "threads", 0, "frames", 0, "missing_symbols"); got != "true" {
		t.Errorf("missing_symbols of a frame is %s", got)
	}
}

func TestFrameInUnloadedModules(t *testing.T) {
	d := crashed(newDump(0x60001000, orchard+0x1009))
	d.Unloaded(fixture.DumpModule{Base: 0x60000000, Size: 0x8000, Name: "gone.so"}, fixture.DumpModule{Base: 0x60001000, Size: 0x8000, Name: "left.so"})
	x := document(t, newBench(t, symbols).process(t, d.Bytes(), crash.Options{}))
	want := "[map[module:gone.so offsets:[0x0000000000001000]] map[module:left.so offsets:[0x0000000000000000]]]"
	if got := at(x, "threads", 0, "frames", 0, "unloaded_modules"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Android's allocator tags pointers in the highest byte, and dumps may have memory at them.
func TestCallersAreFoundBesideMemoryAtTaggedAddresses(t *testing.T) {
	const pc, sp = 0xaaaab0001000, 0xffffc0000000
	d := &fixture.Minidump{Order: binary.LittleEndian, CPU: fixture.DumpARM64, OS: fixture.DumpLinux}
	d.System()
	d.Modules(fixture.DumpModule{Base: pc &^ 0xfff, Size: 0x10000, Name: "/app"})
	d.Memory(fixture.DumpRange{Addr: 0xb400007c12345670, Data: make([]byte, 16)})
	stack := d.Words(make([]byte, 16), uint64(sp+48), uint64(0x0012<<48|pc+0x2000), make([]byte, 16), uint64(0), uint64(0))
	d.Threads(fixture.DumpThread{ID: 1, StackAddr: sp, Stack: stack, Context: d.Context(map[string]uint64{"pc": pc, "sp": sp, "fp": sp + 16})})
	r := newBench(t, nil).process(t, d.Bytes(), crash.Options{})
	if got, want := frames(r.Stacks[0]), "context aaaab0001000; frame_pointer aaaab0002ffc"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Bits above the highest module and memory are those of pointer authentication on ARM.
func TestHighAddressesOfADumpWithoutModulesAreWhole(t *testing.T) {
	const pc, sp = 0xaaaab0001000, 0xffffc0000000
	d := &fixture.Minidump{Order: binary.LittleEndian, CPU: fixture.DumpARM64, OS: fixture.DumpLinux}
	d.System()
	d.Threads(fixture.DumpThread{ID: 1, StackAddr: sp, Stack: make([]byte, 64), Context: d.Context(map[string]uint64{"pc": pc, "sp": sp})})
	r := newBench(t, nil).process(t, d.Bytes(), crash.Options{})
	if got, want := frames(r.Stacks[0]), "context aaaab0001000"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestThreadThatAskedForTheDump(t *testing.T) {
	d := newDump(press+0x1004, orchard+0x1009)
	d.Stream(fixture.DumpBreakpad, uint32(3), uint32(11), uint32(12))
	r := newBench(t, symbols).process(t, d.Bytes(), crash.Options{})
	if r.Requesting != 1 || r.Stacks[0].Absent == "" || len(r.Stacks[0].Frames) > 0 {
		t.Errorf("requesting thread %d, stack of the writer %+v", r.Requesting, r.Stacks[0])
	}
	x := document(t, r)
	if got := at(x, "crash_info", "type") + at(x, "crash_info", "crash_inconsistencies"); got != "<nil><nil>" {
		t.Errorf("the dump has the crash %s", got)
	}
}

func TestOnlyTheRequestingThread(t *testing.T) {
	r := newBench(t, symbols).process(t, crashed(newDump(press+0x1004, orchard+0x1009)).Bytes(), crash.Options{OnlyRequesting: true})
	if len(r.Stacks[0].Frames) == 0 || len(r.Stacks[1].Frames) > 0 {
		t.Errorf("stacks %+v", r.Stacks)
	}
}

func TestFramesOfAllStacksAreLimited(t *testing.T) {
	d := newDump(press+0x1004, 0)
	words := make([]uint64, 0x2000/8)
	for i := range words {
		words[i] = press + 0x1009
	}
	memory := binary.LittleEndian
	long := make([]byte, 8*len(words))
	for i, w := range words {
		memory.PutUint64(long[8*i:], w)
	}
	var threads []fixture.DumpThread
	for i := range 300 {
		threads = append(threads, fixture.DumpThread{
			ID: uint32(i), StackAddr: stack, Context: d.Context(map[string]uint64{"rip": press + 0x1004, "rsp": stack}),
		})
	}
	d.Threads(threads...)
	d.Memory(fixture.DumpRange{Addr: stack, Data: long})
	r := newBench(t, symbols).process(t, d.Bytes(), crash.Options{})
	count, absent := 0, 0
	for _, s := range r.Stacks {
		if count += len(s.Frames); s.Absent != "" {
			absent++
		}
	}
	if count > 1<<17+8*1024 || count < 1<<17 || absent == 0 {
		t.Errorf("%d frames, %d stacks have none", count, absent)
	}
}

func TestWorkOnStacksOfStaleAddressesIsLimited(t *testing.T) {
	d := newDump(press, 0)
	stale := make([]byte, 0x20000)
	for i := 0; i < len(stale); i += 8 {
		binary.LittleEndian.PutUint64(stale[i:], orchard+0x5009) // in no function
	}
	var threads []fixture.DumpThread
	for i := range 800 { // each checks ten thousand addresses
		threads = append(threads, fixture.DumpThread{
			ID: uint32(i), StackAddr: stack, Context: d.Context(map[string]uint64{"rip": press + 0x5004, "rsp": stack}),
		})
	}
	d.Threads(append(threads, thread(d, 999, press+0x1004, stack+0x40000, orchard+0x1009, orchard+0x2008))...)
	d.Memory(fixture.DumpRange{Addr: stack, Data: stale})
	r := newBench(t, symbols).process(t, d.Bytes(), crash.Options{})
	if s := r.Stacks[800]; len(s.Frames) != 1 {
		t.Errorf("the last stack has %d frames, although the limit is reached", len(s.Frames))
	}
}

func TestLastErrorOfWindows(t *testing.T) {
	d := &fixture.Minidump{Order: binary.LittleEndian, CPU: fixture.DumpAMD64, OS: fixture.DumpWindows}
	d.System()
	d.Threads(fixture.DumpThread{ID: 11, TEB: stack})
	block := make([]byte, 0x80)
	block[13*8] = 5
	d.Memory(fixture.DumpRange{Addr: stack, Data: block})
	x := document(t, newBench(t, nil).process(t, d.Bytes(), crash.Options{}))
	if got := at(x, "threads", 0, "last_error_value"); got != "ERROR_ACCESS_DENIED" {
		t.Errorf("got %s", got)
	}
}

func TestExtraData(t *testing.T) {
	for _, text := range []string{
		`{"ModuleSignatureInfo": {"Orchard Inc.": ["orchard"]}, "CPUMicrocodeVersion": "0x1f"}`,
		`{"ModuleSignatureInfo": "{\"Orchard Inc.\": [\"orchard\"]}", "CPUMicrocodeVersion": "0x1f"}`,
	} {
		d, _, err := crash.Open(bin.Bytes(newDump(press).Bytes()))
		if err == nil {
			err = d.AddExtra([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
		r, err := newBench(t, nil).Process(t.Context(), d, crash.Options{})
		if err != nil {
			t.Fatal(err)
		}
		x := document(t, r)
		r.Release()
		got := at(x, "modules_contains_cert_info") + " " + at(x, "modules", 0, "cert_subject") + " " + at(x, "system_info", "cpu_microcode_version")
		if got != "true Orchard Inc. 0x1f" {
			t.Errorf("%s: got %s", text, got)
		}
	}
}

func TestExtraDataIsRefused(t *testing.T) {
	for _, text := range []string{"", "[]", `{"ModuleSignatureInfo": 5}`} {
		if new(crash.Dump).AddExtra([]byte(text)) == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}

// appleReport is a report without most names.
const appleReport = `Process: orchard [1]

Thread 0 Crashed:
0   orchard  0x0000000040001004 0x40000000 + 4100
1   orchard  0x0000000040002008 known + 8
2   orchard  0x0000000040001040 0x40000000 + 4160
3   orchard  0x0000000040001040 orchard + 4160
4   orchard  0x0000000040001040 _mh_execute_header + 4160
5   orchard  0x0000000040009040 orchard + 36928

Binary Images:
0x40000000 - 0x4000ffff orchard x86_64  <0F1E2D3C-4B5A-6978-8796-A5B4C3D2E1F0> /srv/orchard
`

func TestAppleReportIsSymbolicated(t *testing.T) {
	_, r, err := crash.Open(bin.Bytes([]byte(appleReport)))
	if err == nil {
		err = newBench(t, symbols).SymbolicateApple(t.Context(), r, crash.Options{})
	}
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range r.Threads[0].Frames {
		got = append(got, fmt.Sprintf("%s %s:%d %v", f.Symbol, f.File, f.Line, f.Inline))
	}
	want := "[pick ./main.c:3 true harvest ./main.c:7 false known :0 false harvest ./main.c:3 false harvest ./main.c:3 false harvest ./main.c:3 false orchard :0 false]"
	if fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

func TestOtherFilesAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":                                     "the file is empty",
		"MDMP":                                 "MissingHeader",
		"x\n":                                  "the file is a text of another kind",
		"MZ\x90\x00":                           "the file is a Windows program",
		strings.Repeat("\x00", 99):             "the file is of an unknown kind",
		"\x7fELF" + strings.Repeat("\x02", 99): "the file is an ELF program, library or debug file: use it with --symbols",
		string(newCore("/a")[:16]):             "elf, header",
	} {
		if _, _, err := crash.Open(bin.Bytes([]byte(text))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.9q: got %v, want %s", text, err, want)
		}
	}
}

// newCore returns a core file of a process that got signal 11, with a module at a path.
func newCore(file string) []byte {
	words := func(values ...any) []byte { return (&fixture.Minidump{Order: binary.LittleEndian}).Words(values...) }
	note := func(kind uint32, desc []byte) []byte {
		return words(uint32(5), uint32(len(desc)), kind, "CORE\x00\x00\x00\x00", desc, make([]byte, -len(desc)&3))
	}
	registers := make([]uint64, 27)
	registers[16], registers[19] = orchard+0x1004, stack
	status := words(make([]byte, 12), uint16(11), make([]byte, 18), uint32(11), make([]byte, 76), registers, uint64(0))
	signal := append(words(uint32(11), uint32(0), uint32(1), uint32(0), uint64(0x10)), make([]byte, 104)...)
	files := words(uint64(1), uint64(0x1000), uint64(orchard), uint64(orchard+0x10000), uint64(0), file+"\x00")
	notes := append(append(note(1, status), note(0x53494749, signal)...), note(0x46494c45, files)...)
	memory := words(uint64(orchard+0x2008), make([]byte, 0x200))
	segment := func(kind, flags uint32, off int, addr uint64, filesz, memsz int) []byte {
		return words(kind, flags, uint64(off), addr, uint64(0), uint64(filesz), uint64(memsz), uint64(1))
	}
	const head = 64 + 3*56
	out := words("\x7fELF\x02\x01\x01", make([]byte, 9), uint16(4), uint16(62), uint32(1), uint64(0), uint64(64), uint64(0), uint32(0),
		uint16(64), uint16(56), uint16(3), uint16(0), uint16(0), uint16(0))
	out = append(out, segment(4, 0, head, 0, len(notes), 0)...)
	out = append(out, segment(1, 5, head, orchard, 0, 0x10000)...)
	out = append(out, segment(1, 6, head+len(notes), stack, len(memory), len(memory))...)
	return append(append(out, notes...), memory...)
}

func TestCoreFile(t *testing.T) {
	file := path.Join(t.TempDir(), "orchard")
	r := newBench(t, symbols).process(t, newCore(file), crash.Options{})
	x := document(t, r)
	if got, want := at(x, "crash_info", "type")+" "+at(x, "crash_info", "address"), "SIGSEGV / SEGV_MAPERR 0x0000000000000010"; got != want {
		t.Errorf("got crash %s, want %s", got, want)
	}
	if got, want := frames(r.Stacks[0]), "context 40001004; scan 40002007"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := r.LocalFiles(); len(got) != 0 {
		t.Errorf("local files %v, but none exists", got)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := r.LocalFiles(); len(got) != 1 || got[0] != file {
		t.Errorf("got local files %v, want %s", got, file)
	}
}

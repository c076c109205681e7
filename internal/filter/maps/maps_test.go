package maps_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"symbolon/internal/fault"
	"symbolon/internal/filter"
	"symbolon/internal/filter/filtertest"
	"symbolon/internal/filter/maps"
	"symbolon/internal/ident"
	"symbolon/internal/proctest"
)

const kernel = "0000000000000000 A fixed_percpu_data\nffffffff81000000 t early\nffffffff81000000 T _stext\nffffffff81000000 T _text\n" +
	"ffffffff81001230 t do_idle\nnot a symbol\nffffffff81001290 D data\r\n                 U printf\n" +
	"ffffffffc0001010 t nf_hook\t[nf_tables]\nffffffffc0001000 t _RNvC3foo3bar\t[rust]\n"

const jit = "7f01 10 JS:~hot [eval]:1:13\n7f00000 b Builtin: a b\n0x7f01000 20 old\n7f01000 10 new\n\n7f0x 1 y\n"

// look returns the name of an address and the offset in the function.
func look(t *testing.T, text string, a filter.Address) string {
	t.Helper()
	m, err := maps.Read([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	names := maps.Names{Next: filtertest.Names{"other": {1: {{Function: []byte("next")}}}}, Maps: map[string]*maps.Map{"map": m}}
	answer, err := names.Look(t.Context(), &filter.Query{
		Modules:   []ident.Module{{CodeFile: "other"}, {CodeFile: "/tmp/map"}, {CodeFile: "missing"}},
		Addresses: []filter.Address{a, {Module: 0, Addr: 1}, {Module: 0, Space: filter.Named, Addr: 0}},
		Symbols:   []filter.Symbol{{Name: "next", Offset: 1}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Release()
	if missing := answer.Missing(2); missing == nil || answer.Missing(1) != nil || string(answer.Frames(1)[0].Function) != "next" || len(answer.Frames(2)) != 1 {
		t.Errorf("other modules have wrong answers: %v", missing)
	}
	frames := answer.Frames(0)
	if len(frames) == 0 {
		return ""
	}
	return string(frames[0].Function)
}

func TestSymbolsOfAddresses(t *testing.T) {
	for _, c := range []struct {
		text  string
		space filter.Space
		addr  uint64
		want  string
	}{
		{kernel, filter.Linked, 0xffffffff81000000, "_stext"},
		{kernel, filter.Linked, 0xffffffff8100122f, "_stext"},
		{kernel, filter.Linked, 0xffffffff81001230, "do_idle"},
		{kernel, filter.Relative, 0x128f, "do_idle"},
		{kernel, filter.Relative, 0x1290, "data"},
		{kernel, filter.Linked, 0xffffffffc0001000, "foo::bar"},
		{kernel, filter.Linked, 0xffffffffc0001fff, "nf_hook"},
		{kernel, filter.Linked, 0xffffffffc0002000, ""},
		{kernel, filter.Offset, 0xffffffff81001230, ""},
		{jit, filter.Linked, 0x7f00, ""},
		{jit, filter.Linked, 0x7f01, "JS:~hot [eval]:1:13"},
		{jit, filter.Linked, 0x7f11, ""},
		{jit, filter.Linked, 0x7f0000a, "Builtin: a b"},
		{jit, filter.Linked, 0x7f0000b, ""},
		{jit, filter.Linked, 0x7f0100f, "new"},
		{jit, filter.Linked, 0x7f01010, ""},
	} {
		if got := look(t, c.text, filter.Address{Module: 1, Space: c.space, Addr: c.addr}); got != c.want {
			t.Errorf("%#x is in %q, want %q", c.addr, got, c.want)
		}
	}
	after := filter.Address{Module: 1, Space: filter.Linked, IsReturn: true, Addr: 0xffffffff81001290}
	if got := look(t, kernel, after); got != "do_idle" {
		t.Errorf("a return address is in %q, want that of the call", got)
	}
}

func TestUnusableListsAreRejected(t *testing.T) {
	for text, want := range map[string]fault.Kind{
		"": fault.Malformed, "\n": fault.Malformed, "a b\n": fault.Malformed, "x 10 name\n": fault.Malformed,
		"0000000000000000 T _text\n0000000000000000 t f\t[m]\n": fault.Denied,
	} {
		_, err := maps.Read([]byte(text))
		if fault.KindOf(err) != want || err == nil {
			t.Errorf("%q: %v, want %v", text, err, want)
		}
		if maps.Is([]byte(text)) != (want == fault.Denied) {
			t.Errorf("%q: not recognized as it is read", text)
		}
	}
}

func TestSymbolsOfThisKernel(t *testing.T) {
	text, err := os.ReadFile("/proc/kallsyms")
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the system has no /proc/kallsyms")
	} else if err != nil {
		t.Fatal(err)
	}
	if _, err := maps.Read(text); err != nil {
		if denied, ok := errors.AsType[*fault.Error](err); ok && denied.Kind == fault.Denied {
			return // the kernel hides its addresses, and that is the error for it
		}
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^([0-9a-f]{16}) T (schedule)$`).FindStringSubmatch(string(text))
	if line == nil {
		t.Fatal("the kernel has no symbol schedule")
	}
	addr, _ := strconv.ParseUint(line[1], 16, 64)
	if got := look(t, string(text), filter.Address{Module: 1, Space: filter.Linked, Addr: addr + 1}); got != "schedule" {
		t.Errorf("%s+1 is in %q, want schedule", line[1], got)
	}
}

func TestSymbolsOfNode(t *testing.T) {
	cmd := exec.Command(proctest.Program(t, "node"), "--perf-basic-prof",
		"-e", "function hot(n){let s=0;for(let i=0;i<n;i++)s+=i%7;return s};for(let i=0;i<1000;i++)hot(1000)")
	cmd.Dir = t.TempDir() // for its logs
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("node cannot write a map: %v\n%s", err, out)
	}
	name := fmt.Sprintf("/tmp/perf-%d.map", cmd.Process.Pid)
	t.Cleanup(func() { os.Remove(name) })
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^([0-9a-f]+) [0-9a-f]+ (JS:\S?hot .*)$`).FindStringSubmatch(string(text))
	if line == nil || !maps.Is(text) {
		t.Fatalf("not recognized: %.200s", text)
	}
	addr, _ := strconv.ParseUint(line[1], 16, 64)
	if got := look(t, string(text), filter.Address{Module: 1, Space: filter.Linked, Addr: addr + 1}); !strings.HasPrefix(got, "JS:") {
		t.Errorf("%s+1 is in %q, want a function of JavaScript", line[1], got)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(kernel, uint64(0xffffffff81001230))
	f.Add(jit, uint64(0x7f01))
	f.Fuzz(func(t *testing.T, text string, addr uint64) {
		if _, err := maps.Read([]byte(text)); (err == nil || fault.KindOf(err) == fault.Denied) != maps.Is([]byte(text)) {
			t.Fatalf("recognized in another way than read: %v", err)
		} else if err == nil {
			look(t, text, filter.Address{Module: 1, Space: filter.Linked, Addr: addr})
		}
	})
}

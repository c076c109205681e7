package standin_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"symbolon/internal/fixture"
	"symbolon/internal/standin"
)

func TestNameOfTheProgramSelectsTheTool(t *testing.T) {
	is := func(name string, want standin.Tool) bool {
		return reflect.ValueOf(standin.For(name)).Pointer() == reflect.ValueOf(want).Pointer()
	}
	addr2line, llvmSymbolizer := standin.For("addr2line"), standin.For("llvm-symbolizer")
	for _, name := range []string{
		"addr2line", "/usr/bin/addr2line", `C:\tools\addr2line.exe`, "x86_64-linux-gnu-addr2line", "aarch64-none-elf-addr2line-12",
	} {
		if !is(name, addr2line) {
			t.Errorf("%s is not addr2line", name)
		}
	}
	for _, name := range []string{"llvm-symbolizer", "./llvm-symbolizer-14", "llvm-symbolizer-14.0.6.EXE", "x-llvm-symbolizer"} {
		if !is(name, llvmSymbolizer) {
			t.Errorf("%s is not llvm-symbolizer", name)
		}
	}
	llvmAddr2line := standin.For("llvm-addr2line")
	for _, name := range []string{"llvm-addr2line-19", "aarch64-linux-android-llvm-addr2line"} {
		if !is(name, llvmAddr2line) || is(name, addr2line) {
			t.Errorf("%s is not llvm-addr2line", name)
		}
	}
	for _, name := range []string{"symbolon", "symbolon-1.2", "addr2line-x", "myaddr2line", "/addr2line/symbolon"} {
		if standin.For(name) != nil {
			t.Errorf("%s is a tool", name)
		}
	}
}

// program writes an ELF file without debug information, in which several
// symbols share an address.
func program(t *testing.T) string {
	t.Helper()
	e := &fixture.ELF{Wide: true, Type: 2, Machine: 62}
	text := e.Add(fixture.ELFSection{Name: ".text", Type: 1, Flags: 6, Addr: 0x401000, Data: make([]byte, 0x100)})
	e.Segment(fixture.ELFSegment{Type: 1, Flags: 5, Vaddr: 0x400000, Filesz: 0x2000, Memsz: 0x2000})
	e.Symtab(".symtab", 2,
		fixture.ELFSymbol{Name: "first", Value: 0x401000, Size: 0x20, Kind: 2, Section: text},
		fixture.ELFSymbol{Name: "inner", Value: 0x401000, Size: 0x10, Kind: 2, Section: text},
		fixture.ELFSymbol{Name: "last", Value: 0x401000, Size: 0x20, Kind: 2, Bind: 1, Section: text},
		fixture.ELFSymbol{Name: "_ZN2ns1fEi.isra.0.cold", Value: 0x401020, Size: 0x10, Kind: 2, Section: text},
		fixture.ELFSymbol{Name: "label", Value: 0x401040, Section: text},
		fixture.ELFSymbol{Name: "_ZN2ns3jarEv", Value: 0x401080, Kind: 2, Section: text},
	)
	name := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(name, e.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

func output(t *testing.T, args ...string) string {
	t.Helper()
	var out, stderr bytes.Buffer
	env := &standin.Env{Getenv: func(string) string { return "" }, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &stderr}
	if code := standin.For(args[0])(t.Context(), env, args); code != 0 || stderr.Len() > 0 {
		t.Fatalf("%v: %d, %s", args, code, &stderr)
	}
	return out.String()
}

func TestEachToolHasItsChoiceAmongSymbolsOfOneAddress(t *testing.T) {
	name := program(t)
	got := output(t, "addr2line", "-fCpe", name, "401004", "401014", "401024", "401044", "402000")
	want := "inner at ??:?\nfirst at ??:?\nns::f(int) [clone .isra.0] [clone .cold] at ??:?\nlabel at ??:?\n?? ??:0\n"
	if got != want {
		t.Errorf("addr2line: got\n%swant\n%s", got, want)
	}
	got = output(t, "llvm-symbolizer", "--llvm=14", "--output-style=GNU", "-pe", name, "0x401004", "0x401014", "0x401024", "0x401030")
	want = "last at ??:0\nlast at ??:0\nns::f(int) (.isra.0.cold) at ??:0\n?? at ??:0\n"
	if got != want {
		t.Errorf("llvm-symbolizer: got\n%swant\n%s", got, want)
	}
}

func TestAddressesMayBeRelativeToASection(t *testing.T) {
	got := output(t, "addr2line", "-j", ".text", "-afe", program(t), "24")
	if want := "0x0000000000000024\n_ZN2ns1fEi.isra.0.cold\n??:?\n"; got != want {
		t.Errorf("got %s", got)
	}
	const corpus = "../object/testdata/corpus/"
	for name, text := range map[string]uint64{
		"pe-x86_64.exe": 0x140001000, "pe-i386.exe": 0x401000, "win-i686.exe": 0x401000, "macho-x86_64.dylib": 0x330, "gcc-dwarf5": 0x401000,
	} {
		at := func(addr uint64, more ...string) string {
			return output(t, append([]string{"addr2line", "-f", "-i", "-e", corpus + name, fmt.Sprintf("%#x", addr)}, more...)...)
		}
		for off := uint64(0); off < 0x40; off += 8 {
			if got, want := at(off, "-j", ".text"), at(text+off); got != want || strings.HasPrefix(got, "??") {
				t.Errorf("%s: %#x: got\n%swant\n%s", name, off, got, want)
			}
		}
		if got := at(0x4000, "-j", ".text"); got != "??\n??:0\n" {
			t.Errorf("%s: after the section: got\n%s", name, got)
		}
	}
}

func TestAddr2lineAnswersSymbolsWithOffsets(t *testing.T) {
	name := program(t)
	for query, want := range map[string]string{
		"first+": "0000000000401000: inner", " label + 0x10 more\n": "0000000000401050: label", "inner+017": "000000000040100f: inner",
		"ns::f(int) [clone .isra.0] [clone .cold]+1": "0000000000000000: ??", "f+": "0000000000000000: ??", "zest": "0000000000000000: ??",
		"_ZN2ns1fEi.isra.0.cold+0x1": "0000000000401021: _ZN2ns1fEi.isra.0.cold", "facade": "0000000000facade: ??", "ns::jar()+4": "0000000000401084: _ZN2ns3jarEv", "401004": "0000000000401004: inner",
	} {
		if got := output(t, "addr2line", "-afpe", name, query); !strings.HasPrefix(got, "0x"+want+" ") {
			t.Errorf("%q: got %s", query, got)
		}
	}
}

func TestLastPartHasNoScopes(t *testing.T) {
	for name, want := range map[string]string{
		"f": "f", "ns::f": "f", "a::b<c::d>::e<f::g>": "e<f::g>", "(anonymous namespace)::f": "f",
		"a::operator<": "operator<", "a::operator->": "operator->", "a::operator b::c": "operator b::c",
		"f(int)::{lambda(x::y)#1}::operator()": "operator()", "a::~b": "~b", "": "", "a::": "",
		"-[Jar set::]": "-[Jar set::]", "ns::+[Jar(Pip) set::]": "+[Jar(Pip) set::]",
	} {
		if got := standin.LastPart(name); got != want {
			t.Errorf("%q: %q", name, got)
		}
	}
}

func TestNamesAreSpelledLikeLLVM(t *testing.T) {
	for name, want := range map[string]string{
		"a<b<c>>::d<e<f>> ()":                  "a<b<c> >::d<e<f> > ()",
		"a::operator>>":                        "a::operator>>",
		"std::operator<<<char>(int)":           "std::operator<<<char>(int)",
		"f(int) [clone .part.0]":               "f(int) (.part.0)",
		"f(int) [clone .isra.0] [clone .cold]": "f(int) (.isra.0.cold)",
		"f(int) (.isra.0) (.cold)":             "f(int) (.isra.0.cold)",
		"f(a) (b)":                             "f(a) (b)",
	} {
		if got := standin.LLVMSpelling(name); got != want {
			t.Errorf("%q: %q", name, got)
		}
	}
}

func TestWordsAreSplitLikeAShell(t *testing.T) {
	got := standin.Words("a  'b c' \"d 'e'\"f\\ g ''\n\th\\\"")
	if want := []string{"a", "b c", "d 'e'f g", "", "h\""}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
}

func TestNestingOfArgumentFilesIsBounded(t *testing.T) {
	name := filepath.Join(t.TempDir(), "args")
	if err := os.WriteFile(name, []byte("x @"+name), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := standin.Expand([]string{"@" + name}); len(got) != standin.MaxNesting+1 || got[standin.MaxNesting] != "@"+name {
		t.Errorf("%q", got)
	}
}

func TestLibraryKeepsAFewFilesOpen(t *testing.T) {
	var l standin.Library
	dir := t.TempDir()
	first := l.Open(dir, "")
	for i := range standin.MaxOpen {
		l.Open(filepath.Join(dir, strings.Repeat("x", i+1)), "")
	}
	if n := l.Len(); n != standin.MaxOpen {
		t.Errorf("%d files are open", n)
	}
	if l.Open(dir, "") == first {
		t.Error("the file that was used first is still open")
	}
}

func TestAddr2linePrintsTheSectionAndFileOfSymbols(t *testing.T) {
	e := &fixture.ELF{Wide: true, Type: 2, Machine: 62}
	text := e.Add(fixture.ELFSection{Name: ".init", Type: 1, Flags: 6, Addr: 0x401000, Data: make([]byte, 0x18)})
	e.Add(fixture.ELFSection{Name: ".plt", Type: 1, Flags: 6, Addr: 0x401020, Data: make([]byte, 0x40)})
	e.Segment(fixture.ELFSegment{Type: 1, Flags: 5, Vaddr: 0x400000, Filesz: 0x2000, Memsz: 0x2000})
	e.Symtab(".symtab", 2,
		fixture.ELFSymbol{Name: "crt.c", Kind: 4, Section: 0xfff1},
		fixture.ELFSymbol{Name: "start", Value: 0x401000, Kind: 2, Section: text},
		fixture.ELFSymbol{Name: "", Kind: 4, Section: 0xfff1},
		fixture.ELFSymbol{Name: "local", Value: 0x401008, Kind: 2, Section: text},
		fixture.ELFSymbol{Name: "_init", Value: 0x401010, Kind: 2, Bind: 1, Section: text},
	)
	name := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(name, e.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	got := output(t, "addr2line", "-fpe", name, "401004", "40100c", "401014", "401024")
	if want := "start at crt.c:?\nlocal at :?\n_init at ??:?\n?? ??:0\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

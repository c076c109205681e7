package standin_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/fixture"
	"symbolon/internal/format/wasm"
	"symbolon/internal/standin"
)

// tagged writes an ELF file with local symbols of two source files and one whose
// address has a tag.
func tagged(t *testing.T) string {
	t.Helper()
	e := &fixture.ELF{Wide: true, Type: 2, Machine: 62}
	text := e.Add(fixture.ELFSection{Name: ".text", Type: 1, Flags: 6, Addr: 0x401000, Data: make([]byte, 0x100)})
	data := e.Add(fixture.ELFSection{Name: ".data", Type: 1, Flags: 3, Addr: 0x402000, Data: make([]byte, 0x100)})
	note := e.Add(fixture.ELFSection{Name: ".note", Type: 1, Data: make([]byte, 0x10)})
	e.Segment(fixture.ELFSegment{Type: 1, Flags: 5, Vaddr: 0x400000, Filesz: 0x3000, Memsz: 0x3000})
	e.Symtab(".symtab", 2,
		fixture.ELFSymbol{Name: "first.c", Kind: 4, Section: 0xfff1},
		fixture.ELFSymbol{Name: "one", Value: 0x401000, Size: 0x10, Kind: 2, Section: text},
		fixture.ELFSymbol{Name: "second.c", Kind: 4, Section: 0xfff1},
		fixture.ELFSymbol{Name: "two", Value: 0x401010, Size: 0x10, Kind: 2, Section: text},
		fixture.ELFSymbol{Name: "datum", Value: 0x2a<<56 | 0x402000, Size: 0x10, Kind: 1, Section: data},
		fixture.ELFSymbol{Name: "unloaded", Value: 0x402020, Size: 0x10, Kind: 1, Section: note},
		fixture.ELFSymbol{Name: "shared", Value: 0x401020, Size: 0x10, Kind: 2, Bind: 1, Section: text},
	)
	name := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(name, e.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestLocalSymbolsHaveTheirSourceFile(t *testing.T) {
	got := output(t, "llvm-symbolizer", "-pe", tagged(t), "0x401004", "0x401014", "0x401024")
	if want := "one at first.c:0:0\n\ntwo at second.c:0:0\n\nshared at ??:0:0\n\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// labelled writes a Mach-O file for two processors. The function at 0x1160 has no symbol.
func labelled(t *testing.T) string {
	t.Helper()
	image := func(cpu uint32, name string) *fixture.MachO {
		m := fixture.NewMachO(cpu, 0, fixture.MachODylib)
		m.Segment("__TEXT", 0x1000, 0x1000, fixture.MachOSection{Name: "__text", Addr: 0x1100, Data: make([]byte, 0x100), Flags: fixture.MachOCode})
		m.Segment("__DATA", 0x2000, 0x1000, fixture.MachOSection{Name: "__data", Addr: 0x2000, Data: make([]byte, 0x20)})
		m.Symbol("_first", 0x0f, 1, 0, 0x1100).Symbol(name, 0x0e, 1, 0, 0x1100).Symbol("_f.cold.1", 0x0e, 1, 0, 0x1140)
		m.Symbol("-[Jar set::]", 0x0e, 1, 0, 0x1180).Symbol("__hidden#1_", 0x0e, 1, 0, 0x1190).Symbol("_datum", 0x0f, 2, 0, 0x2000)
		m.Symbol("_datum", 0x20, 2, 0, 0x2000).Symbol("_inside", 0x26, 2, 0, 0x2018) // for debuggers
		return m.Symtab().FunctionStarts(0x100, 0x40, 0x20, 0x20, 0x10)
	}
	name := filepath.Join(t.TempDir(), "lib.dylib")
	if err := os.WriteFile(name, fixture.MachOFat(false, image(fixture.MachOX64, "_of_x86"), image(fixture.MachOARM64, "_of_arm")), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestSymbolsOfMachOAreThoseThatLLVMChooses(t *testing.T) {
	name := labelled(t)
	for addr, want := range map[string]string{
		"0x1104": "of_arm", "0x1144": "f.cold.1", "0x1170": "f.cold.1", "0x1184": "-[Jar set::]", "0x1194": "__hidden#1_", "0x1200": "??", "0x2008": "datum", "0x10ff": "??",
	} {
		if got := output(t, "llvm-symbolizer", "--default-arch=arm64", "-e", name, addr); got != want+"\n??:0:0\n\n" {
			t.Errorf("%s: got\n%swant %s", addr, got, want)
		}
	}
	if got := output(t, "llvm-symbolizer", "-e", name+":x86_64", "0x1104"); got != "of_x86\n??:0:0\n\n" {
		t.Errorf("x86_64: got\n%s", got)
	}
	if got, want := output(t, "llvm-symbolizer", "-e", name+":arm64", "DATA 0x2008"), "datum\n8192 24\n??:?\n\n"; got != want {
		t.Errorf("data: got\n%swant\n%s", got, want)
	}
}

func TestBundleIsADirectoryAsToLLVM(t *testing.T) {
	bundle := filepath.Join(t.TempDir(), "lib.dSYM")
	inside := filepath.Join(bundle, "Contents", "Resources", "DWARF")
	if err := os.MkdirAll(inside, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(labelled(t), filepath.Join(inside, "lib")); err != nil {
		t.Fatal(err)
	}
	var out, stderr bytes.Buffer
	env := &standin.Env{Getenv: func(string) string { return "" }, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &stderr}
	standin.For("llvm-symbolizer")(t.Context(), env, []string{"llvm-symbolizer", "-e", bundle, "0x1104"})
	if out.Len() > 0 || !strings.Contains(stderr.String(), "Is a directory") {
		t.Errorf("got %q and the error %q", &out, &stderr)
	}
}

func TestShortNameOfABlockIsReadable(t *testing.T) {
	const source = "extern void take(void (^)(int)); void fill(int n) { take(^(int k) { take(0); }); }\n"
	object := compile(t, "jar.cc", source, "arm64-apple-macos13", "-g", "-fblocks", "-O1")
	for flag, want := range map[string]string{"--demangle": "invocation function for block in fill(int)", "--no-demangle": "___Z4filli_block_invoke"} {
		got := output(t, "llvm-symbolizer", "-f=short", flag, "-e", object, "___Z4filli_block_invoke")
		if name, _, _ := strings.Cut(got, "\n"); name != want {
			t.Errorf("%s: got %s, want %s", flag, name, want)
		}
	}
}

func TestMarksOfTheAssemblerAreNoSymbols(t *testing.T) {
	e := &fixture.ELF{Wide: true, Type: 1, Machine: 243} // RISC-V
	text := e.Add(fixture.ELFSection{Name: ".text", Type: 1, Flags: 6, Data: make([]byte, 0x100)})
	e.Symtab(".symtab", 2,
		fixture.ELFSymbol{Name: "f", Value: 0x10, Bind: 1, Section: text},
		fixture.ELFSymbol{Name: "$x", Value: 0x14, Section: text},
		fixture.ELFSymbol{Name: "$d.1", Value: 0x18, Section: text},
		fixture.ELFSymbol{Name: ".L0 ", Value: 0x1c, Section: text},
	)
	name := filepath.Join(t.TempDir(), "a.o")
	if err := os.WriteFile(name, e.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, want := output(t, "llvm-symbolizer", "-e", name, "0x1c"), "f\n??:0:0\n\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestTagsOfSymbolsAreIgnoredOnRequest(t *testing.T) {
	name := tagged(t)
	got := output(t, "llvm-symbolizer", "-e", name, "DATA 0x402008", "DATA 0x402028")
	if want := "datum\n4202496 16\nsecond.c:0\n\n??\n0 0\n??:?\n\n"; got != want {
		t.Errorf("without tags: got\n%swant\n%s", got, want)
	}
	got = output(t, "llvm-symbolizer", "--no-untag-addresses", "-e", name, "DATA 0x402008", "DATA 0x2a00000000402008")
	if want := "??\n0 0\n??:?\n\ndatum\n3026418949597175808 16\nsecond.c:0\n\n"; got != want {
		t.Errorf("with tags: got\n%swant\n%s", got, want)
	}
}

func TestParametersAreCut(t *testing.T) {
	for name, want := range map[string]string{
		"f": "f", "f()": "f", "ns::f(int (*)(char)) const": "ns::f", "S::operator()": "S::operator()", "S::operator()(int)": "S::operator()",
		"?f@@YAXXZ": "?f@@YAXXZ", "(f)": "(f)", "f)": "f)",
	} {
		if got := standin.WithoutParameters(name); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}

func TestDecorationOfCIsCut(t *testing.T) {
	for name, want := range map[string]string{"_f": "f", "_f@8": "f", "@f@8": "f", "f@@8": "f", "__f": "_f", "f": "f", "": "", "_a@b": "a@b", "@1": "1"} {
		if got := standin.PlainC(name); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}

func TestFunctionsOfPDBsHaveTheirPublicNames(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.pdb")
	if err := os.WriteFile(name, fixture.SamplePDB().Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	got := output(t, "llvm-symbolizer", "--no-demangle", "--no-inlines", "-e", name, "0x1020", "0x10b4")
	if want := "?weigh@yard@@YAHH@Z\nc:\\src\\one.cc:6:3\n\nother\n"; !strings.HasPrefix(got, want) {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestFunctionsOfPDBsHaveNoStart(t *testing.T) {
	for _, flag := range []string{"--inlines", "--no-inlines"} {
		got := output(t, "llvm-symbolizer", "--output-style=JSON", flag, "-e", "../object/testdata/corpus/win-x86_64.exe", "0x140001000")
		if strings.Count(got, `"StartAddress":""`) != strings.Count(got, "StartAddress") || !strings.Contains(got, "kiln.cc") {
			t.Errorf("%s: got %s", flag, got)
		}
	}
}

func TestWithoutInlinesAPDBAnswersForTheCalledFunction(t *testing.T) {
	name := filepath.Join("..", "object", "testdata", "corpus", "win-x86_64.pdb")
	got := output(t, "llvm-symbolizer", "--functions=short", "--no-inlines", "-e", name, "0x101c")
	if want := "kiln::load\nc:\\corpus\\src\\kiln.cc:28:"; !strings.HasPrefix(got, want) {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// emsymbolizer has addresses of browsers, which are offsets in the file, and subtracts
// that of the code with --adjust-vma.
func TestAddressesInWebAssemblyCountFromTheCode(t *testing.T) {
	const name = "../object/testdata/corpus/wasm32.wasm"
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	module, err := wasm.Open(bin.Bytes(content))
	if err != nil {
		t.Fatal(err)
	}
	const addr = 0x9b
	for _, args := range [][]string{
		{fmt.Sprintf("%#x", addr-module.CodeOffset())},
		{fmt.Sprintf("--adjust-vma=%#x", module.CodeOffset()), fmt.Sprintf("%#x", addr)},
	} {
		got := output(t, append([]string{"llvm-symbolizer", "--verbose", "-e", name}, args...)...)
		for _, want := range []string{"warm\n  Filename: /corpus/src/tile.h\n", "Function start line: 6\n", "  Line: 8\n"} {
			if !strings.Contains(got, want) {
				t.Errorf("%q: %q is missing in\n%s", args, want, got)
			}
		}
	}
}

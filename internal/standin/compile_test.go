package standin_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"symbolon/internal/proctest"
)

// compile returns an object that clang makes of a source for a target.
func compile(t *testing.T, name, source, target string, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	from, object := filepath.Join(dir, name), filepath.Join(dir, "object.o")
	if err := os.WriteFile(from, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"--target=" + target, "-c", from, "-o", object}, flags...)
	proctest.Run(t, dir, "clang", args...)
	return object
}

func TestAddr2lineOmitsDiscriminatorsInFilesOfWindows(t *testing.T) {
	const source = "int sum(int n) { int s = 0; for (int i = 0; i < n; i++) s += i % 3 ? i * i : -n; return s; }\n"
	for target, want := range map[string]bool{"x86_64-linux-gnu": true, "x86_64-w64-mingw32": false} {
		args := []string{"addr2line", "-e", compile(t, "sum.c", source, target, "-gdwarf-4", "-O1", "-fdebug-info-for-profiling")}
		for at := range 64 {
			args = append(args, fmt.Sprintf("%#x", at))
		}
		if got := output(t, args...); strings.Contains(got, "discriminator") != want {
			t.Errorf("%s: discriminators must be printed: %v; got\n%s", target, want, got)
		}
	}
}

func TestNamesOfCodeViewInObjectsHaveTheirScopes(t *testing.T) {
	object := compile(t, "jar.cc", "namespace ns { int jar(int n) { return n + 1; } }\n", "x86_64-pc-windows-msvc", "-g", "-gcodeview")
	for flag, want := range map[string]string{"--demangle": "ns::jar(int)", "--no-demangle": "?jar@ns@@YAHH@Z", "-f=short": "jar"} {
		if got, _, _ := strings.Cut(output(t, "llvm-symbolizer", flag, "-e", object, "0x4"), "\n"); got != want {
			t.Errorf("%s: got %s, want %s", flag, got, want)
		}
	}
	object = compile(t, "lid.c", "int lid(int n) { return n + 1; }\n", "i686-pc-windows-msvc", "-g", "-gcodeview")
	if got, _, _ := strings.Cut(output(t, "llvm-symbolizer", "-e", object, "0x4"), "\n"); got != "lid" {
		t.Errorf("a function of C: got %s", got)
	}
}

// Sections of an object begin at 0, so a function and a variable may be equal but for
// their places in the table.
func TestSymbolLLVMChoosesIsTheLastOfEqualOnes(t *testing.T) {
	const source = `.text
.globl f
.type f,@function
f: nop
.size f, 1
.data
.type d,@object
d: .byte 0
.size d, 1
`
	object := compile(t, "tie.s", source, "x86_64-linux-gnu")
	for _, query := range []string{"0x0", "DATA 0x0"} {
		if got, _, _ := strings.Cut(output(t, "llvm-symbolizer", "-e", object, query), "\n"); got != "f" {
			t.Errorf("%s: got %s, want f", query, got)
		}
	}
}

func TestSymbolsOfCodeAreFoundByName(t *testing.T) {
	const source = "static int jar(int n) {\n  return n + 1;\n}\nint lid(int n) {\n  return jar(n);\n}\n"
	for target, mark := range map[string]string{
		"x86_64-linux-gnu": "", "x86_64-w64-mingw32": "", "i686-w64-mingw32": "_", "x86_64-apple-macosx11": "",
	} {
		object := compile(t, "pot.c", source, target, "-g")
		for query, want := range map[string]string{
			"jar": "pot.c:1:", "lid": "pot.c:4:", "lid+0xd": "pot.c:5:", "lid+0x4000": "pot.c:4:", "pot": "??:0:",
		} {
			got := output(t, "llvm-symbolizer", "-s", "-e", object, mark+query)
			if _, line, _ := strings.Cut(got, "\n"); !strings.HasPrefix(line, want) {
				t.Errorf("%s: %s: got\n%swant %s", target, query, got, want)
			}
		}
	}
}

// Sections of an object all begin at 0: with the name of one only that answers.
func TestASectionOfAnObjectIsSelectedByItsName(t *testing.T) {
	const source = "int jar(int n) {\n  return n + 1;\n}\nint lid(int n) {\n  return n - 1;\n}\nint pot = 1;\n"
	for target, sections := range map[string]string{
		"x86_64-linux-gnu": ".text.jar .text.lid .data", "x86_64-w64-mingw32": ".text$jar .text$lid .data", "x86_64-apple-macosx11": ".text .text __DATA.__data",
	} {
		object := compile(t, "pot.c", source, target, "-g", "-ffunction-sections")
		for i, section := range strings.Fields(sections) {
			want := [...]string{"jar pot.c:1", "lid pot.c:4", "?? ??:0"}[i]
			if section == ".text" {
				want = "jar pot.c:1"
			}
			got := strings.Join(strings.Fields(output(t, "addr2line", "-s", "-f", "-j", section, "-e", object, "0x1")), " ")
			if got != want {
				t.Errorf("%s: %s: got %s, want %s", target, section, got, want)
			}
		}
	}
}

func TestNamesOfCAreDecoratedOnRequest(t *testing.T) {
	const source = "int __attribute__((stdcall)) jar(int n) { return n + 1; }\n"
	for target, want := range map[string]string{"i686-w64-mingw32": "_jar@4", "i686-pc-windows-msvc": "_jar@4", "x86_64-w64-mingw32": "jar"} {
		object := compile(t, "jar.c", source, target, "-gdwarf-4")
		for flag, want := range map[string]string{"--demangle": "jar", "--no-demangle": want} {
			if got, _, _ := strings.Cut(output(t, "llvm-symbolizer", flag, "-e", object, "0x4"), "\n"); got != want {
				t.Errorf("%s: %s: got %s, want %s", target, flag, got, want)
			}
		}
	}
}

// Those of a DLL are only part of them.
func TestPublicSymbolsOfAPDBAreUsedInsteadOfExports(t *testing.T) {
	const source = "__declspec(dllexport) int jar(int n) { return n + 1; }\nint lid(int n) { return n - 1; }\n"
	object := compile(t, "jar.c", source, "x86_64-pc-windows-msvc", "-O1")
	dll := filepath.Join(filepath.Dir(object), "jar.dll")
	proctest.Run(t, filepath.Dir(object), "lld-link", "/dll", "/noentry", "/debug", "/out:"+dll, object)
	got := strings.Fields(output(t, "llvm-symbolizer", "--relative-address", "-e", dll, "0x1000", "0x1010"))
	if strings.Join(got, " ") != "jar ??:0:0 lid ??:0:0" {
		t.Errorf("got %s", got)
	}
}

func TestMarkupOfASanitizerIsNamed(t *testing.T) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("the program is for Linux on x86-64")
	}
	const source = "#include <stdlib.h>\nint lid(volatile char *p) {\n  return p[1];\n}\nint main(void) {\n  char *p = malloc(4);\n  free(p);\n  return lid(p);\n}\n"
	object := compile(t, "jar.c", source, "x86_64-linux-gnu", "-g", "-fsanitize=address")
	dir := filepath.Dir(object)
	folder := filepath.Join(dir, ".build-id", "ab")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(folder, "cdef.debug")
	proctest.Run(t, dir, "clang", "-fsanitize=address", "-Wl,--build-id=0xabcdef", "-o", program, object)
	t.Setenv("ASAN_OPTIONS", "enable_symbolizer_markup=1:symbolize=0:exitcode=0:log_path=stdout")
	log := proctest.Run(t, dir, program)
	if !strings.Contains(log, "{{{bt:") {
		t.Skip("the sanitizers of clang do not have enable_symbolizer_markup")
	}
	got, _ := markupOf(t, log, "--debug-file-directory="+dir)
	for _, want := range []string{" lid " + filepath.Join(dir, "jar.c") + ":3:", " main " + filepath.Join(dir, "jar.c") + ":8:"} {
		if !strings.Contains(got, want) {
			t.Errorf("no line with%s in\n%s", want, got)
		}
	}
}

// edges is a program in which padding follows a function, and a function of C is
// inlined into one of C++.
const edges = `extern "C" {
inline __attribute__((always_inline)) int lid(volatile int *n) { return *n; }
}
namespace ns { int jar(volatile int *n) { return lid(n); } }
asm(".p2align 6");
int pot(volatile int *n) { return *n; }
`

func TestLinesBetweenFunctionsOfDWARF2AreFound(t *testing.T) {
	for _, version := range []string{"2", "4"} {
		object := compile(t, "edges.cc", edges, "x86_64-linux-gnu", "-gdwarf-"+version, "-O1", "-gcolumn-info", "-fno-asynchronous-unwind-tables")
		if got := output(t, "llvm-symbolizer", "-s", "-e", object, "0x8"); got != "??\nedges.cc:4:43\n\n" {
			t.Errorf("DWARF %s: got\n%s", version, got)
		}
	}
}

func TestAddr2lineNamesPaddingByTheFunctionBefore(t *testing.T) {
	object := compile(t, "edges.cc", edges, "x86_64-linux-gnu", "-gdwarf-4", "-O1")
	if got := output(t, "addr2line", "-fse", object, "0x3", "0x8"); got != "_ZN2ns3jarEPVi\nedges.cc:4\n_ZN2ns3jarEPVi\nedges.cc:4\n" {
		t.Errorf("the end of a function and the padding after it: got\n%s", got)
	}
	if got := output(t, "addr2line", "-fse", object, "0x1000"); got != "??\n??:0\n" {
		t.Errorf("after the end of the section: got\n%s", got)
	}
}

func TestAddr2lineNamesAnInlinedCallWithoutAMangledNameLikeItsCaller(t *testing.T) {
	object := compile(t, "edges.cc", edges, "x86_64-linux-gnu", "-gdwarf-4", "-O1")
	if got := output(t, "addr2line", "-fsie", object, "0x0"); got != "_ZN2ns3jarEPVi\nedges.cc:2\n_ZN2ns3jarEPVi\nedges.cc:4\n" {
		t.Errorf("got\n%s", got)
	}
}

// gcc compiles jar.c with GCC in a new folder, and returns that folder.
func gcc(t *testing.T, source string, flags ...string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "jar.c"), []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	proctest.Run(t, dir, "gcc", append(flags, "jar.c")...)
	return dir
}

func TestAddr2lineReadsTheSymbolsOfTheDebugFile(t *testing.T) {
	const source = "asm(\".text; .type lid,@function; lid: ret; .size lid,.-lid\");\nint jar(void) { return 1; }\n"
	dir := gcc(t, source, "-g", "-shared", "-nostdlib", "-Wl,-Ttext=0x1000", "-o", "jar.so")
	proctest.Run(t, dir, "objcopy", "--only-keep-debug", "jar.so", "jar.debug")
	proctest.Run(t, dir, "objcopy", "--strip-all", "--add-gnu-debuglink=jar.debug", "jar.so")
	if got := output(t, "addr2line", "-fpe", filepath.Join(dir, "jar.so"), "0x1000"); got != "lid at jar.c:?\n" {
		t.Errorf("got %s", got)
	}
}

func TestLinesOfSourceAreAlignedLikeThoseOfLLVM(t *testing.T) {
	object := compile(t, "pot.c", "\n\n\n\n\n\n\nint pot(void) {\n  return 1;\n}\n\n", "x86_64-linux-gnu", "-g", "-O1")
	for lines, want := range map[string]string{
		"4": "7  : \n8  : int pot(void) {\n9 >:   return 1;\n10  : }\n",
		"5": " 7  : \n 8  : int pot(void) {\n 9 >:   return 1;\n10  : }\n11  : \n",
	} {
		_, got, _ := strings.Cut(output(t, "llvm-symbolizer", "--print-source-context-lines="+lines, "-e", object, "0"), "pot.c:9:3\n")
		if got != want+"\n" {
			t.Errorf("%s lines: got\n%s", lines, got)
		}
	}
}

func TestShortNamesOfCallersWithoutACallSiteAreKept(t *testing.T) {
	const source = "static inline __attribute__((always_inline)) int lid(volatile int *n) { return *n; }\nint jar(volatile int *n) { return lid(n); }\n"
	dir := gcc(t, source, "-O1", "-gdwarf-2", "-gstrict-dwarf", "-c", "-o", "jar.o")
	got := output(t, "llvm-symbolizer", "-f=short", "-s", "-e", filepath.Join(dir, "jar.o"), "0")
	if !strings.HasPrefix(got, "lid\njar.c:1:") || !strings.HasSuffix(got, "\njar\n??:0:0\n\n") {
		t.Errorf("got\n%s", got)
	}
}

func TestNumbersOfNestedFunctionsAreNotPartOfNamesInTheSource(t *testing.T) {
	const source = "int jar(int n) {\n  int lid(int k) { return k + n; }\n  int (*volatile f)(int) = lid;\n  return f(n);\n}\n"
	dir := gcc(t, source, "-O1", "-g", "-c", "-o", "jar.o")
	object := filepath.Join(dir, "jar.o")
	for want, args := range map[string][]string{"lid.0": {"llvm-symbolizer"}, "lid\njar.c:2": {"addr2line", "-sf"}, "lid\njar.c:2:": {"llvm-symbolizer", "-s", "-f=short"}} {
		if got := output(t, append(args, "-e", object, "0x0")...); !strings.HasPrefix(got, want) {
			t.Errorf("%v: got\n%s", args, got)
		}
	}
}

func TestAddr2lineFindsTheFileOfAGlobalSymbolInAnObject(t *testing.T) {
	object := compile(t, "pot.c", "int lid(int n) { return n + 1; }\n", "x86_64-linux-gnu")
	if got := output(t, "addr2line", "-fpe", object, "0x0"); got != "lid at pot.c:?\n" {
		t.Errorf("addr2line: got %s", got)
	}
	if got := output(t, "llvm-symbolizer", "-e", object, "0x0"); got != "lid\n??:0:0\n\n" {
		t.Errorf("llvm-symbolizer: got %s", got)
	}
}

package standin_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// compile returns an object that clang makes of a source for a target.
func compile(t *testing.T, name, source, target string, flags ...string) string {
	t.Helper()
	if _, err := exec.LookPath("clang"); err != nil {
		t.Skip("clang is not installed")
	}
	dir := t.TempDir()
	from, object := filepath.Join(dir, name), filepath.Join(dir, "object.o")
	if err := os.WriteFile(from, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"--target=" + target, "-c", from, "-o", object}, flags...)
	if out, err := exec.Command("clang", args...).CombinedOutput(); err != nil {
		t.Fatalf("compile for %s: %v\n%s", target, err, out)
	}
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

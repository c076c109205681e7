package standin_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestAddr2lineOmitsDiscriminatorsInFilesOfWindows(t *testing.T) {
	if _, err := exec.LookPath("clang"); err != nil {
		t.Skip("clang is not installed")
	}
	dir := t.TempDir()
	source := filepath.Join(dir, "sum.c")
	if err := os.WriteFile(source, []byte("int sum(int n) { int s = 0; for (int i = 0; i < n; i++) s += i % 3 ? i * i : -n; return s; }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for target, want := range map[string]bool{"x86_64-linux-gnu": true, "x86_64-w64-mingw32": false} {
		object := filepath.Join(dir, target+".o")
		out, err := exec.Command("clang", "--target="+target, "-g", "-gdwarf-4", "-O1", "-fdebug-info-for-profiling", "-c", source, "-o", object).CombinedOutput()
		if err != nil {
			t.Fatalf("compile for %s: %v\n%s", target, err, out)
		}
		args := []string{"addr2line", "-e", object}
		for at := range 64 {
			args = append(args, fmt.Sprintf("%#x", at))
		}
		if got := output(t, args...); strings.Contains(got, "discriminator") != want {
			t.Errorf("%s: discriminators must be printed: %v; got\n%s", target, want, got)
		}
	}
}

package main

import (
	"bytes"
	"debug/elf"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"symbolon/internal/proctest"
)

// deepProgram crashes below a callback of the C library.
const deepProgram = `#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define OWN __attribute__((noinline))
static volatile int *null;
OWN int sink(int *a, int n) { int i, s = 0; for (i = 0; i < n; i++) s += a[i]; null[16] = s; return s; }
OWN int gather(int n) { int a[40], i; for (i = 0; i < 40; i++) a[i] = i * n; return sink(a, 40) + a[n % 40]; }
OWN int compare(const void *a, const void *b) { int x = *(const int *)a, y = *(const int *)b; return gather(x + y) + (x < y); }
OWN int sorted(int n) { int a[8], i; for (i = 0; i < 8; i++) a[i] = (i * 7 + n) % 5; qsort(a, 8, sizeof a[0], compare); return a[0]; }
OWN int again(int n) { char b[200]; if (n == 0) return sorted(n) + 1; snprintf(b, sizeof b, "%d", n); return again(n - 1) + (int)strlen(b); }
int main(int argc, char **argv) { return again(argc + 2) + 1; }
`

// stack of deepProgram, without the frames of libraries.
const deepStack = "sink gather compare sorted again again again again main _start"

// crashOf compiles deepProgram in a folder, runs it without its symbols, and returns
// its core file and the program with symbols.
func crashOf(t *testing.T, dir string, flags ...string) (core, full string) {
	t.Helper()
	full, program := filepath.Join(dir, "full"), filepath.Join(dir, "program")
	source := filepath.Join(dir, "program.c")
	if err := os.WriteFile(source, []byte(deepProgram), 0o600); err != nil {
		t.Fatal(err)
	}
	proctest.Run(t, dir, "gcc", append([]string{"-w", "-o", full, source}, flags...)...)
	proctest.Run(t, dir, "strip", "-o", program, full)
	if core = proctest.KernelCore(t, dir, "./program"); core == "" {
		core = proctest.GDBCore(t, dir, "./program")
	}
	return core, full
}

// functionsOf returns the functions of the frames of the crashed thread that are in the
// program, by its symbols, and "?" for other addresses there.
func functionsOf(t *testing.T, full string, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	line := append([]string{"crash", "--json", "--symbols", t.TempDir()}, args...)
	if code := run(t.Context(), line, &env{stdin: strings.NewReader(""), stdout: &out, stderr: &errs}); code != exitDone {
		t.Fatalf("exit %d: %s", code, &errs)
	}
	var doc struct {
		Crashing struct {
			Frames []struct {
				Module string `json:"module"`
				Offset string `json:"module_offset"`
			} `json:"frames"`
		} `json:"crashing_thread"`
	}
	file, err := elf.Open(full)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	symbols, err := file.Symbols()
	if err == nil {
		err = json.Unmarshal(out.Bytes(), &doc)
	}
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range doc.Crashing.Frames {
		if f.Module != "program" {
			continue
		}
		name := "?"
		offset, _ := strconv.ParseUint(f.Offset, 0, 64)
		for _, s := range symbols {
			if elf.ST_TYPE(s.Info) == elf.STT_FUNC && offset-s.Value < s.Size {
				name, _, _ = strings.Cut(s.Name, ".") // without .constprop.0
			}
		}
		names = append(names, name)
	}
	return strings.Join(names, " ")
}

func TestStackOfAProgramWithTheUnwindInformationOfItsStartOnly(t *testing.T) {
	t.Parallel()
	for _, flags := range []string{"-O0", "-O1 -fno-omit-frame-pointer", "-O2", "-O3"} {
		t.Run(flags, func(t *testing.T) {
			core, full := crashOf(t, t.TempDir(), append(strings.Fields(flags), "-fno-asynchronous-unwind-tables", "-Wl,--build-id")...)
			if got := functionsOf(t, full, core); got != deepStack {
				t.Errorf("got %s, want %s", got, deepStack)
			}
		})
	}
}

// explainedCrash returns the text of a crash for people.
func explainedCrash(t *testing.T, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	line := append([]string{"crash", "--explain", "--symbols", t.TempDir()}, args...)
	if code := run(t.Context(), line, &env{stdin: strings.NewReader(""), stdout: &out, stderr: &errs}); code != exitDone {
		t.Fatalf("exit %d: %s", code, &errs)
	}
	return out.String()
}

func TestCoreOfAProgramWithoutABuildIDGetsNames(t *testing.T) {
	t.Parallel()
	dir, other := t.TempDir(), t.TempDir()
	core, full := crashOf(t, dir, "-O1", "-Wl,--build-id=none")
	_, different := crashOf(t, other, "-O0", "-Wl,--build-id=none")
	identified := filepath.Join(dir, "identified")
	proctest.Run(t, dir, "gcc", "-w", "-O1", "-Wl,--build-id", "-o", identified, "program.c")
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	named := filepath.Join(dir, "folder", "program")
	for _, x := range []struct {
		symbols, file string
		isNamed       bool
	}{
		{different, "program", false}, {identified, "program", false}, {full, "program", true},
		{full, "", true}, {filepath.Dir(named), "", true}, {different, "", false},
	} {
		if x.file == "" { // the program was removed, perhaps to the folder
			if err := os.Rename(filepath.Join(dir, "program"), filepath.Join(dir, "removed")); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			if data, err := os.ReadFile(full); err != nil || os.WriteFile(named, data, 0o600) != nil {
				t.Fatalf("copy the program: %v", err)
			}
		}
		got := explainedCrash(t, "--symbols", x.symbols, core)
		assumed := "program has no build id. Its file is assumed to be "
		if isAssumed := strings.Contains(got, assumed); isAssumed != (x.isNamed || x.file != "") {
			t.Errorf("%s, with the program at its path %q: %q is there: %v", x.symbols, x.file, assumed, isAssumed)
		}
		if isNamed := strings.Contains(got, "program!gather"); isNamed != x.isNamed {
			t.Errorf("%s, with the program at its path %q: the names are found: %v", x.symbols, x.file, isNamed)
		}
	}
}

func TestTextOfACoreHasOnlyWhatTheFileTells(t *testing.T) {
	t.Parallel()
	core, _ := crashOf(t, t.TempDir(), "-O0")
	got := explainedCrash(t, core)
	if strings.Contains(got, " CPU\n") {
		t.Errorf("a number of CPUs is printed, which core files do not have: %.80s", got)
	}
	if _, modules, _ := strings.Cut(got, "Loaded modules:"); !strings.Contains(modules, "  [vdso]  ") {
		t.Errorf("the vdso has another name: %.400s", modules)
	}
}

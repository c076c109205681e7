package core_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/format/core"
	"symbolon/internal/proctest"
)

// program crashes in its first of two threads.
const program = `
#include <pthread.h>
#include <unistd.h>
static volatile int *null;
static int ready[2];
static void *work(void *a) { write(ready[1], "", 1); pause(); return a; }
int main(int argc, char **argv) {
	pthread_t t;
	char c;
	pipe(ready);
	pthread_create(&t, 0, work, 0);
	read(ready[0], &c, 1);
	null[16] = 1;
	return 0;
}
`

// compile returns a folder with the program crash.
func compile(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "crash.c"), []byte(program), 0o644); err != nil {
		t.Fatal(err)
	}
	proctest.Run(t, dir, "gcc", "-g", "-pthread", "-w", "-Wl,--build-id", "-o", "crash", "crash.c")
	return dir
}

func openFile(t *testing.T, name string) *core.File {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return open(t, b)
}

func TestCoreOfTheKernel(t *testing.T) {
	name := proctest.KernelCore(t, compile(t), "./crash", "one", "two")
	if name == "" {
		t.Skip("the kernel writes core files elsewhere")
	}
	checkCore(t, name)
}

func TestCoreOfGDB(t *testing.T) {
	checkCore(t, proctest.GDBCore(t, compile(t), "./crash", "one", "two"))
}

func checkCore(t *testing.T, name string) {
	f := openFile(t, name)
	t.Run("threads are those of eu-readelf", func(t *testing.T) { checkThreads(t, f, name) })
	t.Run("modules are those of eu-unstrip", func(t *testing.T) { checkModules(t, f, name) })
	t.Run("process and signal are known", func(t *testing.T) { checkProcess(t, f) })
	t.Run("memory has the program", func(t *testing.T) { checkMemory(t, f) })
}

func checkThreads(t *testing.T, f *core.File, name string) {
	notes := strings.Split(proctest.Run(t, ".", "eu-readelf", "-n", name), "  PRSTATUS\n")[1:]
	if len(f.Threads) != 2 || len(notes) != 2 {
		t.Fatalf("%d threads, %d notes", len(f.Threads), len(notes))
	}
	register := regexp.MustCompile(`(\w+): +(-?\w+)`)
	for i, note := range notes {
		values := map[string]uint64{}
		note, _, _ = strings.Cut(note, "  CORE")
		for _, m := range register.FindAllStringSubmatch(note, -1) {
			if n, err := strconv.ParseInt(m[2], 0, 64); err == nil {
				values[m[1]] = uint64(n)
			}
		}
		thread := f.Threads[i]
		if values["pid"] != uint64(thread.ID) {
			t.Errorf("thread %d, want %d", thread.ID, values["pid"])
		}
		if len(thread.Registers) < 8 {
			t.Errorf("%d registers", len(thread.Registers))
		}
		for _, r := range thread.Registers {
			if want, ok := values[r.Name]; ok && want != r.Value {
				t.Errorf("thread %d: %s is %#x, want %#x", thread.ID, r.Name, r.Value, want)
			}
		}
	}
}

func checkModules(t *testing.T, f *core.File, name string) {
	line := regexp.MustCompile(`(?m)^0x(\w+)\+0x(\w+) (\w+)`)
	want := map[string]bool{}
	for _, m := range line.FindAllStringSubmatch(proctest.Run(t, ".", "eu-unstrip", "-n", "--core="+name), -1) {
		size, _ := strconv.ParseUint(m[2], 16, 64)
		want[fmt.Sprintf("%s+%x %s", m[1], (size+4095)&^4095, m[3])] = true
	}
	if len(want) < 4 || len(want) != len(f.Modules) {
		t.Errorf("%d modules, want %v", len(f.Modules), want)
	}
	for _, m := range f.Modules {
		if got := fmt.Sprintf("%x+%x %s", m.Base, m.Size, m.CodeID); !want[got] {
			t.Errorf("%s: %s is not one of %v", m.CodeFile, got, want)
		}
	}
}

func checkProcess(t *testing.T, f *core.File) {
	if f.Signal != (core.Signal{Number: 11, Code: 1, Address: 64}) {
		t.Errorf("signal %+v", f.Signal)
	}
	if f.Name != "crash" || f.PID != f.Threads[0].ID {
		t.Errorf("process %d %q", f.PID, f.Name)
	}
	if got := filepath.Base(f.Modules[0].CodeFile); got != "crash" {
		t.Errorf("the first module is %s", got)
	}
	if len(f.Problems) != 0 {
		t.Errorf("problems %v", f.Problems)
	}
}

func checkMemory(t *testing.T, f *core.File) {
	file, err := os.ReadFile(f.Modules[0].CodeFile)
	if err != nil {
		t.Fatal(err)
	}
	f.MapFiles(map[string]bin.Source{f.Modules[0].CodeFile: bin.Bytes(file)})
	code := make([]byte, 16)
	for _, r := range f.Threads[0].Registers {
		if r.Name == "rip" && (f.Memory.ReadAt(code, r.Value) != len(code) || !bytes.Contains(file, code)) {
			t.Errorf("the code at %#x is missing", r.Value)
		}
	}
	page := make([]byte, 1024)
	if n := f.Memory.ReadAt(page, f.Modules[0].Base); n != len(page) || string(page) != string(file[:n]) {
		t.Errorf("%d bytes differ from the program", n)
	}
}

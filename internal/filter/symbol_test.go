package filter_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symbolon/internal/filter"
	"symbolon/internal/ident"
	"symbolon/internal/proctest"
)

// kernelModule are two units of a relocatable file. Both have the functions twin,
// whose sizes differ, and same, whose sizes do not.
var kernelModule = []string{`
int depth;
static __attribute__((noinline)) int twin(int n) { return n + depth; }
static __attribute__((noinline)) int same(int n) { return n + depth; }
__attribute__((section(".init.text"))) int begin(void) { return twin(1) + same(2); }
int walk(void) { return twin(3) + same(4); }
`, `
extern int depth;
static __attribute__((noinline)) int twin(int n) {
	for (int i = 0; i < n; i++) { depth += i * n; depth ^= depth << 3; depth -= i * depth + 99; depth |= n >> 2; depth *= 7 + depth; depth -= i * depth + 98; depth -= i * depth + 97; }
	return depth;
}
static __attribute__((noinline)) int same(int n) { return n + depth; }
int run(void) { return twin(1) + same(2); }
`}

// buildModule compiles the module into a folder, and returns the sizes of its
// functions named twin.
func buildModule(t *testing.T, folder string) (sizes []uint64) {
	t.Helper()
	proctest.Program(t, "gcc")
	args := []string{"-g", "-O1", "-fno-pic", "-r", "-nostdlib", "-Wl,--build-id=0x" + moduleID, "-o", "oops.ko"}
	for i, text := range kernelModule {
		name := fmt.Sprintf("%c.c", 'a'+i)
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, name)
	}
	proctest.Run(t, folder, "gcc", args...)
	for line := range strings.Lines(proctest.Run(t, folder, "nm", "-S", "oops.ko")) {
		var addr, size uint64
		var kind, name string
		if n, _ := fmt.Sscanf(line, "%x %x %s %s", &addr, &size, &kind, &name); n == 4 && name == "twin" {
			sizes = append(sizes, size)
		}
	}
	return sizes
}

func TestSymbolsAreLookedUp(t *testing.T) {
	folder := t.TempDir()
	sizes := buildModule(t, folder)
	if len(sizes) != 2 || sizes[0]+64 > sizes[1] {
		t.Fatalf("the functions named twin have the sizes %d", sizes)
	}
	m := ident.Module{Type: ident.TypeELF, CodeFile: "oops", DebugFile: "oops", CodeID: moduleID}.Derive()
	names := local(t, folder)
	for _, c := range []struct {
		symbol   filter.Symbol
		isReturn bool
		want     string
	}{
		{filter.Symbol{Name: "walk", Offset: 1}, false, "walk a.c:6"},
		{filter.Symbol{Name: "walk"}, true, "walk a.c:6"},
		{filter.Symbol{Name: "begin", Offset: 5}, true, "begin a.c:5"}, // in another section at the address of twin
		{filter.Symbol{Name: "twin", Size: sizes[0] + 8}, false, "twin a.c:3"},
		{filter.Symbol{Name: "twin", Size: sizes[1] + 8}, false, "twin b.c:"},
		{filter.Symbol{Name: "twin", Size: sizes[1] + 64}, false, "several functions have the name twin"},
		{filter.Symbol{Name: "twin"}, false, "several functions have the name twin"},
		{filter.Symbol{Name: "same", Size: 16}, false, "several functions have the name same"},
		{filter.Symbol{Name: "gone"}, false, "the file has no symbol gone"},
		{filter.Symbol{Name: "walk", Offset: 1 << 20}, false, "the file is from another build"},
	} {
		for range 2 { // the second time its place is known
			a, err := names.Look(t.Context(), &filter.Query{Modules: []ident.Module{m}, Symbols: []filter.Symbol{c.symbol},
				Addresses: []filter.Address{{Space: filter.Named, IsReturn: c.isReturn}}})
			if err != nil {
				t.Fatal(err)
			}
			got := fmt.Sprint(a.Missing(0))
			if list := a.Frames(0); len(list) > 0 {
				f := list[len(list)-1]
				got = fmt.Sprintf("%s %s:%d", f.Function, filepath.Base(string(f.File)), f.Line)
				if f.Column == 0 {
					t.Errorf("%+v: the frame has no column", c.symbol)
				}
			}
			if !strings.Contains(got, c.want) {
				t.Errorf("%+v: got %q, want %q", c.symbol, got, c.want)
			}
			a.Release()
		}
	}
}

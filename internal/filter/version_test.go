package filter_test

import (
	"os"
	"path/filepath"
	"testing"

	"symbolon/internal/filter"
	"symbolon/internal/ident"
	"symbolon/internal/proctest"
)

// versioned has a function with two versions, one whose versions are the same, one
// that programs cannot be linked with any more, and one with two such versions.
const versioned = `
int depth;
int walk_1(int n) { return n + depth; }
int walk_2(int n) { return n * depth; }
int same(int n) { return n - depth; }
int gone_1(int n) { return n ^ depth; }
int lost_1(int n) { return n | depth; }
int lost_2(int n) { return n & depth; }
int begin(int n) { return n + 1; }
__asm__(".symver walk_1, walk@V1\n.symver walk_2, walk@@V2\n"
	".symver same, alike@V1\n.symver same, alike@@V2\n"
	".symver gone_1, gone@V1\n.symver lost_1, lost@V1\n.symver lost_2, lost@V2\n");
`

// TestVersionsOfANameAreLookedUp has libraries with the names of the linker, the
// loader, and those that are moved to a debug file.
func TestVersionsOfANameAreLookedUp(t *testing.T) {
	proctest.Program(t, "gcc")
	build := t.TempDir()
	for name, text := range map[string]string{"lib.c": versioned, "lib.map": "V1 { global: begin; local: *_1; *_2; };\nV2 { } V1;\n"} {
		if err := os.WriteFile(filepath.Join(build, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	proctest.Run(t, build, "gcc", "-g", "-O1", "-fPIC", "-shared", "-nostdlib", "-Wl,--version-script=lib.map,--build-id=0x"+moduleID, "-o", "lib.so", "lib.c")
	m := ident.Module{Type: ident.TypeELF, CodeFile: "lib.so", DebugFile: "lib.so", CodeID: moduleID}.Derive()
	debug := map[string]string{"walk": "walk_2", "alike": "same", "gone": "gone_1", "begin": "begin", "walk@V1": "walk_1", "wal": "", "lost": ""}
	entries := map[string]uint64{}
	for _, c := range []struct {
		kind, tool string
		args       []string
		want       map[string]string
	}{
		{"linked", "", nil, debug},
		{"debug file", "objcopy", []string{"--only-keep-debug"}, debug},
		{"names without versions", "objcopy", []string{"--redefine-sym", "walk@V1=walk"}, map[string]string{"walk": "walk_2"}},
		{"stripped", "objcopy", []string{"--strip-all"}, map[string]string{"walk": "walk", "alike": "alike", "gone": "gone", "begin": "begin", "wal": "", "lost": ""}},
	} {
		folder := t.TempDir()
		file := filepath.Join(folder, "lib.so")
		if c.tool == "" {
			if err := os.Link(filepath.Join(build, "lib.so"), file); err != nil {
				t.Fatal(err)
			}
		} else {
			proctest.Run(t, build, c.tool, append(c.args, "lib.so", file)...)
		}
		names := local(t, folder)
		for symbol, want := range c.want {
			a, err := names.Look(t.Context(), &filter.Query{Modules: []ident.Module{m}, Symbols: []filter.Symbol{{Name: symbol, Offset: 1}},
				Addresses: []filter.Address{{Space: filter.Named}}})
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if list := a.Frames(0); len(list) > 0 {
				got = string(list[0].Function)
				if c.tool == "" {
					entries[symbol] = list[0].Entry
				} else if list[0].Entry != entries[symbol] {
					t.Errorf("%s: %s is the function at %#x, want %#x", c.kind, symbol, list[0].Entry, entries[symbol])
				}
			}
			if got != want {
				t.Errorf("%s: %s is %q, want %q: %v", c.kind, symbol, got, want, a.Missing(0))
			}
			a.Release()
		}
	}
}

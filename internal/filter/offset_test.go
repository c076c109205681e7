package filter_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"symbolon/internal/filter"
	"symbolon/internal/ident"
	"symbolon/internal/proctest"
)

const moduleID = "0123456789abcdef0123456789abcdef01234567"

// TestOffsetsAreLookedUpInDebugFiles has only a debug file of a program, in which some
// tools change the offsets of segments.
func TestOffsetsAreLookedUpInDebugFiles(t *testing.T) {
	proctest.Program(t, "gcc")
	for _, c := range []struct {
		name, flag string
		split      []string
		hasOffsets bool
	}{
		{"eu-strip", "separate-code", []string{"eu-strip", "-f", "debug/app", "-o", "stripped", "app"}, true},
		{"objcopy", "separate-code", []string{"objcopy", "--only-keep-debug", "app", "debug/app"}, false},
		{"objcopy of one segment", "noseparate-code", []string{"objcopy", "--only-keep-debug", "app", "debug/app"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			proctest.Program(t, c.split[0])
			folder := t.TempDir()
			err := os.WriteFile(filepath.Join(folder, "app.c"), []byte("void _start(void) { for (;;) ; }\n"), 0o600)
			if err == nil {
				err = os.Mkdir(filepath.Join(folder, "debug"), 0o700)
			}
			if err != nil {
				t.Fatal(err)
			}
			proctest.Run(t, folder, "gcc", "-g", "-static", "-nostdlib", "-Wl,-Ttext-segment=0x200000,-z,"+c.flag+",--build-id=0x"+moduleID, "-o", "app", "app.c")
			m := ident.Module{Type: ident.TypeELF, CodeFile: "app", DebugFile: "app", CodeID: moduleID}.Derive()
			want := functions(t, local(t, folder), m)
			if len(want) == 0 {
				t.Fatal("the program has no functions")
			}
			if !c.hasOffsets {
				want = nil
			}
			proctest.Run(t, folder, c.split[0], c.split[1:]...)
			if got := functions(t, local(t, filepath.Join(folder, "debug")), m); !slices.Equal(got, want) {
				t.Errorf("got functions at offsets %#x, want %#x", got, want)
			}
		})
	}
}

// functions returns the offsets in a program that a function contains.
func functions(t *testing.T, names *filter.Local, m ident.Module) (list []uint64) {
	t.Helper()
	q := filter.Query{Modules: []ident.Module{m}}
	for offset := range uint64(1 << 14) {
		q.Addresses = append(q.Addresses, filter.Address{Space: filter.Offset, Addr: offset})
	}
	a, err := names.Look(t.Context(), &q)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Release()
	for i := range q.Addresses {
		if len(a.Frames(i)) > 0 {
			list = append(list, uint64(i))
		}
	}
	return list
}

// TestOffsetsFromMappings has programs whose code begins at a page, and in one.
func TestOffsetsFromMappings(t *testing.T) {
	proctest.Program(t, "gcc")
	for _, flags := range []string{"-Wl,-z,separate-code", "-Wl,-z,noseparate-code", "-Wl,-Ttext=0x2011e0,-z,separate-code"} {
		t.Run(flags, func(t *testing.T) {
			folder := t.TempDir()
			if err := os.WriteFile(filepath.Join(folder, "app.c"), []byte("void _start(void) { for (;;) ; }\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			proctest.Run(t, folder, "gcc", "-g", "-static", "-nostdlib", "-Wl,--build-id=0x"+moduleID, flags, "-o", "app", "app.c")
			var start uint64
			for line := range strings.Lines(proctest.Run(t, folder, "nm", "app")) {
				if f := strings.Fields(line); f[2] == "_start" {
					fmt.Sscanf(f[0], "%x", &start)
				}
			}
			m := ident.Module{Type: ident.TypeELF, CodeFile: "app", DebugFile: "app", CodeID: moduleID}.Derive()
			q := filter.Query{Modules: []ident.Module{m, m}, Symbols: []filter.Symbol{{Offset: start & 0xfff, Size: 0x1000}, {Offset: start & 0xfff, Size: 0x2000}},
				Addresses: []filter.Address{{Space: filter.Mapped, Addr: 0}, {Module: 1, Space: filter.Mapped, Addr: 1}}}
			a, err := local(t, folder).Look(t.Context(), &q)
			if err != nil {
				t.Fatal(err)
			}
			defer a.Release()
			if f := a.Frames(0); len(f) != 1 || string(f[0].Function) != "_start" || f[0].Line != 1 {
				t.Errorf("got %+v, want _start in line 1", f)
			}
			if f, why := a.Frames(1), a.Missing(1); len(f) > 0 || why == nil || !strings.Contains(why.Error(), "size of the mapping") {
				t.Errorf("a mapping of another size has %+v, %v", f, why)
			}
		})
	}
}

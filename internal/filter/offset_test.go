package filter_test

import (
	"os"
	"path/filepath"
	"slices"
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

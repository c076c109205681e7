package filter_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/bucket/dir"
	"symbolon/internal/fault"
	"symbolon/internal/filter"
	"symbolon/internal/ident"
	"symbolon/internal/locate"
	"symbolon/internal/source"
	"symbolon/internal/source/tree"
	"symbolon/internal/symbolicate"
	"symbolon/internal/table"
	"symbolon/internal/trial/rig"
)

// fire is a function of the program embed-source of the corpus.
const (
	tileBuildID  = "94e4559d737bc9e7"
	fireRelative = 0x11e0
	fireLinked   = 0x2011e0
	fireOffset   = 0x1e0
)

// local returns names from a folder.
func local(t *testing.T, folder string) *filter.Local {
	t.Helper()
	b, err := dir.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	cfg := source.Config{ID: "folder", Type: source.Filesystem, Path: folder}
	s, err := tree.New(cfg, b, source.NewDecoder(bin.Limit{}, nil), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	layers := rig.Open(t, rig.Options{Sources: []source.Source{s}, Locate: locate.Config{Columns: true}, Table: table.Config{OnlyReused: true}})
	return &filter.Local{Engine: symbolicate.New(symbolicate.Config{}, layers.Tables, time.Now), Tables: layers.Tables, Locator: layers.Locator}
}

// tile returns names from a folder with a program of the corpus.
func tile(t *testing.T) *filter.Local {
	t.Helper()
	folder := t.TempDir()
	text, err := os.ReadFile("../object/testdata/corpus/embed-source")
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, "embed-source"), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return local(t, folder)
}

func TestManyAddressesAreLookedUpInATable(t *testing.T) {
	m := ident.Module{Type: ident.TypeELF, CodeFile: "tile", DebugFile: "tile", CodeID: tileBuildID}.Derive()
	for n, want := range map[int]bool{32<<10 - 1: false, 32 << 10: true} {
		names := tile(t)
		q := &filter.Query{Modules: []ident.Module{m}, Addresses: slices.Repeat([]filter.Address{{Addr: fireRelative}}, n)}
		a, err := names.Look(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		h, _, _ := names.Tables.Ready(m, locate.SymFirst)
		if h == nil {
			t.Fatal("the module is not open")
		}
		if h.Quick() != want {
			t.Errorf("%d addresses are looked up in a table: %v, want %v", n, !want, want)
		}
		if len(a.Frames(n-1)) == 0 {
			t.Errorf("the last of %d addresses has no name", n)
		}
		h.Close()
		a.Release()
	}
}

func TestAddressesOfAllSpacesAreLookedUp(t *testing.T) {
	run := &filter.Run{Names: tile(t)}
	m, ok := run.Module("/srv/tile", ident.Module{Type: ident.TypeELF, CodeID: tileBuildID}.Derive())
	if !ok {
		t.Fatal("a module with a build id has no identifier")
	}
	a, err := run.Look(t.Context(), &filter.Query{Modules: []ident.Module{m}, Addresses: []filter.Address{
		{Space: filter.Relative, Addr: fireRelative},
		{Space: filter.Linked, Addr: fireLinked},
		{Space: filter.Offset, Addr: fireOffset},
		{Space: filter.Linked, Addr: fireLinked + 1, IsReturn: true},
		{Space: filter.Linked, Addr: fireLinked, IsReturn: true},
		{Space: filter.Offset, Addr: 1 << 40},
		{Module: -1},
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Release()
	if err := a.Missing(0); err != nil {
		t.Error("the module is missing:", err)
	}
	for i, want := range []string{"fire", "fire", "fire", "fire", "", "", ""} {
		name := ""
		if list := a.Frames(i); len(list) > 0 {
			name = string(list[len(list)-1].Function)
		}
		if name != want {
			t.Errorf("address %d: function %q, want %q", i, name, want)
		}
	}
}

// The source never answers.
func TestALimitedEngineDoesNotWaitForAProgram(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)
	layers := rig.Open(t, rig.Options{Sources: rig.Web(t, source.Config{}, server.URL)})
	names := &filter.Local{Engine: symbolicate.New(symbolicate.Config{}, layers.Tables, time.Now).Limited(20 * time.Millisecond), Locator: layers.Locator}
	a, err := names.Look(t.Context(), &filter.Query{
		Modules:   []ident.Module{{Type: ident.TypeELF, CodeID: tileBuildID, DebugFile: "tile"}},
		Addresses: []filter.Address{{Space: filter.Offset, Addr: fireOffset}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Release()
	if a.Missing(0) == nil || len(a.Frames(0)) > 0 {
		t.Error("the module is not missing")
	}
}

func TestMissingModulesAreCountedByReason(t *testing.T) {
	var r, all filter.Run
	for range 2 {
		r.Module("libc.so", ident.Module{})
	}
	gone := filter.Missing{Name: "libc.so", Addresses: 3, Why: fault.New(fault.NotFound, "", "gone")}
	all.Add(append(r.Missing(), gone, gone))
	var got []string
	for _, m := range all.Missing() {
		got = append(got, fmt.Sprint(m.Name, " ", m.Reason(), " ", m.Addresses))
	}
	if want := []string{"libc.so no identifier 2", "libc.so not found 6"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

package filter_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/bucket/dir"
	"symbolon/internal/filter"
	"symbolon/internal/ident"
	"symbolon/internal/source"
	"symbolon/internal/source/tree"
	"symbolon/internal/symbolicate"
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
	layers := rig.Open(t, rig.Options{Sources: []source.Source{s}})
	return &filter.Local{Engine: symbolicate.New(symbolicate.Config{}, layers.Tables, time.Now), Locator: layers.Locator}
}

func TestAddressesOfAllSpacesAreLookedUp(t *testing.T) {
	folder := t.TempDir()
	text, err := os.ReadFile("../object/testdata/corpus/embed-source")
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, "embed-source"), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	run := &filter.Run{Names: local(t, folder)}
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

//go:build kit

package source_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"symbolon/internal/ident"
	"symbolon/internal/source"
	"symbolon/internal/transfer"
)

// kitLookups are the kinds of file that the kit looks up for a type of module,
// and kitSources those for sources, once a frame has a name. For other kinds an
// empty list of the kit means nothing.
var (
	kitLookups = map[ident.Type][]string{
		ident.TypeMachO:  {source.MachCode, source.Breakpad, source.MachDebug, source.PDB, source.ELFDebug},
		ident.TypePE:     {source.PE, source.Breakpad, source.MachDebug, source.PDB, source.ELFDebug},
		ident.TypeELF:    {source.ELFCode, source.Breakpad, source.MachDebug, source.PDB, source.ELFDebug},
		ident.TypeWasm:   {source.WasmCode, source.WasmDebug},
		ident.TypeDotnet: {source.PortablePDB, source.PDB},
		ident.TypeUnknown: {source.PDB, source.MachDebug, source.ELFDebug, source.PE, source.MachCode, source.ELFCode, source.WasmCode,
			source.WasmDebug, source.Breakpad, source.SourceBundle, source.PortablePDB},
	}
	kitSources = []string{source.SourceBundle, source.PortablePDB, source.ELFDebug, source.WasmDebug}
)

// The kit, which SYMBOLON_CONFORMANCE names, has recorded what Symbolicator asks
// for, and by empty lists for what it does not.
func TestPathsOfTheKit(t *testing.T) {
	kit := os.Getenv("SYMBOLON_CONFORMANCE")
	text, err := os.ReadFile(filepath.Join(kit, "sentry", "vectors", "paths.json"))
	if err != nil {
		t.Fatal(err)
	}
	var vectors []struct {
		Name   string
		Module struct {
			Type          string
			CodeID        string `json:"code_id"`
			DebugID       string `json:"debug_id"`
			CodeFile      string `json:"code_file"`
			DebugFile     string `json:"debug_file"`
			DebugChecksum string `json:"debug_checksum"`
		}
		Status   string `json:"frame_status"`
		Requests map[string]map[string][]string
	}
	if err := json.Unmarshal(text, &vectors); err != nil {
		t.Fatal(err)
	}
	compared, empty := 0, 0
	for _, v := range vectors {
		m := ident.Module{
			Type: ident.ParseType(v.Module.Type), CodeID: ident.ParseCodeID(v.Module.CodeID),
			CodeFile: v.Module.CodeFile, DebugFile: v.Module.DebugFile, DebugChecksum: v.Module.DebugChecksum,
		}
		if v.Module.DebugID != "" {
			m.DebugID = debugID(t, v.Module.DebugID)
		}
		for layout, kinds := range v.Requests {
			for kind, want := range kinds {
				looked := slices.Contains(kitLookups[m.Type], kind) || v.Status == "symbolicated" && slices.Contains(kitSources, kind)
				if len(want) == 0 && !looked {
					continue
				}
				asked := m
				if kind == source.UUIDMap && m.Type == ident.TypeUnknown {
					continue // asked for by either id, in two lookups
				}
				if kind == source.UUIDMap { // by the debug id of what was found
					asked = ident.Module{Type: m.Type, DebugID: m.DebugID}
				}
				var got []string
				for _, path := range (source.Layout{Type: layout}).Paths(asked, kind) {
					got = append(got, transfer.EscapePath(path))
				}
				if compared++; len(want) == 0 {
					empty++
				}
				slices.Sort(got)
				slices.Sort(want)
				if !slices.Equal(got, want) {
					t.Errorf("%s, %s, %s: got %q, want %q", v.Name, layout, kind, got, want)
				}
			}
		}
	}
	if compared < 1000 || empty < 300 {
		t.Errorf("only %d lists were compared, of them %d empty ones", compared, empty)
	}
}

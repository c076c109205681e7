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
)

// The kit, which SYMBOLON_CONFORMANCE names, has recorded what Symbolicator asks
// for. An empty list there may also say that no lookup wants the kind for a
// module.
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
		Requests map[string]map[string][]string
	}
	if err := json.Unmarshal(text, &vectors); err != nil {
		t.Fatal(err)
	}
	compared := 0
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
				if len(want) == 0 {
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
					got = append(got, source.EscapePath(path))
				}
				compared++
				slices.Sort(got)
				slices.Sort(want)
				if !slices.Equal(got, want) {
					t.Errorf("%s, %s, %s: got %q, want %q", v.Name, layout, kind, got, want)
				}
			}
		}
	}
	if compared < 500 {
		t.Errorf("only %d lists were compared", compared)
	}
}

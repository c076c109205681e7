package table_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/bucket/dir"
	"symbolon/internal/fixture"
	"symbolon/internal/ident"
	"symbolon/internal/locate"
	"symbolon/internal/source"
	"symbolon/internal/source/tree"
	"symbolon/internal/table"
	"symbolon/internal/trial/rig"
)

// A symbfile of a few bytes unpacks to lines whose table is larger than the memory for
// all tables. It answers without one.
func TestSymbfileWithTooLargeTableAnswersItself(t *testing.T) {
	const length = 400_000
	offs, lines := make([]uint64, length), make([]uint64, length)
	for i := range offs {
		offs[i], lines[i] = 1, uint64(i%100+1)
	}
	text := fixture.NewSymbfile().Message(fixture.SymbfileRange, fixture.Proto{}.Num(12, 0x1000).Num(2, length).Text(3, "f").
		Sub(8, fixture.Proto{}.Packed(1, offs...).Packed(2, lines...))).Bytes()
	m := rig.Module("a.so")
	m.Type, m.FileID = ident.TypeELF, ident.FileID{7}
	folder := t.TempDir()
	path := filepath.Join(folder, source.ElasticPath(m.FileID, source.RangesFile))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := dir.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	from, err := tree.New(source.Config{ID: "f", Type: source.Filesystem, Path: folder, Layout: source.Layout{Type: source.Elastic}}, b, source.NewDecoder(bin.Limit{}, nil), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	tables := rig.Open(t, rig.Options{Sources: []source.Source{from}, Table: table.Config{MaxBytes: 1 << 20}}).Tables
	if _, err := tables.Prefetch(t.Context(), m); err == nil || !strings.Contains(err.Error(), "does not fit into table.max_bytes") {
		t.Error(err)
	}
	h, report := tables.Symbols(t.Context(), m, locate.SymFirst)
	if h == nil {
		t.Fatal(report)
	}
	defer h.Close()
	if frames := h.Lookup(nil, 0x1000+300_007); len(frames) != 1 || frames[0].Line != 7 {
		t.Errorf("%+v", frames)
	}
}

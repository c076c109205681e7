package tree_test

import (
	"bytes"
	"log/slog"
	"testing"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/bucket"
	"symbolon/internal/bucket/dir"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/source"
	"symbolon/internal/source/tree"
)

func TestStoreWithAnIndexIsAskedForWhatItLists(t *testing.T) {
	b, err := dir.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	put := func(path, text string) {
		t.Helper()
		if _, err := b.Put(t.Context(), path, bytes.NewReader([]byte(text)), bucket.Attrs{Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
	}
	cfg := source.Config{ID: "s", Type: source.Filesystem, Path: "/s", HasIndex: true, Layout: source.Layout{Type: source.Symstore}}
	far := source.Config{ID: "s", Type: source.S3, Bucket: "b", HasIndex: true, Layout: source.Layout{Type: source.Symstore}}
	opened := func() []source.Source {
		t.Helper()
		near, err := tree.New(cfg, b, source.NewDecoder(bin.Limit{}, nil), time.Now)
		if err != nil {
			t.Fatal(err)
		}
		away, err := tree.Far(far, tree.Deps{Decoder: source.NewDecoder(bin.Limit{}, nil), Bucket: b, Now: time.Now, Shelf: source.NewShelf(1<<20, time.Now, slog.New(slog.DiscardHandler))})
		if err != nil {
			t.Fatal(err)
		}
		return []source.Source{near, away}
	}
	const id = "0F1E2D3C4B5A69788796A5B4C3D2E1F01"
	debugID, err := ident.ParseBreakpadID(id)
	if err != nil {
		t.Fatal(err)
	}
	candidates := func(s source.Source, name string) ([]source.Candidate, error) {
		return s.Candidates(t.Context(), ident.Module{Type: ident.TypePE, DebugFile: name, DebugID: debugID}, []string{source.PDB})
	}
	for _, s := range opened() {
		if list, err := candidates(s, "a.pdb"); len(list) != 0 || fault.KindOf(err) != fault.NotFound {
			t.Errorf("%s: without the index that it should have: %v, %v", s.Identity(), list, err)
		}
	}
	put("000Admin/lastid.txt", "1")
	put("000Admin/0000000001", `"a.pdb\`+id+`"`+"\n")
	for _, s := range opened() {
		if list, err := candidates(s, "a.pdb"); len(list) != 1 || err != nil {
			t.Errorf("%s: %v, %v", s.Identity(), list, err)
		}
		if list, err := candidates(s, "b.pdb"); len(list) != 0 || err != nil {
			t.Errorf("%s: %v, %v", s.Identity(), list, err)
		}
	}
}

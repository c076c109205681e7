package tree_test

import (
	"testing"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/bucket/dir"
	"symbolon/internal/ident"
	"symbolon/internal/source"
	"symbolon/internal/source/tree"
)

func TestFoldersKnowFileIDsByOtherIDs(t *testing.T) {
	file, err := ident.ParseFileID("mBd-LB_f9KGc-4a6vRFoGw")
	if err != nil {
		t.Fatal(err)
	}
	const build = "dfb85de42daffd09640c8fe377d572de3e168920"
	root := folder(t, map[string][]byte{
		"known/" + build[:2] + "/" + build[2:]:     []byte(`{"fileid":"mBd-LB_f9KGc-4a6vRFoGw","base":4194304}`),
		"known/e4/5db8dfaf2d09fd640c8fe377d572de0": []byte(`{"fileid":"mBd-LB_f9KGc-4a6vRFoGw"}`),
		"known/00/" + build[2:]:                    []byte(`{"fileid":"nonsense"}`),
	})
	b, err := dir.Open(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	cfg := source.Config{ID: "disk", Type: source.Filesystem, Path: root, Layout: source.Layout{Type: source.Elastic}}
	s, err := tree.New(cfg, b, source.NewDecoder(bin.Limit{}, nil), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	debug, err := ident.ParseDebugID("E45DB8DFAF2D09FD640C8FE377D572DE0")
	if err != nil {
		t.Fatal(err)
	}
	keys := map[string]bool{}
	for _, c := range []struct {
		m    ident.Module
		base uint64
	}{
		{ident.Module{FileID: file}, 0},
		{ident.Module{FileID: file, CodeID: build}, 0},
		{ident.Module{CodeID: build}, 0x400000},
		{ident.Module{DebugFile: "a", DebugID: debug}, 0},
	} {
		list, err := s.Candidates(t.Context(), c.m, []string{source.Breakpad, source.Symbfile})
		if err != nil || len(list) != 1 || list[0].Path != "mB/d-/mBd-LB_f9KGc-4a6vRFoGw/ranges" || list[0].Base != c.base {
			t.Errorf("%+v: %+v, %v", c.m, list, err)
			continue
		}
		keys[list[0].Key] = true
	}
	if len(keys) != 2 {
		t.Errorf("files with relative addresses and without have the keys %v", keys)
	}
	for _, m := range []ident.Module{{}, {CodeID: ident.CodeID("00" + build[2:])}, {CodeID: "ab"}, {CodeID: "0123"}} {
		if list, err := s.Candidates(t.Context(), m, []string{source.Symbfile}); len(list) != 0 || err != nil {
			t.Errorf("%+v: %+v, %v", m, list, err)
		}
	}
}

package web_test

import (
	"net/http"
	"sync/atomic"
	"testing"

	"symbolon/internal/ident"
	"symbolon/internal/source"
	"symbolon/internal/source/web"
)

func TestMirrorsSayUnderWhichFileTheSymbolsAre(t *testing.T) {
	var asked atomic.Int32
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/symb/mB/d-/mBd-LB_f9KGc-4a6vRFoGw/metadata.json":
			asked.Add(1)
			_, _ = w.Write([]byte(`{"version":1,"symbolFileReferences":{"dwarfFileID":"mB4He5nM_uqcxjBTICjL2A"}}`))
		case "/symb/Zq/NY/ZqNYYqxp2141cU-vbwPnGg/metadata.json":
			_, _ = w.Write([]byte(`{"version":1,"symbolFileReferences":{}}`))
		case "/symb/pC/dZ/pCdZ0tVhcD0ZLScnho7N2A/metadata.json":
			_, _ = w.Write([]byte(`<html>`))
		default:
			http.NotFound(w, r)
		}
	})
	cfg := config(server.URL + "/symb")
	cfg.Layout.Type = source.Elastic
	s := newSource(t, newClient(t, web.Config{}), cfg)
	for id, want := range map[string]string{
		"mBd-LB_f9KGc-4a6vRFoGw": "mB/4H/mB4He5nM_uqcxjBTICjL2A/ranges",
		"ZqNYYqxp2141cU-vbwPnGg": "",
		"pCdZ0tVhcD0ZLScnho7N2A": "pC/dZ/pCdZ0tVhcD0ZLScnho7N2A/ranges",
		"8Ms59RQ2gVENOoPEdKX0DA": "8M/s5/8Ms59RQ2gVENOoPEdKX0DA/ranges",
	} {
		file, err := ident.ParseFileID(id)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			list, err := s.Candidates(t.Context(), ident.Module{FileID: file}, []string{source.Symbfile})
			switch {
			case want == "" && len(list) == 0 && err == nil:
			case err != nil || len(list) != 1 || list[0].Path != want:
				t.Errorf("%s: %+v, %v", id, list, err)
			}
		}
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("one file was asked for %d times", n)
	}
}

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symbolon/internal/ident"
	"symbolon/internal/node"
)

// Clients get an error for an upload that cannot be read, without its path.
func TestErrorsOfDamagedUploadsHaveNoPath(t *testing.T) {
	for name, c := range map[string]struct {
		damaged []string
		want    string
	}{
		"nothing":     {nil, `"missing":"not found: no symbols`},
		"ranges":      {[]string{"ranges"}, `"missing":"malformed: the ranges of this file are damaged`},
		"return pads": {[]string{"returnpads"}, `"missing":"malformed: the returnpads of this file are damaged`},
		"both":        {[]string{"ranges", "returnpads"}, `"missing":"malformed: the ranges of this file are damaged`},
	} {
		t.Run(name, func(t *testing.T) {
			s := startDepot(t, "", t.TempDir())
			id := ident.FileID{1, 2, 3}
			text := id.Base64()
			folder := filepath.Join(s.data, "store", text[:2], text[2:4], text)
			if err := os.MkdirAll(folder, 0o700); err != nil {
				t.Fatal(err)
			}
			for _, kind := range c.damaged {
				if err := os.WriteFile(filepath.Join(folder, kind), []byte("no symbfile at all, and not packed"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			for _, ask := range []struct{ method, path, body string }{
				{"GET", "/api/symbols/" + text + "?addr=0x10", ""},
				{"POST", "/api/symbols/lookup", `{"lookups":[{"fileid":"` + text + `","addrs":[16]}]}`},
			} {
				status, got, _ := s.do(ask.method, ask.path, []byte(ask.body))
				if status != 200 || !strings.Contains(got, c.want) || strings.Contains(got, s.data) || strings.Contains(got, "file:") {
					t.Errorf("%s: %d %s, want %s", ask.path, status, got, c.want)
				}
			}
			_, err := s.node.Frames(t.Context(), node.FileQuery{FileID: id, Addrs: []uint64{16}})
			if err == nil || len(c.damaged) > 0 && !strings.Contains(err.Error(), filepath.Join(folder, c.damaged[0])) {
				t.Errorf("the command says %v", err)
			}
		})
	}
}

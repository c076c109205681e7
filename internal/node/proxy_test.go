package node_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symbolon/internal/fixture"
)

// Symbol servers keep portable PDBs below the GUID and ffffffff, whatever age
// the file itself has.
func TestProxyServesPortablePDBsWithoutTheirAge(t *testing.T) {
	p := fixture.NewPPDB().Document("/src/a.cs", "/").Method(1, fixture.NewPPDBPoints(0).Point(0, 10, 5, 10, 20))
	p.ID = [20]byte{0x33, 0x22, 0x11, 0x00, 0x55, 0x44, 0x77, 0x66, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff, 0x0e, 0x60, 0xb8, 0x19}
	const guid = "00112233445566778899AABBCCDDEEFF"
	for layout, path := range map[string]string{
		", layout: {type: symstore}": "tea.pdb/" + guid + "ffffffff/tea.pdb",
		"":                           "of any name.pdb", // found by its id
	} {
		store := t.TempDir()
		place := filepath.Join(store, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(place), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(place, p.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		s := open(t, t.TempDir(), fmt.Sprintf("sources:\n- {id: store, type: filesystem, path: '%s'%s}\n", store, layout))
		r := sendTo(t, http.MethodGet, s.url+"/proxy/tea.pdb/"+strings.ToLower(guid)+"ffffffff/tea.pdb", "", "")
		if r.Code != http.StatusOK || r.Text != string(p.Bytes()) {
			t.Errorf("%s: got status %d and %d bytes, want 200 and the %d bytes of the file", path, r.Code, len(r.Text), len(p.Bytes()))
		}
	}
}

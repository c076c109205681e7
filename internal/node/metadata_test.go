package node_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"symbolon/internal/ident"
	"symbolon/internal/token"
)

// A client finds the build ids of uploaded files by their names, and the files of a
// build id.
func TestMetadataFindsUploads(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir(), "")
	program, m := corpusFile(t, "debuglink")
	debug, _ := corpusFile(t, "debuglink.debug")
	whole, wm := corpusFile(t, "clang-cc-dwarf5")
	pdb, pm := corpusFile(t, "win-x86_64.pdb")
	hidden, hm := corpusFile(t, "clang-dwarf4")
	s.upload(t, ident.DefaultProject, map[string][]byte{"bin/kiln": program, "kiln.debug": debug})
	s.upload(t, ident.DefaultProject, map[string][]byte{"bin/kiln": program, "whole": whole, "app.pdb": pdb})
	s.upload(t, "tea", map[string][]byte{"kiln-secret": hidden})
	addToken(t, s.Node, token.Grant{}) // with one, a client of this machine may not read everything
	kiln, all, app := m.CodeID.String(), wm.CodeID.String(), strings.ToLower(pm.DebugID.Breakpad()[:32])+"00000001"
	for _, c := range []struct {
		key, value string
		want       []string
	}{
		{"buildid", kiln, []string{"debuginfo " + kiln + " kiln.debug", "executable " + kiln + " kiln"}},
		{"buildid", strings.ToUpper(all), []string{"debuginfo " + all + " whole", "executable " + all + " whole"}},
		{"buildid", app, []string{"debuginfo " + app + " app.pdb"}},
		{"buildid", hm.CodeID.String(), nil},
		{"buildid", "0123456789abcdef", nil},
		{"file", "/usr/bin/kiln", []string{"executable " + kiln + " kiln"}},
		{"file", "kiln.debug", []string{"debuginfo " + kiln + " kiln.debug"}},
		{"file", "/usr/bin/kil", nil},
		{"file", "app.pdb", []string{"debuginfo " + app + " app.pdb"}},
		{"glob", "/usr/bin/k*", []string{"debuginfo " + kiln + " kiln.debug", "executable " + kiln + " kiln"}},
		{"glob", "/usr/bin/[!a-k]ho?e", []string{"debuginfo " + all + " whole", "executable " + all + " whole"}},
		{"glob", "/usr/bin/*.so", nil},
	} {
		status, text := s.call(t, "GET", "/metadata?"+url.Values{"key": {c.key}, "value": {c.value}}.Encode(), "")
		var answer struct {
			Results []struct{ Type, BuildID, File string }
			Is      bool `json:"complete"`
		}
		if err := json.Unmarshal([]byte(text), &answer); err != nil || status != 200 || !answer.Is || answer.Results == nil {
			t.Errorf("%s %s: got %d %s, %v", c.key, c.value, status, text, err)
		}
		var got []string
		for _, r := range answer.Results {
			got = append(got, fmt.Sprintf("%s %s %s", r.Type, r.BuildID, r.File))
		}
		if slices.Sort(got); !slices.Equal(got, c.want) {
			t.Errorf("%s %s: got %v, want %v", c.key, c.value, got, c.want)
		}
	}
}

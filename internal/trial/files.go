package trial

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/debugfile"
	"symbolon/internal/ident"
	"symbolon/internal/object"
)

// The module of tests with real servers, and its file.
const (
	KettleID   = "0F1E2D3C4B5A69788796A5B4C3D2E1F00"
	KettlePath = "/kettle.so/" + KettleID + "/kettle.so.sym"
	KettleSym  = "MODULE Linux x86_64 " + KettleID + " kettle.so\nFILE 0 kettle.c\nFUNC 1000 20 0 boil\n1000 20 7 0\n"
	Kettle     = `"type":"elf","debug_id":"0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0","debug_file":"kettle.so"`
)

// Corpus returns a file of the corpus of debug files.
func Corpus(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../internal/object/testdata/corpus", name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Identified returns the module of a file, under these names.
func Identified(t *testing.T, text []byte, kind ident.Type, code, debug string) ident.Module {
	t.Helper()
	f, err := debugfile.Open(bin.Bytes(text), object.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := f.Objects()[0].Info().Module
	return ident.Module{Type: kind, CodeFile: code, CodeID: m.CodeID, DebugFile: debug, DebugID: m.DebugID}
}

// PDBFolder writes a PDB to a folder, and returns its module as JSON.
func PDBFolder(t *testing.T, pdb []byte) (folder, module string) {
	t.Helper()
	m := Identified(t, pdb, ident.TypePE, "crane.dll", "crane.pdb")
	folder = t.TempDir()
	path := filepath.Join(folder, "crane.pdb", m.DebugID.Breakpad(), "crane.pdb")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, pdb, 0o600); err != nil {
		t.Fatal(err)
	}
	return folder, fmt.Sprintf(`"type":"pe","debug_id":%q,"debug_file":"crane.pdb"`, m.DebugID)
}

// Canary is the prefix of each planted secret; a number follows.
const Canary = "caNary7f3a-"

// Leaks returns the places where a text contains a Canary, plain or encoded as
// credentials are.
func Leaks(text string) (found []string) {
	add := func(at int) { found = append(found, fmt.Sprintf("%q", text[max(0, at-60):min(at+60, len(text))])) }
	for _, form := range []string{Canary, url.QueryEscape(Canary), fmt.Sprintf("%x", Canary)} {
		for _, at := range regexp.MustCompile("(?i)"+regexp.QuoteMeta(form)).FindAllStringIndex(text, -1) {
			add(at[0])
		}
	}
	for _, word := range regexp.MustCompile(`[A-Za-z0-9+/_-]{12,}`).FindAllStringIndex(text, -1) {
		for skip := range 4 { // base64 may start before the secret
			b, _ := base64.RawStdEncoding.DecodeString(text[word[0]+skip : word[1]])
			if bytes.Contains(b, []byte(Canary)) {
				add(word[0])
			}
		}
	}
	return found[:min(len(found), 10)]
}

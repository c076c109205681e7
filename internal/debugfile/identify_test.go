package debugfile_test

import (
	"os"
	"path/filepath"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/debugfile"
	"symbolon/internal/fixture"
	"symbolon/internal/object"
)

// TestIdentifyReadsTheIdentifiersThatOpenReads compares both for the files of the
// corpus.
func TestIdentifyReadsTheIdentifiersThatOpenReads(t *testing.T) {
	files, err := filepath.Glob("../object/testdata/corpus/*")
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string][]byte{
		"kiln.sym": []byte("MODULE Linux x86_64 3DABEECA56AC7938C0A40E7BBC2A2AD90 kiln\n" +
			"INFO CODE_ID CAEEAB3DAC563879C0A40E7BBC2A2AD961B2AA8D kiln.so\nFUNC 10 10 0 f\n"),
		"portable": fixture.NewPPDB().Bytes(),
	}
	for _, name := range files {
		if text, err := os.ReadFile(name); err == nil { // else it is a folder
			texts[name] = text
		}
	}
	seen := map[string]int{}
	for name, text := range texts {
		kind, list, err := debugfile.Identify(bin.Bytes(text))
		f, openErr := debugfile.Open(bin.Bytes(text), object.Options{})
		if err != nil || openErr != nil {
			if err == nil {
				t.Errorf("%s: Identify reads what Open refuses: %v", name, openErr)
			}
			continue
		}
		if kind != f.Kind() || len(list) != len(f.Objects()) {
			t.Errorf("%s: %s with %d binaries; Open reads %s with %d", name, kind, len(list), f.Kind(), len(f.Objects()))
			continue
		}
		for i, o := range f.Objects() {
			if list[i] != o.Info().Module {
				t.Errorf("%s: %+v; Open reads %+v", name, list[i], o.Info().Module)
			}
		}
		seen[kind]++
	}
	for _, kind := range []string{"elf", "macho", "pe", "pdb", "wasm", "portablepdb", "breakpad"} {
		if seen[kind] == 0 {
			t.Errorf("no file of kind %s was compared", kind)
		}
	}
}

//go:build kit

package debugfile_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/debugfile"
	"symbolon/internal/object"
)

// identityOfX64 is what the file is that several of the kit's are packed from.
const identityOfX64 = " | dd247e48-0d04-823d-3fa4-4664a0e46575 487e24dd040d3d823fa44664a0e46575053f6997 x86_64 | symbols debug"

// differences has the files with other answers than the recorded ones, and why.
var differences = map[string]struct{ ours, why string }{
	"cut-half.so": {"elf | dd247e48-0d04-823d-3fa4-4664a0e46575 487e24dd040d3d823fa44664a0e46575053f6997 x86_64 | symbols",
		"what is intact of a damaged file is read"},
	"truncated.so": {"elf |   x86_64 | ", "the head is intact, and an object without ids and features is used for nothing"},
	"cut.pdb":      {"nothing", "a PDB is found through its directory, which is cut off, as the error states"},
	"libharbor-mips.so.debug": {"elf | d40092e2-106d-ca2a-6c8d-80c7c7d27612 e29200d46d102aca6c8d80c7c7d27612ba7436bf mips64el | symbols debug",
		"mips64el is more exact than mips"},
	"libharbor-ppc64.so.debug": {"elf | 8141fda3-78c7-45a8-3641-5f8338557899 a3fd4181c778a84536415f8338557899ef428802 ppc64le | symbols debug",
		"ppc64le is more exact than ppc64"},
	"libharbor-mx64.dSYM": {"macho | 4c4c4407-5555-3144-a1c9-b4c1ed40312b 4c4c440755553144a1c9b4c1ed40312b x86_64 | symbols debug",
		"its section of unwind information describes no code"},
	"harbor.pd_":      {"cab | 49b0cd17-4bac-2c03-4c4c-44205044422e-1  x86_64 | symbols debug", "cabinets are opened"},
	"x64.debug.gz":    {"elf" + identityOfX64, "gzip is taken off"},
	"x64.debug.gz.gz": {"elf" + identityOfX64, "gzip is taken off, also twice"},
	"x64.debug.zlib":  {"elf" + identityOfX64, "zlib is taken off"},
	"x64.debug.zst":   {"elf" + identityOfX64, "zstd is taken off"},
	"x64.debug.zip":   {"zip" + identityOfX64, "archives are opened"},
	"x64.two.zip":     {"zip" + identityOfX64, "archives are opened: of the two files in it one is a debug file"},
}

// Type, ids, architecture and features of each file are those of the kit.
func TestIdentitiesOfTheKit(t *testing.T) {
	kit := filepath.Join(os.Getenv("SYMBOLON_CONFORMANCE"), "sentry")
	text, err := os.ReadFile(filepath.Join(kit, "vectors", "ids.json"))
	if err != nil {
		t.Fatal(err)
	}
	var vectors []recorded
	if err := json.Unmarshal(text, &vectors); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(filepath.Join(kit, "fixtures", "objects"))
	if err != nil || len(vectors) != len(files) || len(vectors) < 50 {
		t.Errorf("%d vectors, %d files, %v", len(vectors), len(files), err)
	}
	differ := 0
	for _, v := range vectors {
		all, err := os.ReadFile(filepath.Join(kit, "fixtures", v.File))
		if err != nil {
			t.Error(err)
			continue
		}
		name, ours, want := filepath.Base(v.File), identityOf(all), v.text()
		known, listed := differences[name]
		switch {
		case listed && ours == want:
			t.Errorf("%s is as recorded, and still in the list of differences", name)
		case listed:
			differ, want = differ+1, known.ours
		}
		if ours != want {
			t.Errorf("%s:\n got %s\nwant %s %s", name, ours, want, known.why)
		}
	}
	if differ != len(differences) {
		t.Errorf("%d of the %d differences belong to a file", differ, len(differences))
	}
}

// recorded is a file of the kit.
type recorded struct {
	File       string
	Recognised bool
	Type       string
	Variants   []struct {
		DebugID string `json:"debug_id"`
		CodeID  string `json:"code_id"`
		Arch    string
	}
	Features []string
}

func (r recorded) text() string {
	if !r.Recognised {
		return "nothing"
	}
	text := r.Type
	if text == "dsym" {
		text = "macho"
	}
	for _, v := range r.Variants {
		text += fmt.Sprintf(" | %s %s %s", v.DebugID, v.CodeID, v.Arch)
	}
	features := slices.DeleteFunc(slices.Clone(r.Features), func(f string) bool { return f == "none" })
	if i := slices.Index(features, "symtab"); i >= 0 {
		features[i] = "symbols"
	}
	return text + " | " + strings.Join(features, " ")
}

// identityOf is what we say of a file in the form of recorded.text. The features
// are those of all its objects.
func identityOf(all []byte) string {
	f, err := debugfile.Open(bin.Bytes(all), object.Options{})
	if err != nil {
		return "nothing"
	}
	text := f.Kind()
	var has object.Features
	for _, o := range f.Objects() {
		info := o.Info()
		has |= info.Features
		debugID := info.Module.DebugID.String()
		if info.Module.DebugID.IsZero() {
			debugID = ""
		}
		text += fmt.Sprintf(" | %s %s %s", debugID, info.Module.CodeID, info.Module.Arch)
	}
	return text + " | " + strings.Join(has.Names(), " ")
}

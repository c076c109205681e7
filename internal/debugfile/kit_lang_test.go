//go:build kit

package debugfile_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/debugfile"
	"symbolon/internal/object"
)

// kitLangs are the words of the kit for our languages.
var kitLangs = map[string]string{"C": "c", "C++": "cpp", "Go": "go", "Rust": "rust", "unknown": ""}

// Frames are in the language that symbolic has recorded, where it knows one and
// the frames are ours.
func TestLanguagesAreThoseOfTheKit(t *testing.T) {
	kit := filepath.Join(os.Getenv("SYMBOLON_CONFORMANCE"), "formats")
	lists, err := filepath.Glob(filepath.Join(kit, "lookups", "*.jsonl*"))
	if err != nil || len(lists) < 100 {
		t.Fatalf("%d lists, %v", len(lists), err)
	}
	compared := 0
	for _, list := range lists {
		name, _, _ := strings.Cut(filepath.Base(list), ".jsonl")
		name, arch, _ := strings.Cut(name, "@")
		o := kitObject(t, filepath.Join(kit, "files", strings.ReplaceAll(name, "__", "/")), arch)
		if o == nil {
			continue
		}
		n, wrong := compareLangs(t, o, list)
		if wrong > 0 {
			t.Errorf("%s: %d of %d differ", name, wrong, n)
		}
		compared += n
	}
	if compared < 15000 {
		t.Errorf("only %d frames were compared", compared)
	}
}

// kitObject is a file of the kit, which may be packed there; nil if it cannot be
// answered alone.
func kitObject(t *testing.T, path, arch string) *object.Object {
	all, err := os.ReadFile(path)
	if err != nil {
		if all, err = os.ReadFile(path + ".xz"); err != nil {
			t.Fatal(err)
		}
	}
	f, err := debugfile.Open(bin.Bytes(all), object.Options{})
	if err != nil {
		return nil
	}
	for _, o := range f.Objects() {
		if arch == "" || o.Info().Module.Arch.String() == arch {
			return o
		}
	}
	return nil
}

func compareLangs(t *testing.T, o *object.Object, list string) (n, wrong int) {
	text, err := os.ReadFile(list)
	if strings.HasSuffix(list, ".xz") {
		text, err = exec.Command("xz", "-dc", list).Output()
	}
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		var row struct {
			Addr   string
			From   string `json:"answer_of"`
			Frames []struct {
				Lang string
				Line uint32
			}
		}
		if err := json.Unmarshal(line, &row); err != nil {
			t.Fatal(err)
		}
		addr, err := strconv.ParseUint(row.Addr, 0, 64)
		if err != nil {
			continue // a method and an offset
		}
		got := o.Lookup(nil, addr)
		if row.From != "symbolic" || len(got) != len(row.Frames) {
			continue
		}
		for i, f := range row.Frames {
			want, known := kitLangs[f.Lang]
			if !known || want == "" {
				continue
			}
			if n++; got[i].Lang.String() != want {
				if wrong++; wrong < 4 {
					t.Logf("%s: %s: frame %d, %s, is in %q, want %q", list, row.Addr, i, str(o, got[i].Func), got[i].Lang, want)
				}
			}
		}
	}
	return n, wrong
}

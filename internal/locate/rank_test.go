package locate_test

import (
	"cmp"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/bucket/dir"
	"symbolon/internal/debugfile"
	"symbolon/internal/fault"
	"symbolon/internal/ident"
	"symbolon/internal/locate"
	"symbolon/internal/object"
	"symbolon/internal/source"
	"symbolon/internal/source/tree"
	"symbolon/internal/trial/rig"
)

// The programs of the corpus that are used here: one that has everything, and
// the companion that was split off it.
const (
	unstripped = "gcc-dwarf5"
	companion  = "debuglink.debug"
	caeeab     = "caeeab3dac563879c0a40e7bbc2a2ad961b2aa8d"
)

func corpus(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../object/testdata/corpus", name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// folder is a source of files by their paths.
func folder(t *testing.T, id string, files map[string][]byte) source.Source {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	bucket, err := dir.Open(root)
	if err != nil {
		t.Fatal(err)
	}
	s, err := tree.New(source.Config{ID: id, Type: source.Filesystem, Path: root}, bucket, source.NewDecoder(bin.Limit{}, nil), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// kiln is the module of the programs.
func kiln(t *testing.T) ident.Module {
	t.Helper()
	code, err := ident.ParseBuildID(caeeab)
	if err != nil {
		t.Fatal(err)
	}
	return ident.Module{Type: ident.TypeELF, DebugFile: "kiln", CodeFile: "kiln", CodeID: code.CodeID(), DebugID: code.DebugID(false)}
}

// best is the file that is chosen of sources.
func best(t *testing.T, p locate.Purpose, m ident.Module, sources ...source.Source) (*locate.Found, string) {
	t.Helper()
	var c rig.Clock
	found, trail, err := locateIn(t, locate.Config{}, &c, sources).Best(t.Context(), m, p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(found.Close)
	for _, tried := range trail {
		if tried.Chosen {
			return found, tried.Source + " " + tried.Kind
		}
	}
	t.Fatal("none is said to be chosen")
	return nil, ""
}

// Debug information is looked for in what was made for it first, whatever the
// order of the sources; the rules for unwinding are in the code.
func TestCompanionPrecedesUnstrippedCode(t *testing.T) {
	code := folder(t, "code", map[string][]byte{"ca/" + caeeab[2:]: corpus(t, unstripped)})
	debug := folder(t, "debug", map[string][]byte{"ca/" + caeeab[2:] + ".debug": corpus(t, companion)})
	for _, c := range []struct {
		purpose locate.Purpose
		want    string
	}{
		{locate.Debug, "debug elf_debug"}, {locate.Symbols, "debug elf_debug"}, {locate.Unwind, "code elf_code"},
	} {
		for _, sources := range [][]source.Source{{code, debug}, {debug, code}} {
			if _, got := best(t, c.purpose, kiln(t), sources...); got != c.want {
				t.Errorf("%s: got %s, want %s", c.purpose, got, c.want)
			}
		}
	}
	if _, got := best(t, locate.Debug, kiln(t), code); got != "code elf_code" {
		t.Errorf("alone: %s is chosen", got)
	}
}

// A .sym file knows less than the debug information that it was made of: what is
// answered is what a file with the debug information says.
func TestDebugInformationPrecedesSymFile(t *testing.T) {
	for _, c := range []struct{ name, kind string }{
		{companion, source.ELFDebug}, {unstripped, source.ELFCode}, {"win-aarch64.pdb", source.PDB}, {"macho-arm64.dsym", source.MachDebug},
	} {
		whole, err := debugfile.Open(bin.Bytes(corpus(t, c.name)), object.Options{})
		if err != nil {
			t.Fatal(err)
		}
		want := whole.Objects()[0]
		m := want.Info().Module
		m.DebugFile, m.CodeFile = c.name, c.name
		places := source.Layout{}
		text := "MODULE x y " + m.DebugID.Breakpad() + " a\nFILE 0 a.c\nFUNC 1000 1000 0 f\n1000 1000 1 0\n"
		sym := map[string][]byte{places.Paths(m, source.Breakpad)[0]: []byte(text)}
		if _, got := best(t, locate.Debug, m, folder(t, "sym", sym)); got != "sym breakpad" {
			t.Fatalf("%s: alone, %s is chosen", c.name, got)
		}
		full := map[string][]byte{places.Paths(m, c.kind)[0]: corpus(t, c.name)}
		both := maps.Clone(full)
		maps.Copy(both, sym)
		for _, sources := range [][]source.Source{{folder(t, "one", both)}, {folder(t, "sym", sym), folder(t, "one", full)}} {
			found, chosen := best(t, locate.Debug, m, sources...)
			if chosen != "one "+c.kind {
				t.Errorf("%s: %s is chosen", c.name, chosen)
			}
			o, _, err := found.File(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			answers := 0
			for addr := range uint64(0x4000) {
				frames := o.Lookup(nil, addr)
				if !reflect.DeepEqual(frames, want.Lookup(nil, addr)) {
					t.Fatalf("%s: %#x: got %+v, want %+v", c.name, addr, frames, want.Lookup(nil, addr))
				}
				answers += min(1, len(frames))
			}
			if answers < 100 {
				t.Errorf("%s: %d answers", c.name, answers)
			}
		}
	}
}

// A file of another program is not the one that was asked for, wherever it lies.
func TestFileWithOtherIdentityIsRejected(t *testing.T) {
	var c rig.Clock
	for _, name := range []string{"dwarf64", "aarch64", "macho-arm64.dylib"} {
		other := folder(t, "other", map[string][]byte{"ca/" + caeeab[2:] + ".debug": corpus(t, name)})
		_, trail, err := locateIn(t, locate.Config{}, &c, []source.Source{other}).Best(t.Context(), kiln(t), locate.Debug)
		if fault.KindOf(err) != fault.Malformed || !strings.Contains(err.Error(), fault.Mismatch) {
			t.Errorf("%s: %v", name, err)
		}
		if slices.ContainsFunc(trail, func(tried locate.Tried) bool { return tried.Chosen }) {
			t.Errorf("%s: it is chosen", name)
		}
		right := folder(t, "right", map[string][]byte{"ca/" + caeeab[2:]: corpus(t, unstripped)})
		if _, got := best(t, locate.Debug, kiln(t), other, right); got != "right elf_code" {
			t.Errorf("%s: beside it, %s is chosen", name, got)
		}
	}
}

// The fault of a module without a file is that of the first source that failed.
func TestMissingFileDoesNotHideFailure(t *testing.T) {
	status := func(code int) *server {
		s := &server{Server: httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }))}
		t.Cleanup(s.Close)
		return s
	}
	missing, denied, broken, crowded := status(404), status(403), status(500), status(429)
	var c rig.Clock
	for _, x := range []struct {
		servers []*server
		want    fault.Kind
	}{
		{[]*server{missing}, fault.NotFound},
		{[]*server{missing, denied}, fault.Denied},
		{[]*server{denied, missing}, fault.Denied},
		{[]*server{missing, broken, denied}, fault.Transport},
		{[]*server{missing, denied, broken}, fault.Denied},
		{[]*server{crowded, missing}, fault.Transport},
	} {
		_, _, err := locator(t, locate.Config{}, &c, x.servers...).Best(t.Context(), kiln(t), locate.Debug)
		if fault.KindOf(err) != x.want {
			t.Errorf("got %v, want kind %v", err, x.want)
		}
	}
}

// A .sym file with invalid records is still the requested one; an image that cannot
// be read at all is malformed.
func TestUnusableImageIsMalformed(t *testing.T) {
	var c rig.Clock
	s := serve(t, text("MODULE Linux x86_64 "+id+" a.so\nFIL"))
	found, _, err := locator(t, locate.Config{}, &c, s).Best(t.Context(), rig.Module("a.so"), locate.SymFirst)
	if err != nil {
		t.Fatal(err)
	}
	found.Close()
	cut := folder(t, "cut", map[string][]byte{"ca/" + caeeab[2:]: corpus(t, unstripped)[:64]})
	if _, _, err := locateIn(t, locate.Config{}, &c, []source.Source{cut}).Best(t.Context(), kiln(t), locate.Debug); fault.KindOf(err) != fault.Malformed || !strings.Contains(err.Error(), "unusable file") {
		t.Errorf("an image: %v", err)
	}
}

// The rules for unwinding are in the code, for 32-bit Windows in the PDB; a .sym file
// has less of them.
func TestCodePrecedesOthersForUnwinding(t *testing.T) {
	for _, c := range []struct {
		code, companion string // empty: none with unwind information
		want            []string
	}{
		{unstripped, "", []string{"elf_code", "breakpad"}},
		{"win-i686.exe", "win-i686.pdb", []string{"pdb", "breakpad"}}, // the program has none
		{"pe-i386.exe", "", []string{"pe", "breakpad"}},
	} {
		all := map[string][]byte{}
		var m ident.Module
		for i, name := range []string{c.code, c.companion} {
			if name == "" {
				continue
			}
			f, err := debugfile.Open(bin.Bytes(corpus(t, name)), object.Options{})
			if err != nil {
				t.Fatal(err)
			}
			own := f.Objects()[0].Info()
			if i == 0 {
				m = own.Module
				m.CodeFile = name
				m.DebugFile = cmp.Or(c.companion, name)
			}
			kind := map[string]string{"elf": source.ELFCode, "pe": source.PE, "pdb": source.PDB}[own.Kind]
			all[source.Layout{}.Paths(m, kind)[0]] = corpus(t, name)
		}
		text := "MODULE x " + m.Arch.String() + " " + m.DebugID.Breakpad() + " a\nFUNC 1000 1000 0 f\nSTACK CFI INIT 1000 1000 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n"
		all[source.Layout{}.Paths(m, source.Breakpad)[0]] = []byte(text)
		for _, want := range c.want {
			if _, got := best(t, locate.Unwind, m, folder(t, "f", all)); got != "f "+want {
				t.Errorf("%s: got %s, want %s", c.code, got, want)
			}
			all = map[string][]byte{source.Layout{}.Paths(m, source.Breakpad)[0]: []byte(text)}
		}
	}
}

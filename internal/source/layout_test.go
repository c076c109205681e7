package source_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"symbolon/internal/ident"
	"symbolon/internal/source"
	"symbolon/internal/transfer"
)

func debugID(t testing.TB, text string) ident.DebugID {
	t.Helper()
	id, err := ident.ParseDebugID(text)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestNativePaths(t *testing.T) {
	const canonical = "44E4EC8C2F41492B9369D6B9A059577Ca"
	id := debugID(t, canonical)
	for _, c := range []struct {
		name   string
		module ident.Module
		want   []string
	}{
		{"pdb", ident.Module{DebugFile: "xul.pdb", DebugID: id}, []string{"xul.pdb/" + canonical + "/xul.sym"}},
		{"upper-case pdb", ident.Module{DebugFile: "XUL.PDB", DebugID: id}, []string{"XUL.PDB/" + canonical + "/XUL.PDB.sym"}},
		{"no extension", ident.Module{DebugFile: "firefox", DebugID: id}, []string{"firefox/" + canonical + "/firefox.sym"}},
		{"so", ident.Module{DebugFile: "libxul.so", DebugID: id}, []string{"libxul.so/" + canonical + "/libxul.so.sym"}},
		{"dll", ident.Module{DebugFile: "qipcap.dll", DebugID: id}, []string{"qipcap.dll/" + canonical + "/qipcap.dll.sym"}},
		{"pdb 2.0", ident.Module{DebugFile: "old.pdb", DebugID: debugID(t, "3b7d5e08-1")}, []string{"old.pdb/3B7D5E081/old.sym"}},
		{"as sent, then canonical", ident.Module{DebugFile: "a", DebugID: id, DebugIDText: strings.ToUpper(canonical)},
			[]string{"a/" + strings.ToUpper(canonical) + "/a.sym", "a/" + canonical + "/a.sym"}},
		{"sent as canonical", ident.Module{DebugFile: "a", DebugID: id, DebugIDText: canonical}, []string{"a/" + canonical + "/a.sym"}},
		{"a code id for a debug id", ident.Module{DebugFile: "a.dll", DebugIDText: "5F8599C48000"}, []string{"a.dll/5F8599C48000/a.dll.sym"}},
		{"dashes are not a path", ident.Module{DebugFile: "a", DebugID: id, DebugIDText: id.String()}, []string{"a/" + canonical + "/a.sym"}},
		{"no id", ident.Module{DebugFile: "a"}, nil},
		{"zeros", ident.Module{DebugFile: "a", DebugIDText: strings.Repeat("0", 33)}, nil},
		{"no name", ident.Module{DebugID: id}, nil},
		{"long name", ident.Module{DebugFile: strings.Repeat("x", 256), DebugID: id}, nil},
		{"name that is not UTF-8", ident.Module{DebugFile: "a\xff", DebugID: id}, nil},
		{"wasm", ident.Module{DebugFile: "a", DebugID: id, Type: ident.TypeWasm}, nil},
	} {
		if got := (source.Layout{}).Paths(c.module, source.Breakpad); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestElasticPaths(t *testing.T) {
	file, err := ident.ParseFileID("mBd-LB_f9KGc-4a6vRFoGw")
	if err != nil {
		t.Fatal(err)
	}
	m := ident.Module{DebugFile: "a.so", DebugID: debugID(t, "44E4EC8C2F41492B9369D6B9A059577Ca"), FileID: file}
	l := source.Layout{Type: source.Elastic}
	for kind, want := range map[string][]string{
		source.Symbfile: {"mB/d-/mBd-LB_f9KGc-4a6vRFoGw/ranges"}, source.ReturnPads: {"mB/d-/mBd-LB_f9KGc-4a6vRFoGw/returnpads"},
		source.Breakpad: nil, source.ELFDebug: nil,
	} {
		if got := l.Paths(m, kind); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", kind, got, want)
		}
	}
	m.FileID = ident.FileID{}
	if got := l.Paths(m, source.Symbfile); got != nil {
		t.Errorf("without a file id: got %q", got)
	}
}

func TestCasingChangesTheWholePath(t *testing.T) {
	m := ident.Module{DebugFile: "Größe.pdb", DebugID: debugID(t, "44E4EC8C2F41492B9369D6B9A059577Ca"), DebugIDText: "44e4ec8c2f41492b9369d6b9a059577ca"}
	for casing, want := range map[string][]string{
		source.Default:   {"Größe.pdb/44e4ec8c2f41492b9369d6b9a059577ca/Größe.sym", "Größe.pdb/44E4EC8C2F41492B9369D6B9A059577Ca/Größe.sym"},
		source.Lowercase: {"größe.pdb/44e4ec8c2f41492b9369d6b9a059577ca/größe.sym"},
		source.Uppercase: {"GRößE.PDB/44E4EC8C2F41492B9369D6B9A059577CA/GRößE.SYM"},
	} {
		if got := (source.Layout{Casing: casing}).Paths(m, source.Breakpad); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", casing, got, want)
		}
	}
}

// FuzzPaths checks that no name and no id leads out of its place.
func FuzzPaths(f *testing.F) {
	for _, name := range []string{"xul.pdb", "..", "a/b", `a\b`, "%2e%2e", "a b", "\x00", "NUL:", "größe", "a\xff", "[kernel.kallsyms]", "Helper (Renderer)", "a,'&!#?;=b"} {
		f.Add(name, "44E4EC8C2F41492B9369D6B9A059577C2")
	}
	f.Add("a.so", "../../etc")
	f.Fuzz(func(t *testing.T, name, id string) {
		m := ident.Module{DebugFile: name, DebugIDText: id}
		m.DebugID, _ = ident.ParseDebugID(id)
		for _, path := range (source.Layout{}).Paths(m, source.Breakpad) {
			segments := strings.Split(path, "/")
			if len(segments) != 3 || !strings.HasSuffix(name, segments[0]) {
				t.Fatalf("%q", path)
			}
			for _, s := range segments {
				if s == "" || s == "." || s == ".." || !utf8.ValidString(s) || strings.Contains(s, `\`) || strings.ContainsFunc(s, unicode.IsControl) {
					t.Fatalf("segment %q", s)
				}
			}
			u, err := url.Parse("http://host/base/" + transfer.EscapePath(path))
			if err != nil || u.Path != "/base/"+path || u.RawQuery != "" || u.Fragment != "" {
				t.Fatalf("%q is %v as a URL, error %v", path, u, err)
			}
		}
	})
}

func TestCabinetsOfInternationalNamesAreUTF8(t *testing.T) {
	for name, want := range map[string]string{"café": "caf_", "日本": "日_", "é": "_", "app.pdб": "app.pd_"} {
		m := ident.Module{DebugFile: name, DebugID: debugID(t, "44E4EC8C2F41492B9369D6B9A059577Ca")}
		got := (source.Layout{}).Paths(m, source.PDB)
		if want = name + "/44E4EC8C2F41492B9369D6B9A059577Ca/" + want; len(got) != 2 || got[1] != want {
			t.Errorf("the paths of %s are %q; want %q as the second", name, got, want)
		}
	}
}

func TestFilesOfWindowsAndTheirCabinets(t *testing.T) {
	m := ident.Module{DebugFile: "App.pdb", DebugID: debugID(t, "44E4EC8C2F41492B9369D6B9A059577Ca"), CodeFile: "App.exe", CodeID: ident.PECodeID(0x1234, 0x6000)}
	var got []string
	for _, kind := range []string{source.PDB, source.PE} {
		for _, path := range (source.Layout{}).Paths(m, kind) {
			got = append(got, kind+" "+path)
		}
	}
	want := []string{
		"pdb App.pdb/44E4EC8C2F41492B9369D6B9A059577Ca/App.pdb", "pdb App.pdb/44E4EC8C2F41492B9369D6B9A059577Ca/App.pd_",
		"pe App.exe/000012346000/App.exe", "pe App.exe/000012346000/App.ex_",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	m.DebugFile = "..."
	if got := (source.Layout{Type: source.TwoTiers}).Paths(m, source.PDB); len(got) > 0 {
		t.Errorf("a name of dots is at %q", got)
	}
	for path, want := range map[string]string{"app.pdb/1/app.pdb": "ap/app.pdb/1/app.pdb", "a.pdb/x": "a/a.pdb/x", "q": "q/q", "éü/x": "éü/éü/x",
		".../1/...": "", "..a/x": "", "./x": "", ".": "", "": "", ".a.pdb/x": ".a/.a.pdb/x"} {
		if got := source.TwoTier(path); got != want {
			t.Errorf("%s: %s", path, got)
		}
	}
}

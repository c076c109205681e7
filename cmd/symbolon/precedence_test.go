package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"symbolon/internal/explain"
	"symbolon/internal/fixture"
	"symbolon/internal/ident"
	"symbolon/internal/source"
	"symbolon/internal/trial"
	"symbolon/internal/waittest"
)

// platform is a module with all kinds of files for it.
type platform struct {
	module ident.Module
	files  map[string]rankedFile // by names of ours
}

// rankedFile is a file with its kind.
type rankedFile struct {
	kind string
	text []byte
}

// breakpadOf returns a .sym file for m with functions, symbols and unwind rules, or some
// of them.
func breakpadOf(m ident.Module, has string) rankedFile {
	s := fixture.NewSym("").Raw("MODULE Linux x86_64 " + m.DebugID.Breakpad() + " " + m.DebugFile)
	if strings.Contains(has, "functions") {
		s.File(0, "a.c").Func(0x1000, 0x10, "f").Line(0x1000, 0x10, 1, 0)
	}
	if strings.Contains(has, "symbols") {
		s.Public(0x2000, "p")
	}
	if strings.Contains(has, "rules") {
		s.CFIInit(0x1000, 0x10, ".cfa: $rsp 8 + .ra: .cfa -8 + ^")
	}
	_, text, _ := strings.Cut(s.String(), "\n") // the line of another module
	return rankedFile{source.Breakpad, []byte(text)}
}

const everyPart = "functions, symbols, rules"

func elfPlatform(t *testing.T) platform {
	code := trial.Corpus(t, "gcc-dwarf5")
	m := trial.Identified(t, code, ident.TypeELF, "kiln", "kiln")
	var raw []byte
	if _, err := fmt.Sscanf(m.CodeID.String(), "%x", &raw); err != nil {
		t.Fatal(err)
	}
	empty := &fixture.ELF{Wide: true, Type: 2, Machine: 62}
	empty.Segment(fixture.ELFSegment{Type: 1, Flags: 5, Vaddr: 0x1000, Memsz: 0x1000})
	text := empty.Add(fixture.ELFSection{Name: ".text", Type: 8, Flags: 6, Addr: 0x1100, Size: 0x100})
	empty.Add(fixture.ELFSection{Name: ".note.gnu.build-id", Type: 7, Flags: 2, Align: 4, Data: empty.Note("GNU", 3, raw, 4)})
	empty.Symtab(".symtab", 2, fixture.ELFSymbol{Name: "f", Value: 0x1100, Size: 0x10, Kind: 2, Bind: 1, Section: text})
	empty.Add(fixture.ELFSection{Name: ".eh_frame", Type: 1, Flags: 2, Addr: 0x1300, Data: make([]byte, 16)})
	return platform{m, map[string]rankedFile{
		"code":           {source.ELFCode, code},
		"stripped code":  {source.ELFCode, trial.Corpus(t, "debuglink")},
		"debug":          {source.ELFDebug, trial.Corpus(t, "debuglink.debug")},
		"empty eh_frame": {source.ELFDebug, empty.Bytes()},
		"breakpad":       breakpadOf(m, everyPart),
		"public .sym":    breakpadOf(m, "symbols"),
		"unwinding .sym": breakpadOf(m, "rules"),
	}}
}

func machoPlatform(t *testing.T) platform {
	dsym := trial.Corpus(t, "macho-x86_64.dsym")
	m := trial.Identified(t, dsym, ident.TypeMachO, "kiln", "kiln")
	code := fixture.NewMachO(fixture.MachOX64, 3, fixture.MachODylib).UUID(m.DebugID.UUID())
	code.Segment("__TEXT", 0x1000, 0x1000,
		fixture.MachOSection{Name: "__text", Addr: 0x1100, Data: make([]byte, 0x100), Flags: fixture.MachOCode},
		fixture.MachOSection{Name: "__unwind_info", Addr: 0x1200, Data: fixture.UnwindInfo(0x180, []uint32{0x02020000},
			fixture.UnwindPage{Rows: []fixture.UnwindRow{{Start: 0x100, Encoding: 0x02020000}}})})
	return platform{m, map[string]rankedFile{
		"dsym":     {source.MachDebug, dsym},
		"code":     {source.MachCode, code.Symbol("_f", 0x0f, 1, 0, 0x1100).Symtab().Bytes()},
		"breakpad": breakpadOf(m, everyPart),
	}}
}

// pePlatform returns a library of Windows for a processor. The unwind rules are in the
// PDB for 32-bit processors, and in the library for others.
func pePlatform(t *testing.T, machine uint16) platform {
	pdb := fixture.SamplePDB()
	pdb.Machine, pdb.Frames = machine, make([]byte, 64)
	full := pdb.Bytes()
	pdb.Modules = []fixture.PDBModule{{Name: "empty"}}
	x := fixture.NewPE(machine)
	x.Section(fixture.PESection{Name: ".text", Addr: 0x1000, Data: make([]byte, 0x400), Flags: fixture.PECode})
	x.Table(fixture.PEDirExport, fixture.PESection{Name: ".edata", Addr: 0x3000, Data: fixture.PEExports(0x3000, fixture.PEExport{Name: "f", Addr: 0x1100})})
	if machine == fixture.PEX64 {
		x.Section(fixture.PESection{Name: ".xdata", Addr: 0x5000, Data: fixture.PEUnwind{Codes: []uint16{0x4204}}.Bytes()})
		x.Table(fixture.PEDirException, fixture.PESection{Name: ".pdata", Addr: 0x6000, Data: fixture.PEPack(uint32(0x1100), uint32(0x1120), uint32(0x5000))})
	}
	m := trial.Identified(t, full, ident.TypePE, "crane.dll", "crane.pdb")
	m.CodeID = trial.Identified(t, x.Bytes(), ident.TypePE, "", "").CodeID
	return platform{m, map[string]rankedFile{
		"pdb":          {source.PDB, full},
		"stripped pdb": {source.PDB, pdb.Bytes()},
		"pe":           {source.PE, x.Bytes()},
		"breakpad":     breakpadOf(m, everyPart),
	}}
}

func dotnetPlatform(t *testing.T) platform {
	portable := fixture.NewPPDB().Document(`C:\src\a.cs`, `\`).Method(1, fixture.NewPPDBPoints(0).Point(0x1a, 7, 5, 7, 9))
	portable.ID = [20]byte{1, 2, 3, 15: 16}
	m := trial.Identified(t, portable.Bytes(), ident.TypeDotnet, "crane.dll", "crane.pdb")
	pdb := fixture.SamplePDB()
	pdb.GUID = [16]byte{1, 2, 3, 15: 16}
	return platform{m, map[string]rankedFile{
		"portable": {source.PortablePDB, portable.Bytes()}, "pdb": {source.PDB, pdb.Bytes()}, "breakpad": breakpadOf(m, everyPart),
	}}
}

// place returns the path of a file in the layout.
func (p platform) place(t *testing.T, name string) string {
	t.Helper()
	f, ok := p.files[name]
	paths := source.Layout{}.Paths(p.module, f.kind)
	if !ok || len(paths) == 0 {
		t.Fatalf("%q has no place", name)
	}
	return paths[0]
}

// folder writes some of the files to a folder.
func (p platform) folder(t *testing.T, names ...string) string {
	t.Helper()
	root := t.TempDir()
	for _, name := range names {
		at := filepath.Join(root, filepath.FromSlash(p.place(t, name)))
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, p.files[name].text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// chosen returns the file that the command chooses: the number of its source, from 1,
// and its kind; empty for none.
func (p platform) chosen(t *testing.T, purpose string, sources ...string) (string, *explain.Trail) {
	t.Helper()
	args := []string{"explain", "--json", "--purpose", purpose, "--type", p.module.Type.String()}
	for _, s := range sources {
		args = append(args, "--source", s)
	}
	args = append(args, p.module.DebugFile+"/"+p.module.DebugID.Breakpad())
	if !p.module.CodeID.IsZero() {
		args = append(args, p.module.CodeFile+"/"+p.module.CodeID.String())
	}
	var out, errs bytes.Buffer
	code := run(t.Context(), args, &env{stdin: strings.NewReader(""), stdout: &out, stderr: &errs})
	x := &explain.Trail{}
	if err := json.Unmarshal(out.Bytes(), x); err != nil || code != exitDone {
		t.Fatalf("%v: exit %d, %v: %s", args, code, err, &errs)
	}
	for _, tried := range x.Tried {
		if tried.Chosen {
			n := slices.IndexFunc(sources, func(s string) bool { return strings.Contains(tried.Location, s) })
			return fmt.Sprint(n+1, " ", tried.Kind), x
		}
	}
	return "", x
}

// In each row of the tables the first available file is chosen, whatever follows.
func TestThePrecedenceTablesHold(t *testing.T) {
	t.Parallel()
	elf, macho, dotnet := elfPlatform(t), machoPlatform(t), dotnetPlatform(t)
	pe32, pe64 := pePlatform(t, fixture.PEX86), pePlatform(t, fixture.PEX64)
	for _, row := range []struct {
		name     string
		platform platform
		purpose  string
		choices  []string // files after the last choice of the table have less
		useless  []string
	}{
		{"Mach-O", macho, "symbols", []string{"dsym", "code", "breakpad"}, nil},
		{"ELF", elf, "symbols", []string{"debug", "code", "breakpad"}, nil},
		{"PE 32", pe32, "symbols", []string{"pdb", "pe", "breakpad"}, nil},
		{"PE 64", pe64, "symbols", []string{"pdb", "pe", "breakpad"}, nil},

		{"Mach-O", macho, "debug", []string{"dsym", "breakpad", "code"}, nil},
		{"ELF", elf, "debug", []string{"debug", "code", "breakpad"}, nil},
		{"PE 32", pe32, "debug", []string{"pdb", "breakpad", "pe"}, nil},
		{"PE 64", pe64, "debug", []string{"pdb", "breakpad", "pe"}, nil},
		{".NET", dotnet, "debug", []string{"portable"}, []string{"breakpad"}},

		{"Mach-O", macho, "unwind", []string{"code", "dsym", "breakpad"}, nil},
		{"ELF", elf, "unwind", []string{"code", "breakpad"}, []string{"debug"}},
		{"ELF, stripped", elf, "unwind", []string{"stripped code", "breakpad"}, []string{"debug"}},
		{"PE 32", pe32, "unwind", []string{"pdb", "breakpad"}, []string{"pe"}},
		{"PE 64", pe64, "unwind", []string{"pe", "breakpad"}, []string{"pdb"}},

		{"ELF, only symbols", elf, "debug", []string{"breakpad", "empty eh_frame"}, []string{"stripped code"}},
		{"ELF, only symbols", elf, "debug", []string{"code", "empty eh_frame"}, nil},
		{"ELF, few records", elf, "debug", []string{"debug"}, []string{"stripped code", "unwinding .sym"}},
		{"ELF, few records", elf, "debug", []string{"code", "public .sym"}, nil},
		{"ELF, few records", elf, "unwind", []string{"unwinding .sym"}, []string{"empty eh_frame"}},
		{"ELF, few records", elf, "symbols", []string{"code"}, []string{"unwinding .sym"}},
		{"ELF, empty .eh_frame", elf, "unwind", []string{"stripped code", "breakpad"}, []string{"empty eh_frame"}},
		{"PE 32, stripped", pe32, "debug", []string{"breakpad", "stripped pdb", "pe"}, nil},
		{"PE 64, stripped", pe64, "debug", []string{"breakpad", "stripped pdb", "pe"}, nil},
		{"PE 64, stripped", pe64, "symbols", []string{"stripped pdb", "pe", "breakpad"}, nil},
		{"PE 32, stripped", pe32, "unwind", []string{"stripped pdb", "breakpad"}, []string{"pe"}},
	} {
		for i := range len(row.choices) + 1 {
			names := slices.Concat(row.choices[i:], row.useless)
			want := ""
			if i < len(row.choices) {
				want = "1 " + row.platform.files[row.choices[i]].kind
			}
			got, x := row.platform.chosen(t, row.purpose, row.platform.folder(t, names...))
			if got != want {
				t.Errorf("%s, %s: of %q %q is chosen, want %q: %s", row.name, row.purpose, names, got, want, x.Verdict)
			}
			if x.Found != (want != "") {
				t.Errorf("%s, %s: of %q found is %v", row.name, row.purpose, names, x.Found)
			}
		}
	}
	if got, x := dotnet.chosen(t, "debug", dotnet.folder(t, "pdb")); x.Found || !strings.Contains(x.Verdict, "unsupported: Only portable PDB files") {
		t.Errorf("a PDB of Windows for .NET: %q, %s", got, x.Verdict)
	}
}

// With each file in a source of its own, in each order, the better file wins; of equals
// the one of the first source.
func TestTheBetterFileWinsInWhicheverSource(t *testing.T) {
	t.Parallel()
	elf, macho, pe64, pe32 := elfPlatform(t), machoPlatform(t), pePlatform(t, fixture.PEX64), pePlatform(t, fixture.PEX86)
	for _, row := range []struct {
		platform platform
		purpose  string
		better   string
		others   []string
	}{
		{elf, "debug", "debug", []string{"code", "breakpad", "empty eh_frame"}},
		{elf, "unwind", "code", []string{"breakpad", "empty eh_frame", "debug"}},
		{macho, "symbols", "dsym", []string{"code", "breakpad"}},
		{macho, "unwind", "code", []string{"dsym", "breakpad"}},
		{pe64, "debug", "pdb", []string{"stripped pdb", "pe", "breakpad"}},
		{pe64, "unwind", "pe", []string{"pdb", "breakpad"}},
		{pe32, "unwind", "pdb", []string{"pe", "breakpad"}},
	} {
		for at := range len(row.others) + 1 {
			names := slices.Insert(slices.Clone(row.others), at, row.better)
			var sources []string
			for _, name := range names {
				sources = append(sources, row.platform.folder(t, name))
			}
			want := fmt.Sprint(at+1, " ", row.platform.files[row.better].kind)
			if got, _ := row.platform.chosen(t, row.purpose, sources...); got != want {
				t.Errorf("%s of %q: %q is chosen, want %q", row.purpose, names, got, want)
			}
			twice := append(sources, row.platform.folder(t, row.better))
			if got, _ := row.platform.chosen(t, row.purpose, twice...); got != want {
				t.Errorf("%s of %q, and it once more: %q is chosen, want %q", row.purpose, names, got, want)
			}
		}
	}
}

// Servers respond after random times.
func TestTheOrderOfArrivalDecidesNothing(t *testing.T) {
	t.Parallel()
	for _, p := range []platform{elfPlatform(t), machoPlatform(t), pePlatform(t, fixture.PEX64), pePlatform(t, fixture.PEX86)} {
		var urls []string
		for range 3 {
			have := map[string][]byte{}
			for name, f := range p.files {
				if rand.IntN(3) > 0 {
					have["/"+p.place(t, name)] = f.text
				}
			}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				waittest.Delay(r.Context(), time.Duration(rand.IntN(15))*time.Millisecond)
				if text := have[r.URL.Path]; text != nil {
					_, _ = w.Write(text)
					return
				}
				http.NotFound(w, r)
			}))
			t.Cleanup(server.Close)
			urls = append(urls, server.URL)
		}
		for _, purpose := range []string{"debug", "symbols", "unwind", "sources", "sym-first"} {
			first, _ := p.chosen(t, purpose, urls...)
			for range 2 {
				if again, _ := p.chosen(t, purpose, urls...); again != first {
					t.Errorf("%s of %s: %q is chosen, and then %q", purpose, p.module.Type, first, again)
				}
			}
		}
	}
}

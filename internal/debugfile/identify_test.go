package debugfile_test

import (
	"os"
	"path/filepath"
	"runtime"
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
		"bundle":   bundleOf(t, `{"files": {}, "debug_id": "3dabeeca-56ac-7938-c0a4-0e7bbc2a2ad9", "arch": "x86_64", "object_name": "kiln"}`, nil),
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
		described, objects, err := debugfile.Describe(bin.Bytes(text))
		if err != nil || described != f.Kind() || len(objects) != len(f.Objects()) {
			t.Errorf("%s: Describe reads %s with %d binaries, %v", name, described, len(objects), err)
			continue
		}
		for i, o := range f.Objects() {
			want := o.Info()
			if d := objects[i]; d.Module != want.Module || d.Type != want.Type || d.Name != want.Name {
				t.Errorf("%s: Describe reads %+v; Open reads %+v", name, d, want)
			}
			if got := objects[i].Features | object.HasSources; got&want.Features != want.Features {
				t.Errorf("%s: Describe reads the features %v; Open reads %v", name, got.Names(), want.Features.Names())
			}
		}
		seen[kind]++
	}
	for _, kind := range []string{"elf", "macho", "pe", "pdb", "wasm", "portablepdb", "breakpad", "sourcebundle"} {
		if seen[kind] == 0 {
			t.Errorf("no file of kind %s was compared", kind)
		}
	}
}

// TestDescribeDoesNotReadTheTablesOfAPDB describes one of 2.5 GiB, whose tables have
// 20 MB.
func TestDescribeDoesNotReadTheTablesOfAPDB(t *testing.T) {
	p := fixture.SamplePDB()
	p.BlockSize, p.Hole = 4096, 5<<29/4096
	code := p.Modules[0]
	p.Modules = nil
	for range 50_000 {
		p.Modules = append(p.Modules, fixture.PDBModule{Name: `obj\kettle\a_module_without_code.obj`})
	}
	p.Modules = append(p.Modules, code)
	for i := range uint32(400_000) {
		p.Parts = append(p.Parts, fixture.PDBPart{1, i * 16, 16, i % 50_000})
	}
	src := &holed{b: p.Bytes(), at: 3 * int64(p.BlockSize), hole: int64(p.Hole * p.BlockSize)}
	for name, describe := range map[string]func() error{
		"Describe": func() error {
			_, list, err := debugfile.Describe(src)
			if err == nil && list[0].Features != object.HasSymbols|object.HasDebug {
				t.Errorf("it has the features %v", list[0].Features.Names())
			}
			return err
		},
		"Identify": func() error {
			_, list, err := debugfile.Identify(src)
			if err == nil && list[0].DebugID.IsZero() {
				t.Error("it has no debug id")
			}
			return err
		},
	} {
		var before, after runtime.MemStats
		src.read = 0
		runtime.ReadMemStats(&before)
		err := describe()
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; err != nil || n > 8<<20 || src.read > 8<<20 {
			t.Errorf("%s takes %d bytes of memory and reads %d, %v", name, n, src.read, err)
		}
	}
}

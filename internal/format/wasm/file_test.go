package wasm_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/fixture"
	"symbolon/internal/format/wasm"
	"symbolon/internal/ident"
)

// Kinds of imports.
const (
	importFunc   = "\x00\x05"
	importTable  = "\x01\x70\x01\x02\x03"
	importMemory = "\x02\x00\x10"
	importGlobal = "\x03\x7f\x01"
	importTag    = "\x04\x00\x05"
	importRef    = "\x03\x63\x7e\x00" // refers to a type by number
)

func module() *fixture.Wasm {
	return fixture.NewWasm().Section(1, []byte{1, 0x60, 0, 0}).
		Imports(importFunc, importTable, importMemory, importGlobal, importFunc, importTag, importRef).
		Code([]byte("\x00\x0b"), []byte("\x00\x41\x0b"), []byte("\x00\x0b")).
		Custom(".debug_info", []byte("information")).
		Names(fixture.WasmName{Index: 0, Name: "imported"}, fixture.WasmName{Index: 2, Name: "first"}, fixture.WasmName{Index: 4, Name: "third"}, fixture.WasmName{Index: 900, Name: "nowhere"}).
		Custom("build_id", []byte("\x04abcd")).
		String("external_debug_info", "https://example.com/debug.wasm")
}

func open(t *testing.T, b []byte) *wasm.File {
	t.Helper()
	f, err := wasm.Open(bin.Bytes(b))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// functions lists the functions of a module, relative to its code section.
func functions(t *testing.T, f *wasm.File) (lines []string, problems bin.Problems) {
	t.Helper()
	problems = f.Functions(func(name []byte, off uint32, start, end uint64) bool {
		if string(f.Name(off)) != string(name) {
			t.Errorf("the handle of %q is %q", name, f.Name(off))
		}
		lines = append(lines, fmt.Sprintf("%d-%d %s", start-f.CodeOffset(), end-f.CodeOffset(), name))
		return true
	})
	return lines, problems
}

func TestFunctions(t *testing.T) {
	b := module().Bytes()
	f := open(t, b)
	got, problems := functions(t, f)
	if want := []string{"2-4 first", "5-8 ", "9-11 third"}; !slices.Equal(got, want) || len(problems)+len(f.Problems) > 0 {
		t.Errorf("%q, want %q; %v, %v", got, want, problems, f.Problems)
	}
	if at := f.CodeOffset(); b[at] != 3 || b[at-2] != 10 {
		t.Errorf("code at %#x", at)
	}
	n := 0
	f.Functions(func([]byte, uint32, uint64, uint64) bool { n++; return false })
	if n != 1 {
		t.Errorf("%d functions after yield returned false", n)
	}
}

// relocatable returns an object with two imported functions and three of its own.
func relocatable() *fixture.Wasm {
	return fixture.NewWasm().Imports(importFunc, importFunc).Code([]byte("\x00\x0b"), []byte("\x00\x41\x0b"), []byte("\x00\x0b")).
		Linking(
			fixture.WasmSymbol{Flags: 0x10, Index: 0}, fixture.WasmSymbol{Flags: 0x50, Index: 1, Name: "imported"},
			fixture.WasmSymbol{Kind: 1, Name: "data"}, fixture.WasmSymbol{Kind: 1, Flags: 0x10, Name: "other"}, fixture.WasmSymbol{Kind: 3, Index: 2},
			fixture.WasmSymbol{Index: 2, Name: "first"}, fixture.WasmSymbol{Index: 2, Name: "alias"}, fixture.WasmSymbol{Kind: 2, Index: 3, Name: "global"},
			fixture.WasmSymbol{Index: 4, Name: "third"}, fixture.WasmSymbol{Index: 900, Name: "nowhere"})
}

func TestFunctionsOfObjectsHaveTheNamesOfTheirSymbols(t *testing.T) {
	f := open(t, relocatable().Bytes())
	got, problems := functions(t, f)
	if want := []string{"2-4 first", "5-8 ", "9-11 third"}; !slices.Equal(got, want) || len(problems) > 0 || f.Kind() != "rel" {
		t.Errorf("%s: %q, want %q; %v", f.Kind(), got, want, problems)
	}
	f = open(t, relocatable().Names(fixture.WasmName{Index: 3, Name: "named"}).Bytes())
	if got, _ := functions(t, f); !slices.Equal(got, []string{"2-4 ", "5-8 named", "9-11 "}) {
		t.Errorf("with a name section: %q", got)
	}
}

func TestDamagedSymbolsOfObjectsAreReported(t *testing.T) {
	whole := relocatable().Bytes()
	at := strings.Index(string(whole), "linking") + len("linking")
	for name, change := range map[string]func(b []byte) []byte{
		"version": func(b []byte) []byte { b[at] = 1; return b },
		"part":    func(b []byte) []byte { b[at+2] = 100; return b },
		"count":   func(b []byte) []byte { b[at+6]++; return b },
		"fewer":   func(b []byte) []byte { b[at+6]--; return b },
		"end":     func(b []byte) []byte { return b[:len(b)-1] },
	} {
		f := open(t, change([]byte(string(whole))))
		if _, problems := functions(t, f); len(problems) != 1 || problems[0].Place != "linking section" {
			t.Errorf("%s: %v", name, problems)
		}
	}
}

func TestCustomSectionsAreInPlace(t *testing.T) {
	b := module().Bytes()
	f := open(t, b)
	data, err := f.Data(".debug_info")
	if err != nil || string(data) != "information" || &data[0] != &b[f.Section(".debug_info").Off] {
		t.Errorf("%q, %v", data, err)
	}
	if data, err := f.Data(".debug_line"); data != nil || err != nil {
		t.Errorf("a missing section: %q, %v", data, err)
	}
	if url := f.ExternalDebugInfo(); string(url) != "https://example.com/debug.wasm" {
		t.Errorf("url %q", url)
	}
	if url := open(t, fixture.NewWasm().Bytes()).ExternalDebugInfo(); url != nil {
		t.Errorf("no url: %q", url)
	}
}

func TestBothFormsOfBuildID(t *testing.T) {
	for payload, want := range map[string][2]string{
		"\x04abcd": {"\x04abcd", "abcd"}, "abcd": {"abcd", ""}, "": {"", ""}, "\x00": {"\x00", ""}, "\x05abcd": {"\x05abcd", ""},
	} {
		whole, id := open(t, fixture.NewWasm().Custom("build_id", []byte(payload)).Bytes()).BuildID()
		if string(whole) != want[0] || string(id) != want[1] {
			t.Errorf("%q: %q, %q", payload, whole, id)
		}
	}
	if whole, id := open(t, fixture.NewWasm().Bytes()).BuildID(); whole != nil || id != nil {
		t.Errorf("without: %q, %q", whole, id)
	}
}

func TestKindAndArch(t *testing.T) {
	for name, c := range map[string]struct {
		m    *fixture.Wasm
		kind string
		arch ident.Arch
	}{
		"module":        {module(), "lib", ident.ArchWasm32},
		"debug":         {fixture.NewWasm().Custom(".debug_info", nil), "dbg", ident.ArchWasm32},
		"memory 64":     {fixture.NewWasm().Section(5, []byte{1, 4, 1}), "dbg", ident.ArchWasm64},
		"memory 32":     {fixture.NewWasm().Section(5, []byte{1, 1, 4, 4}), "dbg", ident.ArchWasm32},
		"imported 64":   {fixture.NewWasm().Imports("\x02\x05\x01\x02"), "dbg", ident.ArchWasm64},
		"no functions":  {fixture.NewWasm().Section(3, []byte{0}), "dbg", ident.ArchWasm32},
		"table 64 only": {fixture.NewWasm().Imports("\x01\x70\x04\x01"), "dbg", ident.ArchWasm32},
	} {
		f := open(t, c.m.Bytes())
		if f.Kind() != c.kind || f.Arch() != c.arch || len(f.Problems) > 0 {
			t.Errorf("%s: %s, %v, %v", name, f.Kind(), f.Arch(), f.Problems)
		}
	}
}

func TestDamagedFiles(t *testing.T) {
	whole := module().Bytes()
	for name, c := range map[string]struct {
		b     []byte
		place string
		want  []string
	}{
		"cut in the last section": {whole[:len(whole)-3], "sections", []string{"2-4 first", "5-8 ", "9-11 third"}},
		"section without size":    {append(slices.Clone(whole), 0), "sections", []string{"2-4 first", "5-8 ", "9-11 third"}},
		"section without name":    {append(slices.Clone(whole), 0, 2, 9, 9), "sections", []string{"2-4 first", "5-8 ", "9-11 third"}},
		"import of no kind": {fixture.NewWasm().Imports("\x09").Code([]byte("\x00\x0b")).Names(fixture.WasmName{Name: "x"}).Bytes(),
			"import section", []string{"2-4 "}},
		"import that is cut": {fixture.NewWasm().Section(2, []byte{5, 1, 'a'}).Code([]byte("\x00\x0b")).Names(fixture.WasmName{Name: "x"}).Bytes(),
			"import section", []string{"2-4 "}},
		"code that is cut": {fixture.NewWasm().Section(10, []byte{3, 2, 0, 11, 9, 0}).Bytes(), "code section", []string{"2-4 "}},
		"name that is cut": {fixture.NewWasm().Code([]byte("\x00\x0b"), []byte("\x00\x0b")).Custom("name", []byte{1, 9, 2, 0, 1, 'a', 1, 200}).Bytes(),
			"name section", []string{"2-4 a", "5-7 "}},
		"names without size": {fixture.NewWasm().Code([]byte("\x00\x0b")).Custom("name", []byte{1}).Bytes(), "name section", []string{"2-4 "}},
	} {
		f := open(t, c.b)
		got, problems := functions(t, f)
		problems = append(problems, f.Problems...)
		if len(problems) != 1 || problems[0].Place != c.place || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, %q", name, problems, got)
		}
		for _, s := range f.Sections {
			if s.Off+s.Size > int64(len(c.b)) {
				t.Errorf("%s: %+v of %d bytes", name, s, len(c.b))
			}
		}
	}
}

func TestSectionsAreLimited(t *testing.T) {
	m := fixture.NewWasm().Section(5, []byte{0})
	b := append(m.Bytes(), strings.Repeat("\x05\x00", 1<<17)...)
	f := open(t, b)
	if len(f.Sections) != 1<<16 || len(f.Problems) != 1 {
		t.Errorf("%d sections, %v", len(f.Sections), f.Problems)
	}
}

func TestHugeCountsDoNotAllocate(t *testing.T) {
	huge := binary.AppendUvarint(nil, 1<<26)
	for name, m := range map[string]*fixture.Wasm{
		"functions": fixture.NewWasm().Section(10, huge).Custom("name", append([]byte{1, 6}, append(huge, 0)...)),
		"imports":   fixture.NewWasm().Section(2, huge).Section(10, huge),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		open(t, m.Bytes()).Functions(func([]byte, uint32, uint64, uint64) bool { return true })
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > 1<<16 {
			t.Errorf("%s: %d bytes", name, got)
		}
	}
}

func TestOpenRejects(t *testing.T) {
	for text, want := range map[string]fault.Kind{
		"": fault.Malformed, "\x00asm": fault.Malformed, "\x7fELF\x02\x01\x01\x00": fault.Malformed, "\x00asm\x0d\x00\x01\x00": fault.Unsupported,
	} {
		if _, err := wasm.Open(bin.Bytes([]byte(text))); fault.KindOf(err) != want {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// failing fails from an offset on.
type failing struct {
	b    []byte
	from int64
}

func (f failing) Size() int64 { return int64(len(f.b)) }

func (f failing) ReadAt(p []byte, off int64) (int, error) {
	if off >= f.from {
		return 0, errors.New("the disk is gone")
	}
	return copy(p, f.b[off:]), nil
}

func TestErrorsOfSourceAreReturned(t *testing.T) {
	b := module().Bytes()
	for _, from := range []int64{0, 8, 40} {
		if _, err := wasm.Open(failing{b, from}); err == nil {
			t.Errorf("from %d: no error", from)
		}
	}
	code := fixture.NewWasm().Section(10, make([]byte, 400)).Bytes()
	f, err := wasm.Open(failing{code, 11})
	if err != nil {
		t.Fatal(err)
	}
	if problems := f.Functions(nil); len(problems) != 1 || !strings.Contains(problems[0].Reason, "disk is gone") {
		t.Errorf("%v", problems)
	}
}

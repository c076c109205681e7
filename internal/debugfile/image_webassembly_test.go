package debugfile_test

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/fixture"
	"symbolon/internal/ident"
	"symbolon/internal/object"
)

// wasmFile returns a module of three functions of 16, 32 and 8 bytes, after a custom
// section of some size, and the offset of its code section.
func wasmFile(before int, more func(*fixture.Wasm)) (text []byte, code uint64) {
	w := fixture.NewWasm().Custom("producers", make([]byte, before))
	w.Imports("\x00\x00")
	w.Section(3, []byte{3, 0, 0, 0})
	code = uint64(w.Len()) + 2
	b := []byte{3}
	for _, n := range []int{16, 32, 8} {
		b = append(append(b, byte(n)), make([]byte, n)...)
	}
	w.Section(10, b)
	more(w)
	return w.Bytes(), code
}

// The name section comes before the debug information, and is of no use where a
// name is empty.
func TestFunctionsOfWasmHaveTheNamesOfTheSection(t *testing.T) {
	p := &fixture.Program{Units: []*fixture.ProgramUnit{{
		Version: 4, Lang: modelC, Dir: "/d", Files: []string{"a.c"},
		Funcs: []fixture.ProgramFunc{
			{Name: "_Z1fi", Ranges: []span{{2, 18}}},
			{Name: "g", Ranges: []span{{19, 51}}},
			{Name: "h", Ranges: []span{{52, 60}}},
		},
		Sequences: []fixture.ProgramLines{{Rows: []fixture.ProgramRow{{Addr: 2, File: 1, Line: 7}}, End: 60}},
	}}}
	text, code := wasmFile(3, func(w *fixture.Wasm) {
		w.Names(fixture.WasmName{Index: 1, Name: "int f<0>(int)"}, fixture.WasmName{Index: 2, Name: ""}) // 0 is the import
		for _, s := range p.Sections() {
			w.Custom(s.Name, s.Data)
		}
	})
	o := open(t, text)
	wants(t, o, map[uint64]string{
		code + 2: show1("int f<0>(int) /d/a.c:7", code+2, 16), code + 19: show1("g /d/a.c:7", code+19, 32), code + 52: show1("h /d/a.c:7", code+52, 8),
	})
	agreeWithTable(t, o, "wasm")
}

// The addresses of a module are offsets in the file; those of its DWARF count
// from the content of the code section.
func TestAddressesOfWasmAreOffsetsInTheFile(t *testing.T) {
	p := &fixture.Program{Units: []*fixture.ProgramUnit{{
		Version: 4, Lang: modelC, Dir: "/d", Files: []string{"a.c"},
		Funcs:     []fixture.ProgramFunc{{Name: "f", Ranges: []span{{2, 18}}}},
		Sequences: []fixture.ProgramLines{{Rows: []fixture.ProgramRow{{Addr: 2, File: 1, Line: 7}, {Addr: 10, File: 1, Line: 8}}, End: 40}},
	}}}
	for _, before := range []int{3, 5000} {
		text, code := wasmFile(before, func(w *fixture.Wasm) {
			w.Names(fixture.WasmName{Index: 1, Name: "first"}, fixture.WasmName{Index: 2, Name: "second"}) // 0 is the import
			w.Custom("build_id", []byte("\x10abcdefghijklmnop"))
			for _, s := range p.Sections() {
				w.Custom(s.Name, s.Data)
			}
		})
		o := open(t, text)
		wants(t, o, map[uint64]string{
			code + 1: "", code + 2: show1("first /d/a.c:7", code+2, 16), code + 17: show1("first /d/a.c:8", code+2, 16), code + 18: "",
			code + 19: show1("second /d/a.c:8", code+19, 32), code + 42: show1("second :0", code+19, 32), code + 52: "", 0: "", 2: "", 1 << 40: "",
		})
		id := ident.NewBuildID([]byte("\x10abcdefghijklmnop"))
		info := o.Info()
		if want := (ident.Module{Type: ident.TypeWasm, Arch: ident.ArchWasm32, CodeID: id.CodeID(), DebugID: id.DebugID(true)}); info.Module != want {
			t.Errorf("module %+v; want %+v", info.Module, want)
		}
		if info.Features != object.HasSymbols|object.HasDebug || info.BadRecords != 0 || info.Kind != "wasm" {
			t.Errorf("%+v", info)
		}
		agreeWithTable(t, o, "wasm")
	}
}

func TestWasmWithoutNamesKnowsNothing(t *testing.T) {
	text, code := wasmFile(3, func(*fixture.Wasm) {})
	o := open(t, text)
	wants(t, o, map[uint64]string{code + 2: "", code + 20: ""})
	if f := o.Info().Features; f != 0 {
		t.Errorf("features %v", f.Names())
	}
}

func TestDamagedWasmIsTold(t *testing.T) {
	text, code := wasmFile(3, func(w *fixture.Wasm) {
		w.Names(fixture.WasmName{Index: 1, Name: "first"}, fixture.WasmName{Index: 2, Name: "second"})
	})
	o := open(t, text[:len(text)-4])
	wants(t, o, map[uint64]string{code + 2: show1("first :0", code+2, 16)})
	told(t, o, "cut off", "damaged section", "section", 2)
}

func TestAModuleNamesTheOneWithItsDebugInformation(t *testing.T) {
	o := open(t, fixture.NewWasm().String("external_debug_info", "https://example.com/a.debug.wasm").Bytes())
	if n := o.Needs(); len(n) != 1 || n[0].Kind != object.NeedModule || n[0].Name != "https://example.com/a.debug.wasm" {
		t.Errorf("needs %+v", n)
	}
}

// stripped returns a module without debug information and names, with a link to them.
// Its code begins later by shift.
func stripped(t *testing.T, module []byte, name string) (out []byte, shift int) {
	custom := func(name, content string) []byte {
		body := append([]byte{byte(len(name))}, name...)
		body = append(append(body, byte(len(content))), content...)
		return append([]byte{0, byte(len(body))}, body...)
	}
	out = append(module[:8:8], custom("external_debug_info", name)...)
	shift = len(out) - 8
	for p := 8; p < len(module); {
		size, n := binary.Uvarint(module[p+1:])
		end := p + 1 + n + int(size)
		if module[p] != 0 {
			out = append(out, module[p:end]...)
		}
		p = end
	}
	return out, shift
}

func TestAModuleIsAnsweredFromTheOneWithItsDebugInformation(t *testing.T) {
	whole, err := os.ReadFile(filepath.Join(corpus, "wasm32.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	small, shift := stripped(t, whole, "wasm32.wasm")
	o, other := open(t, small), open(t, whole)
	var need object.Need
	for _, n := range o.Needs() {
		need = n
	}
	wrong := open(t, small)
	foreign := fixture.NewWasm().Bytes()
	if ok, err := wrong.Supply(need, bin.Bytes(foreign)); ok || err != nil {
		t.Errorf("another module: %v, %v", ok, err)
	}
	if ok, err := o.Supply(need, bin.Bytes(whole)); !ok || err != nil || o.Info().Features&object.HasDebug == 0 || len(o.Needs()) > 0 {
		t.Fatalf("its module: %v, %v, %+v", ok, err, o.Needs())
	}
	answers := 0
	for at := range uint64(len(whole)) {
		want := tellFrames(other, other.Lookup(nil, at))
		if got := brief(o.Lookup(nil, at+uint64(shift)), o.AppendText); got != brief(other.Lookup(nil, at), other.AppendText) {
			t.Fatalf("at %#x %s, wanted %s", at, got, want)
		}
		if want != "" {
			answers++
		}
	}
	if answers < 100 {
		t.Errorf("%d answers", answers)
	}
}

package debugfile_test

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/fixture"
	"symbolon/internal/ident"
	"symbolon/internal/object"
	"symbolon/internal/sym"
)

// coffObject returns an object with a function in each of two sections, which both
// begin at 0. The debug information is that of the second.
func coffObject(machine uint16) *fixture.PE {
	const second = 8 // the offset of the function in its section
	f := fixture.ProgramFunc{Name: "f", Ranges: []span{{second, second + 0x18}}}
	p := oneFunction(modelC, f)
	p.Units[0].Funcs[0].Ranges = f.Ranges
	p.Units[0].Sequences = []fixture.ProgramLines{{Rows: []fixture.ProgramRow{{Addr: second, Line: 7}}, End: second + 0x18}}
	x := &fixture.PE{Machine: machine}
	x.Section(fixture.PESection{Name: ".text", Data: make([]byte, 0x10), Flags: fixture.PECode})
	x.Section(fixture.PESection{Name: ".text$f_in_its_own", Data: make([]byte, 0x30), Flags: fixture.PECode})
	x.Symbols = []fixture.PESymbol{
		{Name: "first", Section: 1, Type: 0x20, Class: 2}, {Name: ".text$f_in_its_own", Section: 2, Class: 3},
	}
	for _, s := range p.Sections() {
		x.Section(fixture.PESection{Name: s.Name, Data: s.Data, Flags: fixture.PEDebugData, Relocs: addressesOf(s.Data, second, second+0x18)})
	}
	return x
}

// addressesOf returns relocations for the addresses of 8 bytes in data.
func addressesOf(data []byte, values ...uint64) (list []fixture.PEReloc) {
	for at := range data {
		for _, v := range values {
			if want := fixture.PEPack(v); at+8 <= len(data) && string(data[at:][:8]) == string(want) {
				list = append(list, fixture.PEReloc{Off: uint32(at), Symbol: 1, Type: 1})
			}
		}
	}
	return list
}

// Every section of code of an object begins at 0, and the first that knows an
// address answers.
func TestDWARFInObjectsOfWindows(t *testing.T) {
	for _, big := range []bool{false, true} {
		o := open(t, coffObject(fixture.PEX64).Object(big))
		wants(t, o, map[uint64]string{0: "first :0 [0+0]", 0xf: "first :0 [0+0]", 0x10: "f /d/a.c:7 [8+18]", 0x1f: "f /d/a.c:7 [8+18]", 0x20: "", 0x1000: ""})
		agreeWithTable(t, o, "an object")
		info := o.Info()
		if info.Kind != "coff" || info.Type != "rel" || info.Features != object.HasSymbols|object.HasDebug || info.BadRecords != 0 ||
			info.Module != (ident.Module{Type: ident.TypePE, Arch: ident.ArchX86_64}) {
			t.Errorf("large: %v: %+v", big, info)
		}
		if code, err := o.AppendCode(nil, 0, 4); len(code) > 0 || err != nil {
			t.Errorf("large: %v: code % x, %v", big, code, err)
		}
	}
}

func TestDamageOfObjectsOfWindowsIsTold(t *testing.T) {
	x := coffObject(fixture.PEX64)
	for i, s := range x.Sections {
		if s.Name == ".debug_line" {
			x.Sections[i].Relocs = append(s.Relocs, fixture.PEReloc{Symbol: 1, Type: 0x44})
		}
	}
	o := open(t, x.Object(false))
	wants(t, o, map[uint64]string{0x10: "f /d/a.c:7 [8+18]"})
	told(t, o, "a relocation", "damaged relocations", "relocations of section .debug_line, offset", 1)

	x = coffObject(fixture.PEX64)
	x.Sections[0].Size = 1 << 20
	o = open(t, x.Object(false))
	wants(t, o, map[uint64]string{0x9: "first :0 [0+0]"})
	told(t, o, "a section", "damaged headers", "section .text", 1)
}

// An object with CodeView answers as the PDB that was linked from it.
func TestObjectsAnswerAsThePDBThatWasLinkedFromThem(t *testing.T) {
	for object, pdb := range map[string]string{
		"win-x86_64-kiln.obj": "win-x86_64.pdb", "win-i686-kiln.obj": "win-i686.pdb", "win-aarch64-unload.obj": "win-aarch64.pdb",
	} {
		t.Run(object, func(t *testing.T) {
			linked := functionsOf(t, openCorpus(t, filepath.Join(corpus, pdb)))
			o := openCorpus(t, filepath.Join(corpus, object))
			compared := 0
			for name, f := range functionsOf(t, o) {
				to, ok := linked[name]
				if !ok || f.Size == 0 {
					continue // another function calls it inline
				}
				for at := range f.Size {
					got, want := brief(o.Lookup(nil, f.Entry+at), o.AppendText), brief(to.object.Lookup(nil, to.Entry+at), to.object.AppendText)
					if got != want {
						t.Fatalf("%s+%#x\n   is %s\nwants %s", name, at, got, want)
					}
					compared++
				}
			}
			if compared < 100 {
				t.Errorf("%d addresses were compared", compared)
			}
			agreeWithTable(t, o, object)
		})
	}
}

// entered is a function of an object.
type entered struct {
	object *object.Object
	sym.Node
}

// functionsOf returns the functions of an object by name.
func functionsOf(t *testing.T, o *object.Object) map[string]entered {
	t.Helper()
	all := map[string]entered{}
	err := o.Blocks(object.BlockOptions{}, func(b *sym.Block) error {
		if len(b.Nodes) > 0 {
			all[str(o, b.Nodes[0].Name)] = entered{o, b.Nodes[0]}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestCodeViewInObjects(t *testing.T) {
	for _, big := range []bool{false, true} {
		o := open(t, fixture.SampleObject().Object(big))
		wants(t, o, map[uint64]string{
			0x0: "yard::first(int) c:\\one.cc:5 [0+20]", 0x9: "yard::first(int) c:\\one.cc:6 [0+20]",
			0x1f: "yard::first(int) c:\\one.cc:6 [0+20]", 0x20: "",
		})
		agreeWithTable(t, o, "CodeView")
		if info := o.Info(); info.Kind != "coff" || info.Features != object.HasSymbols|object.HasDebug || info.BadRecords != 0 {
			t.Errorf("large: %v: %+v", big, info)
		}
	}
	x := fixture.SampleObject()
	x.Sections[0].Name, x.Sections[0].Flags = ".data", fixture.PEData
	o := open(t, x.Object(false))
	wants(t, o, map[uint64]string{
		0x7: "", 0x8: "yard::second(int) c:\\two.cc:32 [8+10]", 0xc: "inner(int) c:\\two.cc:101 < yard::second(int) c:\\two.cc:32 [8+10]",
		0x10: "yard::second(int) c:\\two.cc:32 [8+10]", 0x17: "yard::second(int) c:\\two.cc:32 [8+10]",
	})
	agreeWithTable(t, o, "a function of another section")
}

// Types that another file has are needed: without them functions have no arguments.
func TestTypesOfObjectsInOtherFilesAreNeeded(t *testing.T) {
	guid := [16]byte{1, 2, 3, 15: 16}
	for path, c := range map[string]struct {
		record []byte
		need   object.Need
	}{
		"a PDB": {
			fixture.PDBRecord(0x1515, guid[:], uint32(3), `C:\out\vc140.pdb`),
			object.Need{Kind: object.NeedTypes, Name: "vc140.pdb", Dir: `C:\out\`, DebugID: ident.NewGUID(guid, 3)},
		},
		"a precompiled header": {
			fixture.PDBRecord(0x1509, uint32(0x1000), uint32(20), uint32(7), "stdafx.obj"),
			object.Need{Kind: object.NeedTypes, Name: "stdafx.obj"},
		},
	} {
		x := fixture.SampleObject()
		x.Sections[4].Data = append([]byte{4, 0, 0, 0}, c.record...)
		x.Sections[4].Size = uint32(len(x.Sections[4].Data))
		o := open(t, x.Object(false))
		wants(t, o, map[uint64]string{0x0: "yard::first c:\\one.cc:5 [0+20]"})
		if needs := o.Needs(); len(needs) != 1 || !reflect.DeepEqual(needs[0], c.need) || c.need.Kind.String() != "types" {
			t.Errorf("%s: needs %+v, want %+v", path, needs, c.need)
		}
	}
}

// The PDB of that identity gives functions their arguments, and inlined ones their
// names.
func TestTypesOfObjectsAreSuppliedByTheirPDB(t *testing.T) {
	p := fixture.SamplePDB()
	p.Types = [][]byte{
		fixture.PDBRecord(0x1201, uint32(1), uint32(0x74)), fixture.PDBRecord(0x1008, uint32(0x74), uint8(0), uint8(0), uint16(1), uint32(0x1000)),
	}
	outside := fixture.PDBRecord(0x1601, uint32(0), uint32(0x1001), "outside")
	p.Items = [][]byte{outside, outside, outside, outside, outside, fixture.PDBRecord(0x1601, uint32(0), uint32(0x1001), "inside")}
	x := fixture.SampleObject()
	x.Sections[0].Flags = fixture.PEData
	x.Sections[4].Data = append([]byte{4, 0, 0, 0}, fixture.PDBRecord(0x1515, p.GUID[:], uint32(3), "vc140.pdb")...)
	x.Sections[4].Size = uint32(len(x.Sections[4].Data))
	o := open(t, x.Object(false))
	need := o.Needs()[0]
	other := fixture.SamplePDB()
	other.GUID[0]++
	if used, err := o.Supply(need, bin.Bytes(other.Bytes())); used || err != nil {
		t.Errorf("another PDB is used: %v, %v", used, err)
	}
	if used, err := o.Supply(need, bin.Bytes(oneELF("f"))); used || err == nil {
		t.Errorf("another file is used: %v, %v", used, err)
	}
	if used, err := o.Supply(need, bin.Bytes(p.Bytes())); !used || err != nil || len(o.Needs()) != 0 {
		t.Errorf("the PDB is used: %v, %v; needs %v", used, err, o.Needs())
	}
	wants(t, o, map[uint64]string{0xc: "inside(int) c:\\two.cc:101 < yard::second(int) c:\\two.cc:32 [8+10]"})
	agreeWithTable(t, o, "with types of a PDB")
}

// Damage in the CodeView of a function costs that function.
func TestDamageOfCodeViewIsTold(t *testing.T) {
	x := fixture.SampleObject()
	x.Sections[3].Data[8]++ // the size of its symbols
	o := open(t, x.Object(false))
	wants(t, o, map[uint64]string{0x0: "yard::first(int) c:\\one.cc:5 [0+20]"})
	told(t, o, "parts", "damaged sections", ".debug$S", 1)

	x = fixture.SampleObject()
	x.Sections[3].Data[0] = 2
	o = open(t, x.Object(false))
	wants(t, o, map[uint64]string{0x0: "yard::first(int) c:\\one.cc:5 [0+20]"})
	told(t, o, "a version", "damaged sections", "unsupported version 2", 1)

	const record, size = 12, 28 // the offsets of a record and its field
	for what, c := range map[string]struct {
		damage func(x *fixture.PE)
		told   string
	}{
		"the size of a record":      {func(x *fixture.PE) { x.Sections[3].Data[record+1] = 0xff }, "invalid record at offset 0x"},
		"the size of a procedure":   {func(x *fixture.PE) { copy(x.Sections[3].Data[size:], "\xff\xff\xff\xff") }, "section or size of 1 procedures is invalid"},
		"the section of its code":   {func(x *fixture.PE) { x.Sections[3].Relocs = nil }, "section or size of 1 procedures is invalid"},
		"the symbol of its section": {func(x *fixture.PE) { x.Symbols[1].Section = 77 }, "section or size of 1 procedures is invalid"},
	} {
		x = fixture.SampleObject()
		c.damage(x)
		o = open(t, x.Object(false))
		wants(t, o, map[uint64]string{0x0: "yard::first(int) c:\\one.cc:5 [0+20]"})
		told(t, o, what, "damaged modules", c.told, 1)
	}

	x = fixture.SampleObject()
	x.Sections[4].Data[0] = 2
	o = open(t, x.Object(false))
	wants(t, o, map[uint64]string{0x0: "yard::first c:\\one.cc:5 [0+20]"})
	told(t, o, "types", "damaged headers", ".debug$T", 1)

	x = fixture.SampleObject()
	x.Sections[4].Data[5] = 0xff // the size of the first
	o = open(t, x.Object(false))
	wants(t, o, map[uint64]string{0x0: "yard::first c:\\one.cc:5 [0+20]"})
	told(t, o, "a type", "damaged headers", "invalid record", 1)
}

// The names of functions do not depend on where they are read from: from the
// debug information, or from a symbol table or exports, where the system and the
// linker decorate them.
func TestNamesOfAllCallingConventionsAgree(t *testing.T) {
	want := map[string]bool{"all": true}
	for _, name := range []string{"plain", "std", "fast", "vector", "own"} {
		want[name], want["_"+name], want["__"+name] = true, true, true
	}
	inner := []string{"own", "_own", "__own"} // not exported
	for _, name := range []string{
		"call-x86_64.o", "call-i686.o", "call-armv7.o", "call-x86_64.obj", "call-i686.obj", "call-armv7.obj",
		"call-gnu.dll", "call-lld.dll", "call-msvc.dll", "call-msvc.pdb",
	} {
		all, err := os.ReadFile(filepath.Join(corpus, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range [][]byte{all, bytes.ReplaceAll(all, []byte("debug"), []byte("other"))} {
			found := map[string]bool{}
			for function := range functionsOf(t, open(t, text)) {
				function, _, _ = strings.Cut(function, "(")
				found[function] = true
			}
			if strings.HasSuffix(name, ".dll") {
				for _, name := range inner {
					found[name] = true
				}
			}
			if !reflect.DeepEqual(found, want) {
				t.Errorf("%s: %v, want %v", name, found, want)
			}
		}
	}
}

package debugfile_test

import (
	"testing"

	"symbolon/internal/fixture"
	"symbolon/internal/ident"
	"symbolon/internal/object"
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
		x.Section(fixture.PESection{Name: s.Name, Data: s.Data, Flags: 0x42100040, Relocs: addressesOf(s.Data, second, second+0x18)})
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

package debugfile_test

import (
	"bytes"
	"encoding/binary"
	"reflect"
	"slices"
	"strings"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/debugfile"
	"symbolon/internal/fixture"
	"symbolon/internal/ident"
	"symbolon/internal/object"
)

// machoDebug is the debug information of a program in a segment.
func machoDebug(p *fixture.Program) (all []fixture.MachOSection) {
	for _, s := range p.Sections() {
		all = append(all, fixture.MachOSection{Name: "__" + s.Name[1:], Data: s.Data})
	}
	return all
}

// machoImage is an image of 64 bits with code at 0x1100 and two symbols.
func machoImage(cpu, kind uint32, id string, debug ...fixture.MachOSection) *fixture.MachO {
	m := fixture.NewMachO(cpu, 0, kind)
	m.UUID([16]byte([]byte(id)))
	text := fixture.MachOSection{Name: "__text", Addr: 0x1100, Size: 0x100, Flags: fixture.MachOCode}
	if kind != fixture.MachODSYM {
		text.Data = make([]byte, 0x100)
	}
	m.Segment("__TEXT", 0x1000, 0x1000, text)
	if debug != nil {
		m.Segment("__DWARF", 0x4000, 0x1000, debug...)
	}
	return m.Symbol("_local", 0x0e, 1, 0, 0x1100).Symbol("_global", 0x0f, 1, 0, 0x1100).Symbol("_next", 0x0f, 1, 0, 0x1180).Symtab()
}

const uuidA, uuidB = "0123456789abcdef", "ABCDEFGHIJKLMNOP"

func TestEachImageOfAFatFileHasItsIdentityAndAnswers(t *testing.T) {
	for _, wide := range []bool{false, true} {
		p := oneFunction(modelC, fixture.ProgramFunc{Name: "f"})
		text := fixture.MachOFat(wide, machoImage(fixture.MachOX64, fixture.MachODSYM, uuidA, machoDebug(p)...), machoImage(fixture.MachOARM64, fixture.MachODylib, uuidB))
		f, err := debugfile.Open(bin.Bytes(text), object.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if f.Kind() != "macho" || len(f.Objects()) != 2 {
			t.Fatalf("%s, %d objects", f.Kind(), len(f.Objects()))
		}
		for i, c := range []struct {
			id    string
			arch  ident.Arch
			kind  string
			wants map[uint64]string
			needs []object.Need
		}{
			{uuidA, ident.ArchX86_64, "dbg", map[uint64]string{0x108: "f /d/a.c:7 [100+40]", 0x148: "global /d/a.c:7 [100+0]", 0x188: "next :0 [180+0]", 0x200: ""}, nil},
			{uuidB, ident.ArchARM64, "lib", map[uint64]string{0x108: "global :0 [100+0]", 0x1ff: "next :0 [180+0]", 0x200: ""}, []object.Need{{Kind: object.NeedDSYM, ID: []byte(uuidB)}}},
		} {
			o := f.Objects()[i]
			id := [16]byte([]byte(c.id))
			module := ident.Module{Type: ident.TypeMachO, Arch: c.arch, DebugID: ident.NewDebugID(id, 0), CodeID: ident.UUIDCodeID(id)}
			if info := o.Info(); !reflect.DeepEqual(info.Module, module) || info.Type != c.kind || info.LoadAddress != 0x1000 || info.BadRecords != 0 {
				t.Errorf("image %d: %+v; want %+v", i, info, module)
			}
			wants(t, o, c.wants)
			if needs := o.Needs(); len(needs) != len(c.needs) || len(needs) > 0 && !reflect.DeepEqual(needs, c.needs) {
				t.Errorf("image %d needs %+v", i, needs)
			}
			agreeWithTable(t, o, "fat")
		}
	}
}

// Symbols of Mach-O have no size. After the
// end of a function with debug information there is no name, unless a line program
// has the address.
func TestASymbolOfMachOEndsWithItsFunction(t *testing.T) {
	p := oneFunction(modelC, fixture.ProgramFunc{Name: "f"})
	for end, want := range map[uint64]map[uint64]string{
		0x1140: {0x13f: "f /d/a.c:7 [100+40]", 0x140: "", 0x17f: "", 0x180: "next :0 [180+0]"},
		0x1150: {0x13f: "f /d/a.c:7 [100+40]", 0x140: "global /d/a.c:7 [100+0]", 0x150: "", 0x180: "next :0 [180+0]"},
	} {
		p.Units[0].Sequences[0].End = end
		image := machoImage(fixture.MachOX64, fixture.MachODSYM, uuidA, machoDebug(p)...).Bytes()
		o := open(t, image)
		wants(t, o, want)
		agreeWithTable(t, o, "Mach-O")
		for addr := range want { // the first question to a file is answered in another way
			o := open(t, image)
			wants(t, o, map[uint64]string{addr: want[addr]})
		}
	}
}

func TestADamagedImageCostsItself(t *testing.T) {
	good := machoImage(fixture.MachOX64, fixture.MachODylib, uuidA)
	bad := machoImage(fixture.MachOARM64, fixture.MachODylib, uuidB)
	text := fixture.MachOFat(false, bad, good)
	at := bytes.Index(text, bad.Bytes()[:8])
	copy(text[at:], "damaged")
	f, err := debugfile.Open(bin.Bytes(text), object.Options{})
	if err != nil || len(f.Objects()) != 1 {
		t.Fatal(f, err)
	}
	wants(t, f.Objects()[0], map[uint64]string{0x108: "global :0 [100+0]"})
	copy(text[bytes.Index(text, good.Bytes()[:8]):], "damaged")
	if f, err := debugfile.Open(bin.Bytes(text), object.Options{}); err == nil {
		t.Errorf("%d objects of nothing", len(f.Objects()))
	}
}

// The relocations of an object file add the addresses of symbols; those that
// refer to sections have been applied.
func TestRelocatableMachO(t *testing.T) {
	p := oneFunction(modelC, fixture.ProgramFunc{Name: "f"})
	p.Units[0].Funcs = append(p.Units[0].Funcs, fixture.ProgramFunc{Name: "g", Ranges: []span{{0x2200, 0x2210}}})
	m := fixture.NewMachO(fixture.MachOX64, 3, fixture.MachOObject)
	debug := machoDebug(p)
	info := debug[0].Data
	at := bytes.Index(info, binary.LittleEndian.AppendUint64(nil, 0x2200))
	binary.LittleEndian.PutUint64(info[at:], 0x80) // and the symbol, which is the first
	debug[0].Relocs = [][2]uint32{{uint32(at), 0 | 3<<25 | 1<<27}}
	sections := append([]fixture.MachOSection{{Name: "__text", Segment: "__TEXT", Addr: 0x1100, Data: make([]byte, 0x100), Flags: fixture.MachOCode}}, debug...)
	for i := range debug {
		sections[i+1].Segment = "__DWARF"
	}
	m.Segment("", 0, 0x2000, sections...).Symbol("_symbol", 0x0f, 1, 0, 0x1100).Symtab()
	o := open(t, m.Bytes())
	wants(t, o, map[uint64]string{0x1108: "f /d/a.c:7 [1100+40]", 0x1188: "g :0 [1180+10]", 0x1170: "symbol /d/a.c:7 [1100+0]"})
	if o.Info().Type != "rel" {
		t.Error(o.Info().Type)
	}
	agreeWithTable(t, o, "relocatable")
}

func TestCompressedSectionsOfMachO(t *testing.T) {
	p := oneFunction(modelC, fixture.ProgramFunc{Name: "f"})
	for _, more := range []uint64{0, 1, 1 << 40} {
		debug := machoDebug(p)
		for i := range debug {
			s := &debug[i]
			size := binary.BigEndian.AppendUint64([]byte("ZLIB"), uint64(len(s.Data))+more)
			s.Name, s.Data = "__z"+s.Name[2:], append(size, deflated(t, s.Data)...)
		}
		o := open(t, machoImage(fixture.MachOX64, fixture.MachODSYM, uuidA, debug...).Bytes())
		if more == 0 {
			wants(t, o, map[uint64]string{0x108: "f /d/a.c:7 [100+40]"})
			continue
		}
		told(t, o, "another size", "damaged section", "__debug_info", uint64(1))
		wants(t, o, map[uint64]string{0x108: "global :0 [100+0]"})
	}
}

// Compact entries come as STACK records, and the FDEs that they point to; others
// do not.
// A symbol ends where the next function starts, also if that has no name any
// more.
func TestFunctionsWithoutSymbolsAreNoOthers(t *testing.T) {
	o := open(t, machoImage(fixture.MachOX64, fixture.MachODylib, uuidA).FunctionStarts(0x100, 0x40, 0x60).Bytes())
	wants(t, o, map[uint64]string{0x13f: "global :0 [100+0]", 0x140: "", 0x17f: "", 0x180: "next :0 [180+0]", 0x1a0: ""})
	agreeWithTable(t, o, "starts")
}

func TestUnwindInformationOfMachO(t *testing.T) {
	f := fixture.NewFrame(true)
	f.Addr = 0x1300
	c := f.CIE(fixture.FrameX8664(true))
	wanted := f.Len()
	f.FDE(c, 0x1140, 0x20, 0x44, 0x0e, 32)
	f.FDE(c, 0x1100, 0x20, 0x44, 0x0e, 48)
	unwind := fixture.UnwindInfo(0x180, []uint32{0x02020000}, fixture.UnwindPage{Rows: []fixture.UnwindRow{
		{Start: 0x100, Encoding: 0x02020000}, {Start: 0x140, Encoding: 0x04000000 | uint32(wanted)}, {Start: 0x160, Encoding: 0x02030000},
	}})
	m := fixture.NewMachO(fixture.MachOX64, 3, fixture.MachODylib)
	m.Segment("__TEXT", 0x1000, 0x1000,
		fixture.MachOSection{Name: "__text", Addr: 0x1100, Data: make([]byte, 0x100), Flags: fixture.MachOCode},
		fixture.MachOSection{Name: "__eh_frame", Addr: 0x1300, Data: f.Bytes()},
		fixture.MachOSection{Name: "__unwind_info", Addr: 0x1200, Data: unwind})
	o := open(t, m.Bytes())
	want := []string{
		"STACK CFI 144 .cfa: $rsp 32 +",
		"STACK CFI INIT 100 40 .cfa: $rsp 16 + .ra: .cfa -8 + ^",
		"STACK CFI INIT 140 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^",
		"STACK CFI INIT 160 20 .cfa: $rsp 24 + .ra: .cfa -8 + ^",
	}
	got := strings.Split(strings.TrimSpace(cfiOf(t, o)), "\n")
	slices.Sort(got)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if o.Info().Features&object.HasUnwind == 0 {
		t.Errorf("features %v", o.Info().Features.Names())
	}
}

package debugfile_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"symbolon/internal/fixture"
	"symbolon/internal/object"
)

// goProgram is a stripped Go program of two functions at 0x401000, one with a
// call that was inlined.
func goProgram(release int) *fixture.GoTable {
	g := &fixture.GoTable{
		Release: release, Ptr: 8, Quantum: 1, Text: 0x401000, TreeAddr: 0x500000, Files: []string{"/a/main.go", "/a/in.go"},
		Funcs: []fixture.GoFunc{
			{Name: "main.first", Pieces: []fixture.GoPiece{{Size: 16, Line: 5, Call: -1}, {Size: 16, Line: 6, Call: -1}}, Gap: 16},
			{
				Name:   "main.second",
				Pieces: []fixture.GoPiece{{Size: 8, Line: 20, Call: -1}, {Size: 8, File: 1, Line: 30, Call: 0}, {Size: 16, Line: 21, Call: -1}},
				Calls:  []fixture.GoCall{{Parent: -1, Name: "main.inlined", Line: 20, At: 7}},
			},
		},
	}
	for range 200 { // more than one unit
		g.Funcs = append(g.Funcs, fixture.GoFunc{Name: "main.more", Pieces: []fixture.GoPiece{{Size: 4, Line: 50, Call: -1}}, Gap: 4})
	}
	return g
}

// goFile puts a table where linkers put it, with what the loader knows.
func goFile(g *fixture.GoTable, section string, more ...fixture.ELFSection) []byte {
	table, _ := g.Bytes()
	if g.Release >= 18 {
		more = append(more, fixture.ELFSection{Name: ".noptrdata", Type: 1, Flags: 3, Addr: 0x600000, Data: g.Module(table, 0x401000, 0x401800, 0x500000)})
	}
	return goFileOf(g, table, section, more...)
}

// goFileOf is goFile without module data.
func goFileOf(g *fixture.GoTable, table []byte, section string, more ...fixture.ELFSection) []byte {
	_, trees := g.Bytes()
	e := &fixture.ELF{Wide: true, Type: 2, Machine: 62}
	e.Segment(fixture.ELFSegment{Type: 1, Flags: 5, Vaddr: 0x400000, Memsz: 0x200000})
	e.Add(fixture.ELFSection{Name: ".text", Type: 1, Flags: 6, Addr: 0x401000, Data: make([]byte, 0x800)})
	e.Add(fixture.ELFSection{Name: section, Type: 1, Flags: 2, Addr: 0x480000, Data: table})
	e.Add(fixture.ELFSection{Name: ".gofunc", Type: 1, Flags: 2, Addr: 0x500000, Data: trees})
	e.Add(fixture.ELFSection{Name: ".note.go.buildid", Type: 7, Flags: 2, Data: e.Note("Go", 4, []byte("id"), 4)})
	for _, s := range more {
		e.Add(s)
	}
	return e.Bytes()
}

func TestStrippedGoProgramsAreAnswered(t *testing.T) {
	for _, release := range []int{11, 12, 13, 16, 18, 20, 26} {
		o := open(t, goFile(goProgram(release), ".gopclntab"))
		wants(t, o, map[uint64]string{
			0xfff: "", 0x1000: "main.first /a/main.go:5 [1000+30]", 0x101f: "main.first /a/main.go:6 [1000+30]",
			0x1034:         "main.second /a/main.go:20 [1030+20]",
			0x103a:         "main.inlined /a/in.go:30 < main.second /a/main.go:20 [1030+20]",
			0x1040:         "main.second /a/main.go:21 [1030+20]",
			0x1050 + 8*150: show1("main.more /a/main.go:50", 0x1050+8*150, 8),
		})
		agreeWithTable(t, o, "go")
		if info := o.Info(); info.BadRecords != 0 || info.Features&object.HasSymbols == 0 {
			t.Errorf("release %d: %+v", release, info)
		}
	}
}

// The table is found in other sections, and where there is DWARF that counts.
func TestFunctionTableOfGoElsewhere(t *testing.T) {
	for _, section := range []string{".data.rel.ro.gopclntab", ".data.rel.ro", ".rodata"} {
		wants(t, open(t, goFile(goProgram(20), section)), map[uint64]string{0x1000: "main.first /a/main.go:5 [1000+30]"})
	}
	p := oneFunction(modelC, fixture.ProgramFunc{Name: "f"})
	p.Units[0].Funcs[0].Ranges = []span{{0x401000, 0x401010}}
	p.Units[0].Sequences = nil
	o := open(t, goFile(goProgram(20), ".gopclntab", p.Sections()...))
	wants(t, o, map[uint64]string{0x1008: "f :0 [1000+10]", 0x1040: ""})
}

// In a program that can be loaded anywhere the loader puts the addresses into
// runtime.moduledata.
func TestGoProgramsThatMoveAreAnswered(t *testing.T) {
	g := goProgram(26)
	table, _ := g.Bytes()
	const text, end, goFunc = 0x1111111111111111, 0x2222222222222222, 0x3333333333333333
	module := g.Module(table, text, end, goFunc)
	file := &fixture.ELF{Wide: true}
	var relocs []fixture.ELFReloc
	for place, addr := range map[uint64]int64{text: 0x401000, end: 0x401800, goFunc: 0x500000} {
		at := bytes.Index(module, binary.LittleEndian.AppendUint64(nil, place))
		copy(module[at:], make([]byte, 8))
		relocs = append(relocs, fixture.ELFReloc{Off: 0x600000 + uint64(at), Kind: 8, Addend: addr})
	}
	o := open(t, goFileOf(g, table, ".gopclntab", fixture.ELFSection{Name: ".noptrdata", Type: 1, Flags: 3, Addr: 0x600000, Data: module},
		fixture.ELFSection{Name: ".rela.dyn", Type: 4, Data: file.Relocs(true, relocs...)}))
	wants(t, o, map[uint64]string{0x1000: "main.first /a/main.go:5 [1000+30]", 0x103a: "main.inlined /a/in.go:30 < main.second /a/main.go:20 [1030+20]"})
}

func TestStrippedGoProgramsOfMachO(t *testing.T) {
	const base, chained = 0x400000, 1 << 51 // the distance to the next fixup
	for name, pointer := range map[string]func(addr uint64) uint64{
		"addresses": func(addr uint64) uint64 { return addr }, "chain of addresses": func(addr uint64) uint64 { return addr | chained },
		"chain of offsets": func(addr uint64) uint64 { return addr - base | chained },
	} {
		g := goProgram(20)
		table, trees := g.Bytes()
		module := g.Module(table, pointer(0x401000), pointer(0x401800), pointer(0x500000))
		m := fixture.NewMachO(fixture.MachOX64, 3, fixture.MachOExec)
		m.Segment("__TEXT", base, 0x10000, // with functions of C around those of Go
			fixture.MachOSection{Name: "__text", Addr: 0x400800, Data: make([]byte, 0x1100), Flags: fixture.MachOCode},
			fixture.MachOSection{Name: "__gopclntab", Addr: 0x403000, Data: table})
		m.Segment("__DATA", 0x500000, 0x200000,
			fixture.MachOSection{Name: "__rodata", Addr: 0x500000, Data: trees}, fixture.MachOSection{Name: "__noptrdata", Addr: 0x600000, Data: module})
		o := open(t, m.Bytes())
		wants(t, o, map[uint64]string{
			0xfff: "", 0x1000: "main.first /a/main.go:5 [1000+30]", 0x1040: "main.second /a/main.go:21 [1030+20]",
			0x103a: "main.inlined /a/in.go:30 < main.second /a/main.go:20 [1030+20]",
		})
		agreeWithTable(t, o, name)
	}
}

func TestGoProgramOfMachOWithoutModuleDataIsAnswered(t *testing.T) {
	table, _ := goProgram(20).Bytes()
	m := fixture.NewMachO(fixture.MachOX64, 3, fixture.MachOExec)
	m.Segment("__TEXT", 0x400000, 0x10000,
		fixture.MachOSection{Name: "__text", Addr: 0x401000, Data: make([]byte, 0x800), Flags: fixture.MachOCode},
		fixture.MachOSection{Name: "__gopclntab", Addr: 0x403000, Data: table})
	o := open(t, m.Bytes())
	wants(t, o, map[uint64]string{0x1000: "main.first /a/main.go:5 [1000+30]", 0x1040: "main.second /a/main.go:21 [1030+20]"})
	agreeWithTable(t, o, "macho")
}

// A function of the table that is damaged costs itself.
func TestDamagedFunctionTableOfGo(t *testing.T) {
	g := goProgram(20)
	table, _ := g.Bytes()
	whole := goFile(g, ".gopclntab")
	cut := append([]byte(nil), whole...)
	at := len(table) - 3000 // records are at the end of the table
	start := bytes.Index(whole, table[:64])
	for i := range 8 {
		cut[start+at+i] = 0xff
	}
	o := open(t, cut)
	agreeWithTable(t, o, "damaged")
	wants(t, o, map[uint64]string{0x1000: "main.first /a/main.go:5 [1000+30]"})
}

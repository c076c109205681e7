package pe_test

import (
	"bytes"
	"debug/pe"
	"slices"
	"strings"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/fixture"
	ours "symbolon/internal/format/pe"
	"symbolon/internal/ident"
)

const guid = "\x61\x3d\xdc\xe6\xd3\xb9\xf3\x12\x4c\x4c\x44\x20\x50\x44\x42\x2e"

// rsds returns a CodeView record.
func rsds(path string) []byte { return fixture.PEPack("RSDS"+guid, uint32(3), path+"\x00and more") }

// library returns a file with all the parts of an image.
func library(machine uint16) *fixture.PE {
	p := fixture.NewPE(machine)
	p.Section(fixture.PESection{Name: ".text", Addr: 0x1000, Size: 0x100, Data: make([]byte, 0x100), Flags: fixture.PECode})
	p.Section(fixture.PESection{Name: ".bss", Addr: 0x2000, Size: 0x100, Flags: fixture.PEBSS})
	p.Table(fixture.PEDirExport, fixture.PESection{Name: ".edata", Addr: 0x3000, Flags: fixture.PEData, Data: fixture.PEExports(0x3000,
		fixture.PEExport{Name: "?method@Class@@QEAAXXZ", Addr: 0x1010}, fixture.PEExport{Name: "_underscored", Addr: 0x1020},
		fixture.PEExport{Name: "data", Addr: 0x2000}, fixture.PEExport{Name: "elsewhere"}, fixture.PEExport{Name: "_std@8", Addr: 0x1030},
		fixture.PEExport{Name: "vector@@16", Addr: 0x1034}, fixture.PEExport{Name: "", Addr: 0x1038})})
	debug, size := fixture.PEDebug(0x4000, 0, fixture.PEDebugEntry{Kind: 16, Data: []byte("repro")},
		fixture.PEDebugEntry{Kind: 2, Data: rsds(`C:\out/dir\app.pdb`), Mapped: true},
		fixture.PEDebugEntry{Kind: 2, Data: rsds("second"), Mapped: true},
		fixture.PEDebugEntry{Kind: 17, Data: []byte("MPDB\x10\x00\x00\x00packed"), Mapped: true})
	p.Table(fixture.PEDirDebug, fixture.PESection{Name: ".buildid", Addr: 0x4000, Flags: fixture.PEData, Data: debug})
	p.Dirs[fixture.PEDirDebug][1] = size
	unwind, table := unwindTables(machine)
	p.Section(fixture.PESection{Name: ".xdata", Addr: 0x5000, Flags: fixture.PEData, Data: unwind})
	p.Table(fixture.PEDirException, fixture.PESection{Name: ".pdata", Addr: 0x6000, Flags: fixture.PEData, Data: table})
	p.Section(fixture.PESection{Name: ".debug_info", Addr: 0x7000, Data: []byte("information")})
	p.Section(fixture.PESection{Name: ".zdebug_line", Addr: 0x8000, Data: []byte("ZLIB\x00\x00\x00\x00\x00\x00\x01\x00packed")})
	p.Section(fixture.PESection{Name: ".eh_fram", Addr: 0x8800, Data: []byte("frames")})
	p.Section(fixture.PESection{Name: ".gnu_debuglink", Addr: 0x8900, Data: []byte("app.dbg\x00\x78\x56\x34\x12")})
	p.Symbols = []fixture.PESymbol{
		{Name: ".file", Section: -2, Class: 103, Aux: 1},
		{Name: ".text", Section: 1, Class: 3, Aux: 1},
		{Name: "_main", Section: 1, Value: 0x40, Type: 0x20, Class: 2},
		{Name: "__ZN6second4nameEv", Section: 1, Value: 0x50, Type: 0x20, Class: 3},
		{Name: "@fast@12", Section: 1, Value: 0x60, Type: 0x20, Class: 3},
		{Name: "_etext", Section: 1, Value: 0x100, Class: 2},
		{Name: "_label", Section: 1, Value: 0x70, Class: 2},
		{Name: "hidden", Section: 1, Value: 0x71, Class: 3},
		{Name: "_data", Section: 2, Class: 2},
		{Name: "nowhere", Section: 99, Class: 2},
		{Name: "", Section: 1, Value: 0x78, Class: 2},
	}
	return p
}

// unwindTables returns the two sections of unwind information.
func unwindTables(machine uint16) (unwind, table []byte) {
	if machine == fixture.PEARM64 {
		return fixture.PEXdata(0x20, "\x81\xe4", 0), fixture.PEPack(uint32(0x1010), uint32(0x5000), uint32(0x1040), uint32(1|4<<2|2<<16|2<<23))
	}
	unwind = fixture.PEUnwind{Prolog: 4, Codes: []uint16{0x4204}}.Bytes()
	return unwind, fixture.PEPack(uint32(0x1010), uint32(0x1020), uint32(0x5000), uint32(0x1040), uint32(0x1050), uint32(0x5000), uint32(0), uint32(0), uint32(0))
}

func open(t *testing.T, b []byte) *ours.File {
	t.Helper()
	f, err := ours.Open(bin.Bytes(b))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func clean(t *testing.T, b []byte) *ours.File {
	t.Helper()
	f := open(t, b)
	if len(f.Problems) > 0 {
		t.Fatalf("problems: %v", f.Problems)
	}
	return f
}

func TestHeaders(t *testing.T) {
	for _, c := range []struct {
		machine uint16
		arch    ident.Arch
		base    uint64
	}{
		{fixture.PEX86, ident.ArchX86, 0x10000000}, {fixture.PEX64, ident.ArchX86_64, 0x180000000}, {fixture.PEARM64, ident.ArchARM64, 0x180000000},
		{fixture.PEARM, ident.ArchARMv7, 0x10000000}, {0x1c2, ident.ArchARM, 0x10000000}, {0x200, ident.ArchUnknown, 0x10000000},
	} {
		p := library(c.machine)
		f := clean(t, p.Bytes())
		if f.Arch() != c.arch || f.ImageBase != c.base || f.CodeID() != "5ab380779000" || f.Kind() != "lib" {
			t.Errorf("%#x: %v, base %#x, %s, %s", c.machine, f.Arch(), f.ImageBase, f.CodeID(), f.Kind())
		}
		p.Characteristics = fixture.PEExecutable
		if f := clean(t, p.Bytes()); f.Kind() != "exe" {
			t.Error(f.Kind())
		}
	}
}

func TestSectionsAgreeWithStandardLibrary(t *testing.T) {
	for _, long := range []bool{false, true} {
		p := library(fixture.PEX64)
		p.Base64 = long
		b := p.Bytes()
		f := clean(t, b)
		theirs := &pe.File{}
		if !long {
			var err error
			if theirs, err = pe.NewFile(bytes.NewReader(b)); err != nil || len(theirs.Sections) != len(f.Sections) {
				t.Fatalf("%v, %d sections", err, len(f.Sections))
			}
		}
		for i, s := range theirs.Sections {
			m := f.Sections[i]
			if s.Name != m.Name || s.VirtualAddress != m.Addr || s.VirtualSize != m.Size {
				t.Errorf("%+v and %+v", s.SectionHeader, m)
			}
			want, _ := s.Data()
			want = want[:min(len(want), int(m.Size))]
			if got, err := f.Data(&m); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: %q, %v", m.Name, got, err)
			}
		}
		for name, want := range map[string]string{".debug_info": "information", ".debug_line": "packed", ".eh_frame": "frames"} {
			zlib, size, data, err := f.Packed(f.Section(name))
			if err != nil || string(data) != want || zlib != (size == 256) {
				t.Errorf("%s: %v, %d, %q, %v", name, zlib, size, data, err)
			}
		}
	}
	f := clean(t, library(fixture.PEX64).Bytes())
	if f.Section(".debug_str") != nil || f.At(0x9999) != nil || f.At(0x10ff).Name != ".text" || f.Mapped(0, 2)[0] != 'M' {
		t.Error("Section returns missing sections")
	}
}

func TestDebugDirectory(t *testing.T) {
	f := clean(t, library(fixture.PEX64).Bytes())
	if f.PDB.ID.String() != "e6dc3d61-b9d3-12f3-4c4c-44205044422e-3" || f.PDB.Name() != "app.pdb" || f.PDB.Path != `C:\out/dir\app.pdb` {
		t.Errorf("%+v", f.PDB)
	}
	if packed, size, ok := f.EmbeddedPDB(); string(packed) != "packed" || size != 16 || !ok {
		t.Errorf("embedded: %q, %d, %v", packed, size, ok)
	}
	if name, crc, ok := f.DebugLink(); name != "app.dbg" || crc != 0x12345678 || !ok {
		t.Errorf("debug link: %s, %#x, %v", name, crc, ok)
	}
	for name, c := range map[string]struct {
		entry fixture.PEDebugEntry
		id    string
		has   bool
	}{
		"portable":   {fixture.PEDebugEntry{Minor: 0x504d, Time: 0xfc31f2b1, Data: rsds("a.pdb")}, "e6dc3d61-b9d3-12f3-4c4c-44205044422e-fc31f2b1", true},
		"old":        {fixture.PEDebugEntry{Data: fixture.PEPack("NB10", uint32(0), uint32(0x3d3aeb66), uint32(2), "a.pdb\x00")}, "3D3AEB66-2", true},
		"no name":    {fixture.PEDebugEntry{Data: rsds("a.pdb")[:24]}, "e6dc3d61-b9d3-12f3-4c4c-44205044422e-3", true},
		"cut":        {fixture.PEDebugEntry{Data: rsds("a.pdb")[:22]}, "00000000-0000-0000-0000-000000000000", false},
		"other kind": {fixture.PEDebugEntry{Data: []byte("NB09 and something else")}, "00000000-0000-0000-0000-000000000000", false},
	} {
		c.entry.Kind = 2
		p := fixture.NewPE(fixture.PEX64)
		debug, size := fixture.PEDebug(0x1000, 0x200, c.entry)
		p.Table(fixture.PEDirDebug, fixture.PESection{Name: ".rdata", Addr: 0x1000, Data: debug})
		p.Dirs[fixture.PEDirDebug][1] = size
		if f := clean(t, p.Bytes()); f.HasPDB != c.has || f.PDB.ID.String() != c.id {
			t.Errorf("%s: %v, %+v", name, f.HasPDB, f.PDB)
		}
	}
}

func TestSymbolsOfCode(t *testing.T) {
	const want = "0 1010 ?method@Class@@QEAAXXZ, 0 1020 _underscored, 0 1030 _std@8, 0 1034 vector@@16, 1 1040 _main, 1 1050 __ZN6second4nameEv, 1 1060 @fast@12, 1 1070 _label, "
	for _, machine := range []uint16{fixture.PEX64, fixture.PEX86} {
		f := clean(t, library(machine).Bytes())
		if got := symbols(t, f); got != want {
			t.Errorf("%#x:\n got %s\nwant %s", machine, got, want)
		}
		n := 0
		for s := range f.Symbols {
			if n++; s.Function == (string(s.Name) == "_label") || n == 6 {
				break
			}
		}
		if f.SymbolName(ours.TableCOFF, 1000) != nil || f.SymbolName(ours.TableExport, 0xffffff00) != nil {
			t.Error("SymbolName returns names beyond the end")
		}
	}
}

// symbols formats all symbols.
func symbols(t *testing.T, f *ours.File) string {
	var b []byte
	for s := range f.Symbols {
		if got := f.SymbolName(s.Table, s.NameOff); !bytes.Equal(got, s.Name) {
			t.Errorf("%q is called %q", s.Name, got)
		}
		b = append(b, strings.Join([]string{string('0' + rune(s.Table)), hex(s.Addr), string(s.Name)}, " ")...)
		b = append(b, ", "...)
	}
	return string(b)
}

func hex(v uint32) string {
	const digits = "0123456789abcdef"
	var b []byte
	for ; v > 0; v >>= 4 {
		b = append(b, digits[v&15])
	}
	slices.Reverse(b)
	return string(b)
}

func TestOpenRejectsInvalidHeader(t *testing.T) {
	whole := library(fixture.PEX64).Bytes()
	for n, kind := range map[int]fault.Kind{0: fault.Malformed, 63: fault.Malformed, 64: fault.Unsupported, 87: fault.Unsupported} {
		if _, err := ours.Open(bin.Bytes(whole[:n])); fault.KindOf(err) != kind {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	for _, n := range []int{88, 100, 200, 400, 0x400, 0x600, 0x900, 0xc00} {
		if f := open(t, whole[:n]); len(f.Problems) == 0 {
			t.Errorf("%d bytes: no problem is reported", n)
		}
	}
}

// Damage affects only the damaged part.
func TestDamageIsReported(t *testing.T) {
	for place, change := range map[string]func(p *fixture.PE){
		"optional header":     func(p *fixture.PE) { p.Optional = 60 },
		"section .text":       func(p *fixture.PE) { p.Sections[0].Off = 0x100000 },
		"export directory":    func(p *fixture.PE) { p.Dirs[fixture.PEDirExport][0] = 0x90000000 },
		"debug directory":     func(p *fixture.PE) { p.Sections[3].Data[28+16+2] = 0x7f },
		"exception directory": func(p *fixture.PE) { p.Dirs[fixture.PEDirException][1] = 0x10000 },
	} {
		p := library(fixture.PEX64)
		change(p)
		f := open(t, p.Bytes())
		if len(f.Problems) != 1 || f.Problems[0].Place != place {
			t.Errorf("%s: %v", place, f.Problems)
		}
	}
	p := library(fixture.PEX64)
	for i := range p.Sections {
		p.Sections[i].Data = nil // as in a debug file
	}
	f := clean(t, p.Bytes())
	if f.HasUnwind() || f.HasPDB || !strings.HasPrefix(symbols(t, f), "1 1040") {
		t.Errorf("%v, %+v, %s", f.HasUnwind(), f.PDB, symbols(t, f))
	}
}

// The loader rounds offsets of sections down to 512 bytes, unless sections are
// not aligned to pages.
func TestOffsetsOfSectionsAreRounded(t *testing.T) {
	for align, want := range map[uint32]int64{0x1000: 0x200, 0x20: 0x2a0} {
		p := fixture.NewPE(fixture.PEX64)
		p.Align = align
		p.Section(fixture.PESection{Name: ".text", Addr: 0x1000, Data: make([]byte, 0x400), Off: 0x2a0})
		if f := open(t, p.Bytes()); f.Sections[0].Off != want {
			t.Errorf("%#x", f.Sections[0].Off)
		}
	}
}

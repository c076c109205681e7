package debugfile_test

import (
	"encoding/binary"
	"reflect"
	"strings"
	"testing"

	"symbolon/internal/fixture"
	"symbolon/internal/ident"
	"symbolon/internal/object"
)

// peProgram is a program at 0x400000 with code from 0x401100 on, whose debug
// information is that of a function at 0x401100. Every address of it is moved.
func peProgram(machine uint16, f fixture.ProgramFunc) (*fixture.PE, *fixture.Program) {
	const base = 0x400000
	f.Ranges = []span{{base + 0x1100, base + 0x1140}}
	p := oneFunction(modelC, f)
	p.Units[0].Funcs[0].Ranges = f.Ranges
	p.Units[0].Sequences = []fixture.ProgramLines{{Rows: []fixture.ProgramRow{{Addr: base + 0x1100, Line: 7}}, End: base + 0x1140}}
	x := fixture.NewPE(machine)
	x.Base, x.Characteristics = base, fixture.PEExecutable
	x.Section(fixture.PESection{Name: ".text", Addr: 0x1000, Size: 0x300, Data: make([]byte, 0x300), Flags: fixture.PECode})
	return x, p
}

// withDWARF adds the sections of debug information.
func withDWARF(x *fixture.PE, p *fixture.Program) *fixture.PE {
	for i, s := range p.Sections() {
		x.Section(fixture.PESection{Name: s.Name, Addr: 0x10000 + uint32(i)<<12, Data: s.Data})
	}
	return x
}

// function is a symbol of COFF in the code.
func function(name string, value uint32) fixture.PESymbol {
	return fixture.PESymbol{Name: name, Section: 1, Value: value, Type: 0x20, Class: 2}
}

func TestDWARFInPE(t *testing.T) {
	x, p := peProgram(fixture.PEX64, fixture.ProgramFunc{Name: "f", Linkage: "_Z1fv"})
	x.Symbols = []fixture.PESymbol{function("_Z1fv", 0x100), function("_under", 0x180), function(".weak._weakling.main", 0x200)}
	o := open(t, withDWARF(x, p).Bytes())
	wants(t, o, map[uint64]string{0x1100: "_Z1fv /d/a.c:7 [1100+40]", 0x1140: "_Z1fv :0 [1100+0]", 0x1180: "_under :0 [1180+0]", 0x11ff: "_under :0 [1180+0]", 0x1200: "_weakling :0 [1200+0]", 0x1300: "", 0x10ff: ""})
	agreeWithTable(t, o, "DWARF")
	info := o.Info()
	if info.Kind != "pe" || info.Type != "exe" || info.LoadAddress != 0x400000 || info.Features != object.HasSymbols|object.HasDebug ||
		info.Module != (ident.Module{Type: ident.TypePE, Arch: ident.ArchX86_64, CodeID: "5ab380779000"}) || info.BadRecords != 0 {
		t.Errorf("%+v", info)
	}
	if n := o.Needs(); len(n) != 0 {
		t.Errorf("needs %+v", n)
	}
}

// Where the system puts something around the names of C, it is taken off, from
// symbols as from debug information. GCC and Clang differ in what they put into
// the latter.
func TestNamesOfWindowsAreThoseOfC(t *testing.T) {
	for _, c := range []struct{ name, gcc, clang, symbol, want string }{
		{"std", "std@8", "_std@8", "_std@8", "std"},
		{"_std", "_std@8", "__std@8", "__std@8", "_std"},
		{"__std", "__std@12", "___std@12", "___std@12", "__std"},
		{"fast", "@fast@8", "@fast@8", "@fast@8", "fast"},
		{"_fast", "@_fast@8", "@_fast@8", "@_fast@8", "_fast"},
		{"_vector", "_vector@@16", "_vector@@16", "_vector@@16", "_vector"},
		{"f", "_Z1fi", "_Z1fi", "__Z1fi", "_Z1fi"},
		{"f", "_Z1fi@4", "__Z1fi@4", "__Z1fi@4", "_Z1fi"},
		{"_underscored", "", "", "__underscored", "_underscored"},
	} {
		for _, linkage := range []string{c.gcc, c.clang} {
			x, p := peProgram(fixture.PEX86, fixture.ProgramFunc{Name: c.name, Linkage: linkage})
			x.Symbols = []fixture.PESymbol{function(c.symbol, 0x100), function(c.symbol, 0x180)}
			o := open(t, withDWARF(x, p).Bytes())
			if got := str(o, o.Lookup(nil, 0x1100)[0].Func); got != c.want {
				t.Errorf("%s with linkage name %q is %s, want %s", c.name, linkage, got, c.want)
			}
			if got := str(o, o.Lookup(nil, 0x1180)[0].Func); got != c.want {
				t.Errorf("symbol %s is %s, want %s", c.symbol, got, c.want)
			}
			agreeWithTable(t, o, linkage)
		}
	}
}

// Linkers for MinGW export names of C without the underscore, others with it before
// those with a size. A symbol of COFF has it always.
func TestExportedNamesOfWindowsAreThoseOfC(t *testing.T) {
	for what, c := range map[string]struct {
		linker  uint8
		exports []string
		want    string
	}{
		"Microsoft's":             {14, []string{"_f@8", "__g@8", "@h@8", "_i", "j@@8", "_k@@8"}, "f _g h _i j _k"},
		"LLVM's for MinGW":        {14, []string{"f@8", "_g@8", "@h@8", "_i", "j@@8", "_Z1kv@8"}, "f _g h _i j _Z1kv"},
		"GNU's":                   {2, []string{"_g@8", "@h@8", "_i", "_Z1kv@8"}, "_g h _i _Z1kv"},
		"GNU's with vector calls": {2, []string{"j@@8", "_k@@8"}, "_j __k"},
		"COFF knows better":       {14, []string{"_std@8", "_g@8"}, "_std g"},
	} {
		x, _ := peProgram(fixture.PEX86, fixture.ProgramFunc{})
		x.Linker = c.linker
		var exports []fixture.PEExport
		for i, name := range c.exports {
			exports = append(exports, fixture.PEExport{Name: name, Addr: 0x1100 + 16*uint32(i)})
		}
		x.Table(fixture.PEDirExport, fixture.PESection{Name: ".edata", Addr: 0x3000, Data: fixture.PEExports(0x3000, exports...)})
		if c.exports[0] == "_std@8" {
			x.Symbols = []fixture.PESymbol{function("__std@8", 0x100)}
		}
		o := open(t, x.Bytes())
		var got []string
		for _, e := range exports {
			got = append(got, str(o, o.Lookup(nil, uint64(e.Addr))[0].Func))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %s, want %s", what, got, c.want)
		}
		agreeWithTable(t, o, what)
	}
}

func TestCompressedDWARFInPE(t *testing.T) {
	for _, more := range []uint64{0, 1} {
		x, p := peProgram(fixture.PEX64, fixture.ProgramFunc{Name: "f"})
		for i, s := range p.Sections() {
			size := binary.BigEndian.AppendUint64([]byte("ZLIB"), uint64(len(s.Data))+more)
			x.Section(fixture.PESection{Name: ".z" + s.Name[1:], Addr: 0x10000 + uint32(i)<<12, Data: append(size, deflated(t, s.Data)...)})
		}
		o := open(t, x.Bytes())
		if more == 0 {
			wants(t, o, map[uint64]string{0x1100: "f /d/a.c:7 [1100+40]"})
			continue
		}
		told(t, o, "another size", "damaged section", ".debug_info", uint64(1))
	}
}

// exported returns a library with two exported functions, the first with two names,
// and an exception directory with a third function.
func exported() *fixture.PE {
	x, _ := peProgram(fixture.PEX64, fixture.ProgramFunc{})
	x.Table(fixture.PEDirExport, fixture.PESection{Name: ".edata", Addr: 0x3000, Data: fixture.PEExports(0x3000,
		fixture.PEExport{Name: "first", Addr: 0x1100}, fixture.PEExport{Name: "alias", Addr: 0x1100}, fixture.PEExport{Name: "second", Addr: 0x1180})})
	x.Symbols = []fixture.PESymbol{{Name: "label", Section: 1, Value: 0x200, Class: 2}, function("inner", 0x200), function("first_impl", 0x100)}
	unwind := append(fixture.PEUnwind{Codes: []uint16{0x4204}}.Bytes(), fixture.PEUnwind{Flags: 4, Parent: []uint32{0x1100, 0x1120, 0x5000}}.Bytes()...)
	x.Section(fixture.PESection{Name: ".xdata", Addr: 0x5000, Data: unwind})
	return x.Table(fixture.PEDirException, fixture.PESection{Name: ".pdata", Addr: 0x6000, Data: fixture.PEPack(
		uint32(0x1100), uint32(0x1120), uint32(0x5000), uint32(0x1120), uint32(0x1130), uint32(0x5008), uint32(0x1140), uint32(0x1160), uint32(0x5000))})
}

// A symbol ends where the next function starts, also if that has no name any
// more, but not where another part of it does.
func TestExportsEndWithTheirFunction(t *testing.T) {
	o := open(t, exported().Bytes())
	wants(t, o, map[uint64]string{
		0x1100: "first :0 [1100+0]", 0x112f: "first :0 [1100+0]", 0x1140: "", 0x117f: "",
		0x1180: "second :0 [1180+0]", 0x11ff: "second :0 [1180+0]", 0x1200: "inner :0 [1200+0]", 0x12ff: "inner :0 [1200+0]", 0x1300: "",
	})
	agreeWithTable(t, o, "exports")
	if info := o.Info(); info.Features != object.HasSymbols|object.HasUnwind || info.BadRecords != 0 {
		t.Errorf("%+v", info)
	}
}

func TestUnwindInformationOfPE(t *testing.T) {
	want := `STACK CFI INIT 1100 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^
STACK CFI 1104 .cfa: $rsp 48 +
STACK CFI INIT 1120 10 .cfa: $rsp 48 + .ra: .cfa -8 + ^
STACK CFI INIT 1140 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^
STACK CFI 1144 .cfa: $rsp 48 +
`
	x := exported()
	if got := cfiOf(t, open(t, x.Bytes())); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	frame := fixture.NewFrame(true)
	frame.Addr = 0x402000
	frame.FDE(frame.CIE(fixture.FrameX8664(true)), 0x401200, 0x20, 0x44, 0x0e, 16)
	x.Section(fixture.PESection{Name: ".eh_frame", Addr: 0x2000, Data: frame.Bytes()})
	if got := cfiOf(t, open(t, x.Bytes())); got != want {
		t.Errorf("with what the system does not use:\n%s", got)
	}
	x.Dirs[fixture.PEDirException] = [2]uint32{}
	o := open(t, x.Bytes())
	if got := cfiOf(t, o); !strings.Contains(got, "INIT 1200 20 .cfa: $rsp 8 +") || o.Info().Features&object.HasUnwind == 0 {
		t.Errorf("only DWARF:\n%s", got)
	}
	x = exported()
	x.Sections[2].Data[0] = 7 // a version that there is not
	o = open(t, x.Bytes())
	cfiOf(t, o)
	told(t, o, "another version", "damaged unwind entries", "unknown version", uint64(3))
}

// A PE file needs its PDB and its separate debug file.
func TestNeedsOfPE(t *testing.T) {
	x := exported()
	debug, size := fixture.PEDebug(0x7000, 0, fixture.PEDebugEntry{Kind: 2, Mapped: true, Data: fixture.PEPack("RSDS0123456789abcdef", uint32(2), "C:\\out\\app.pdb\x00")})
	x.Table(fixture.PEDirDebug, fixture.PESection{Name: ".debug", Addr: 0x7000, Data: debug})
	x.Dirs[fixture.PEDirDebug][1] = size
	x.Section(fixture.PESection{Name: ".gnu_debuglink", Addr: 0x8000, Data: []byte("app.dbg\x00\x78\x56\x34\x12")})
	o := open(t, x.Bytes())
	id := ident.NewGUID([16]byte([]byte("0123456789abcdef")), 2)
	want := []object.Need{
		{Kind: object.NeedPDB, Name: "app.pdb", Dir: `C:\out\`, DebugID: id},
		{Kind: object.NeedDebug, Name: "app.dbg", CRC: 0x12345678},
	}
	if got := o.Needs(); !reflect.DeepEqual(got, want) || got[0].Kind.String() != "pdb" {
		t.Errorf("%+v", got)
	}
	if m := o.Info().Module; m.DebugID != id || m.DebugFile != "app.pdb" {
		t.Errorf("%+v", m)
	}
}

func TestStrippedGoProgramsOfPE(t *testing.T) {
	for _, known := range []bool{false, true} {
		table, trees := goProgram(20).Bytes()
		x := fixture.NewPE(fixture.PEX64)
		x.Base = 0x400000
		x.Section(fixture.PESection{Name: ".text", Addr: 0x1000, Data: append([]byte("\xff Go build ID: "), make([]byte, 0x800)...), Size: 0x800, Flags: fixture.PECode})
		x.Section(fixture.PESection{Name: ".rdata", Addr: 0x80000, Data: append(make([]byte, 64), table...)})
		x.Section(fixture.PESection{Name: ".trees", Addr: 0x100000, Data: trees})
		inlined := ""
		if known {
			x.Section(fixture.PESection{Name: ".data", Addr: 0x200000, Data: goProgram(20).Module(table, 0x401000, 0x401800, 0x500000)})
			inlined = "main.inlined /a/in.go:30 < "
		}
		o := open(t, x.Bytes())
		wants(t, o, map[uint64]string{0x1000: "main.first /a/main.go:5 [1000+30]", 0x1040: "main.second /a/main.go:21 [1030+20]"})
		if got := show(o, o.Lookup(nil, 0x103a)); !strings.HasPrefix(got, inlined) {
			t.Error(got)
		}
		agreeWithTable(t, o, "Go")
	}
	x := fixture.NewPE(fixture.PEX64) // not a Go program
	x.Section(fixture.PESection{Name: ".text", Addr: 0x1000, Data: make([]byte, 0x800), Flags: fixture.PECode})
	table, _ := goProgram(20).Bytes()
	x.Section(fixture.PESection{Name: ".rdata", Addr: 0x80000, Data: table})
	wants(t, open(t, x.Bytes()), map[uint64]string{0x1000: ""})
}

// The end of the code of a Go program does not name the next symbol.
func TestTheBorderOfGoCodeNamesNothing(t *testing.T) {
	x := fixture.NewPE(fixture.PEX64)
	x.Section(fixture.PESection{Name: ".text", Addr: 0x1000, Size: 0x100, Data: make([]byte, 0x100), Flags: fixture.PECode})
	x.Symbols = []fixture.PESymbol{
		{Name: "runtime.text", Section: 1, Type: 0x20, Class: 2}, {Name: "go:buildid", Section: 1, Type: 0x20, Class: 2},
	}
	o := open(t, x.Bytes())
	for addr, want := range map[uint64]string{0x1000: "go:buildid;;", 0x1010: "go:buildid;;"} {
		if got := brief(o.Lookup(nil, addr), o.AppendText); got != want {
			t.Errorf("%#x: %s", addr, got)
		}
	}
}

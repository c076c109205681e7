package debugfile_test

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"reflect"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"symbolon/internal/bin"
	"symbolon/internal/fixture"
	"symbolon/internal/format/breakpad"
	"symbolon/internal/ident"
	"symbolon/internal/object"
	"symbolon/internal/sym"
	"symbolon/internal/trial"
)

func deflated(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zstandard(t testing.TB, data []byte) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	return w.EncodeAll(data, nil)
}

// packings returns functions that compress a section, and state more bytes than
// it has.
func packings(t testing.TB, e *fixture.ELF, more int) map[string]func(fixture.ELFSection) fixture.ELFSection {
	stated := func(s fixture.ELFSection) uint64 { return uint64(len(s.Data) + more) }
	with := func(kind uint32, pack func(testing.TB, []byte) []byte) func(fixture.ELFSection) fixture.ELFSection {
		return func(s fixture.ELFSection) fixture.ELFSection {
			s.Flags, s.Data = 0x800, e.Compressed(kind, stated(s), pack(t, s.Data))
			return s
		}
	}
	return map[string]func(fixture.ELFSection) fixture.ELFSection{
		"zlib": with(1, deflated), "zstd": with(2, zstandard),
		"zlib-gnu": func(s fixture.ELFSection) fixture.ELFSection {
			s.Data = append(binary.BigEndian.AppendUint64([]byte("ZLIB"), stated(s)), deflated(t, s.Data)...)
			s.Name = ".z" + s.Name[1:]
			return s
		},
	}
}

// sizes are a program of each class and byte order.
func sizes() (all []*fixture.Program) {
	for i := range 4 {
		p := oneFunction(modelC, fixture.ProgramFunc{Name: "f"}, fixture.ELFSymbol{Name: "symbol", Size: 0x80})
		p.Wide, p.Big = i&1 != 0, i&2 != 0
		all = append(all, p)
	}
	return all
}

func TestCompressedSectionsAreLikeOthers(t *testing.T) {
	for _, p := range sizes() {
		for name, pack := range packings(t, &fixture.ELF{Wide: p.Wide, Big: p.Big}, 0) {
			p.Pack = pack
			o := open(t, p.Bytes())
			wants(t, o, map[uint64]string{0x108: "f /d/a.c:7 [100+40]", 0x150: "symbol /d/a.c:7 [100+80]"})
			if info := o.Info(); info.BadRecords != 0 {
				t.Errorf("%s: damage %+v", name, info.Damage)
			}
		}
	}
}

// relocations are applied to what comes out of a compressed section.
func TestCompressedSectionsAreRelocated(t *testing.T) {
	p := oneFunction(modelC, fixture.ProgramFunc{Name: "f"})
	p.Relocatable, p.Loads, p.Code = true, nil, []span{{0, 0x40}, {0x10000, 0x12000}}
	p.Pack = packings(t, &fixture.ELF{Wide: true}, 0)["zlib"]
	p.Units[0].Funcs[0].Ranges = []span{{0x11100, 0x11140}}
	p.Units[0].Sequences[0] = fixture.ProgramLines{Rows: []fixture.ProgramRow{{Addr: 0x11100, Line: 7}}, End: 0x11180}
	wants(t, open(t, p.Bytes()), map[uint64]string{0x1108: "f /d/a.c:7 [1100+40]", 0x108: ""})
}

// Assemblers leave the bit in the addresses of functions that says Thumb.
func TestFunctionsOfThumbBeginAtEvenAddresses(t *testing.T) {
	p := oneFunction(modelC, fixture.ProgramFunc{Name: "f", Entry: 0x1101})
	p.Wide, p.Units[0].Funcs[0].Ranges = false, []span{{0x1101, 0x1141}}
	file := p.Bytes()
	wants(t, open(t, file), map[uint64]string{0x101: "f /d/a.c:7 [101+40]", 0x140: "f /d/a.c:7 [101+40]"})
	file[18] = 40 // ARM
	o := open(t, file)
	wants(t, o, map[uint64]string{0xff: "", 0x100: "f /d/a.c:7 [100+40]", 0x13f: "f /d/a.c:7 [100+40]", 0x140: ""})
	agreeWithTable(t, o, "thumb")
}

func TestCompressedSectionsOfAnotherSizeAreDamaged(t *testing.T) {
	for _, more := range []int{-1, 1, 1000} {
		for name, pack := range packings(t, &fixture.ELF{Wide: true}, more) {
			p := sizes()[1]
			p.Pack = func(s fixture.ELFSection) fixture.ELFSection {
				if s.Name == ".debug_info" {
					return pack(s)
				}
				return s
			}
			o := open(t, p.Bytes())
			wants(t, o, map[uint64]string{0x108: "symbol :0 [100+80]"})
			told(t, o, name, "damaged section", ".debug_info", 1)
		}
	}
}

// told demands damage of one kind, at a place, so often.
func told(t *testing.T, o *object.Object, what, kind, place string, count uint64) {
	t.Helper()
	for range 2 { // asking does not make it more
		_ = blocksOf(t, o, object.BlockOptions{})
		_ = o.Lookup(nil, 0x108)
	}
	for _, d := range o.Info().Damage {
		if strings.HasPrefix(d.Kind, kind) && len(d.Places) > 0 && strings.Contains(d.Places[0], place) && d.Count == count {
			return
		}
	}
	t.Errorf("%s: damage is %+v; want %d %q at %q", what, o.Info().Damage, count, kind, place)
}

// Sections that state sizes which nothing can have, or that unpack to much more
// than their file, cost no memory.
func TestBombsInSectionsAreBounded(t *testing.T) {
	zeros := make([]byte, 48<<20)
	small, large := deflated(t, zeros[:1<<20]), zstandard(t, zeros)
	e := &fixture.ELF{Wide: true}
	for name, data := range map[string][]byte{
		"zlib that states 1 TiB":              e.Compressed(1, 1<<40, small),
		"zlib that states 31 MiB":             e.Compressed(1, 31<<20, []byte("x\x9c\x03")),
		"zlib that states nearly all":         e.Compressed(1, 1<<64-1, small),
		"zstd that states 31 MiB, of nothing": e.Compressed(2, 31<<20, zstandard(t, nil)),
		"zstd of 48 MiB that states them":     e.Compressed(2, 48<<20, large),
		"zstd of 48 MiB that states a few":    e.Compressed(2, 1<<10, large),
		"unknown compression":                 e.Compressed(3, 31<<20, large),
		"no header":                           {1, 0, 0},
	} {
		p := sizes()[1]
		p.Pack = func(s fixture.ELFSection) fixture.ELFSection {
			s.Flags, s.Data = 0x800, data
			return s
		}
		text := p.Bytes()
		var o *object.Object
		took, peak := cost(func() { o = open(t, text) })
		if peak > 12<<20 && !trial.Race() {
			t.Errorf("%s: it took %v and %d MiB", name, took, peak>>20)
		}
		told(t, o, name, "damaged section", ".debug_", 1)
		wants(t, o, map[uint64]string{0x108: "symbol :0 [100+80]"})
	}
}

// All sections together are bounded, not each of them.
func TestManyBombsAreOne(t *testing.T) {
	e := &fixture.ELF{Wide: true}
	zeros := zstandard(t, make([]byte, 20<<20))
	p := sizes()[1]
	p.Pack = func(s fixture.ELFSection) fixture.ELFSection {
		s.Flags, s.Data = 0x800, e.Compressed(2, 20<<20, zeros)
		return s
	}
	for _, name := range []string{".debug_str", ".debug_addr", ".debug_ranges", ".debug_rnglists", ".debug_line_str"} {
		p.More = append(p.More, p.Pack(fixture.ELFSection{Name: name, Type: 1}))
	}
	text := p.Bytes()
	_, peak := cost(func() { open(t, text) })
	if peak > 96<<20 && !trial.Race() { // one of 20 MiB, and what its unpacking takes
		t.Errorf("%d MiB", peak>>20)
	}
}

// symbolsOf is a file with nothing but symbols.
func symbolsOf(kind uint32, symbols ...fixture.ELFSymbol) *fixture.ELF {
	e := &fixture.ELF{Wide: true, Type: 3, Machine: 62}
	e.Segment(fixture.ELFSegment{Type: 1, Flags: 5, Vaddr: 0x1000, Memsz: 0x1000})
	e.Add(fixture.ELFSection{Name: ".text", Type: 1, Flags: 6, Addr: 0x1100, Data: make([]byte, 0x100)})
	e.Symtab(map[uint32]string{2: ".symtab", 11: ".dynsym"}[kind], kind, symbols...)
	return e
}

func TestMiniDebugInfoAddsSymbols(t *testing.T) {
	inner := symbolsOf(2,
		fixture.ELFSymbol{Name: "inner", Value: 0x1140, Size: 0x20, Kind: 2, Section: 1},
		fixture.ELFSymbol{Name: "alias", Value: 0x1100, Size: 0x20, Kind: 2, Bind: 0, Section: 1}).Bytes()
	packed := fixture.NewXZ(4).Block(fixture.XZStored(inner), inner, true).Bytes()
	file := func(packed []byte) []byte {
		e := symbolsOf(11, fixture.ELFSymbol{Name: "outer", Value: 0x1100, Size: 0x20, Kind: 2, Bind: 1, Section: 1})
		e.Add(fixture.ELFSection{Name: ".gnu_debugdata", Type: 1, Data: packed})
		return e.Bytes()
	}
	o := open(t, file(packed))
	wants(t, o, map[uint64]string{0x108: "outer :0 [100+20]", 0x148: "inner :0 [140+20]"})
	agreeWithTable(t, o, "mini")
	if o.Info().BadRecords != 0 || o.Info().Features != object.HasSymbols {
		t.Errorf("%+v", o.Info())
	}
	for name, bad := range map[string][]byte{"cut off": packed[:len(packed)/2], "no file": []byte("inner"), "no ELF inside": fixture.NewXZ(0).Block(fixture.XZStored([]byte("x")), []byte("x"), true).Bytes()} {
		o := open(t, file(bad))
		wants(t, o, map[uint64]string{0x108: "outer :0 [100+20]", 0x148: ""})
		told(t, o, name, "damaged section", ".gnu_debugdata", 1)
	}
}

// A program that exports nothing has an empty .dynsym; its names are in the inner file.
func TestMiniDebugInfoIsSymbolsOfAProgramWithoutOthers(t *testing.T) {
	inner := symbolsOf(2, fixture.ELFSymbol{Name: "inner", Value: 0x1140, Size: 0x20, Kind: 2, Section: 1}).Bytes()
	for packed, want := range map[string]object.Features{
		string(fixture.NewXZ(4).Block(fixture.XZStored(inner), inner, true).Bytes()): object.HasSymbols,
		"damaged": 0,
	} {
		e := symbolsOf(11)
		e.Add(fixture.ELFSection{Name: ".gnu_debugdata", Type: 1, Data: []byte(packed)})
		if got := open(t, e.Bytes()).Info().Features; got != want {
			t.Errorf("features %v, want %v", got, want)
		}
	}
}

// skeleton is a program that keeps units of these ids in split.dwo: the first
// one from 0x1100 on, the next from 0x1140 on.
func skeleton(ids ...uint64) []byte {
	d := &fixture.Dwarf{Order: leastFirst}
	line := fixture.NewLine(5)
	line.Dirs, line.Files = []string{"/d"}, []fixture.LineFile{{Name: "a.c"}}
	line.Address(0x1100).AdvanceLine(8).File(0).Copy().AdvancePC(0x80).End()
	for i, id := range ids {
		at := uint64(0x1100 + 0x40*i)
		base := d.AddrTable(8, at, at+0x10)
		d.Unit(&fixture.DwarfUnit{Version: 5, AddrSize: 8, Type: 4, ID: id, Root: &fixture.DIE{Tag: 0x4a, Attrs: []fixture.DwarfAttr{
			{0x76, 0x08, "split.dwo"}, {0x1b, 0x08, "/d"}, {0x73, 0x17, base}, {0x10, 0x17, 0}, {0x11, 0x1b, 0}, {0x12, 0x06, 0x40},
		}}}, nil)
	}
	return dwarfFile(d, "", fixture.ELFSection{Name: ".debug_line", Type: 1, Data: line.Bytes()})
}

// splitUnit is the file of a skeleton.
func splitUnit(id uint64, name string) []byte {
	d := &fixture.Dwarf{Order: leastFirst}
	inline := &fixture.DIE{Tag: 0x2e, Attrs: []fixture.DwarfAttr{{0x03, 0x08, "i"}}}
	call := &fixture.DIE{Tag: 0x1d, Attrs: []fixture.DwarfAttr{{0x31, 0x13, inline}, {0x11, 0x1b, 1}, {0x12, 0x06, 8}, {0x58, 0x0b, 0}, {0x59, 0x0b, 3}}}
	d.Unit(&fixture.DwarfUnit{Version: 5, AddrSize: 8, Type: 5, ID: id, Root: &fixture.DIE{Tag: 0x11, Attrs: []fixture.DwarfAttr{{0x13, 0x05, modelCpp}}, Kids: []*fixture.DIE{
		inline, {Tag: 0x2e, Attrs: []fixture.DwarfAttr{{0x03, 0x25, 0}, {0x11, 0x1b, 0}, {0x12, 0x06, 0x40}}, Kids: []*fixture.DIE{call}},
	}}}, nil)
	d.StrOffsetsTable(5, false, d.Strp(name))
	return dwarfFile(d, ".dwo")
}

// dwarfFile is an ELF file with these sections of debug information.
func dwarfFile(d *fixture.Dwarf, suffix string, more ...fixture.ELFSection) []byte {
	d.Finish()
	e := symbolsOf(2, fixture.ELFSymbol{Name: "symbol", Value: 0x1100, Size: 0x80, Kind: 2, Section: 1})
	for _, s := range []fixture.ELFSection{
		{Name: ".debug_info", Data: d.Info}, {Name: ".debug_abbrev", Data: d.Abbrev}, {Name: ".debug_addr", Data: d.Addr},
		{Name: ".debug_str", Data: d.Str}, {Name: ".debug_str_offsets", Data: d.StrOffsets},
	} {
		if s.Type = 1; len(s.Data) > 0 {
			s.Name += suffix
			e.Add(s)
		}
	}
	for _, s := range more {
		e.Add(s)
	}
	return e.Bytes()
}

func TestSplitUnitsAreSupplied(t *testing.T) {
	o := open(t, skeleton(0x1122334455667788))
	need := object.Need{Kind: object.NeedSplit, Name: "split.dwo", Dir: "/d", ID: []byte{0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88}}
	if got := o.Needs(); len(got) != 1 || !reflect.DeepEqual(got[0], need) {
		t.Fatalf("needs %+v; want %+v", got, need)
	}
	for what, file := range map[string][]byte{"of another unit": splitUnit(5, "split"), "without debug information": symbolsOf(2).Bytes()} {
		if fits, err := o.Supply(need, bin.Bytes(file)); fits || err != nil {
			t.Errorf("%s: fits %v, %v", what, fits, err)
		}
	}
	if fits, err := o.Supply(need, bin.Bytes([]byte("\x7fELF"))); fits || err == nil {
		t.Errorf("damaged: fits %v, %v", fits, err)
	}
	if fits, err := o.Supply(need, bin.Bytes(splitUnit(0x1122334455667788, "split"))); !fits || err != nil {
		t.Fatalf("fits %v, %v", fits, err)
	}
	if needs := o.Needs(); len(needs) != 0 {
		t.Errorf("still needs %+v", needs)
	}
	wants(t, o, map[uint64]string{0x100: "split /d/a.c:9 [100+40]", 0x112: "i /d/a.c:9 < split /d/a.c:3 [100+40]", 0x148: "symbol :0 [100+80]"})
	agreeWithTable(t, o, "split")
	without := open(t, skeleton(0x1122334455667788))
	wants(t, without, map[uint64]string{0x112: "symbol /d/a.c:9 [100+80]"})
	agreeWithTable(t, without, "skeleton")
}

// Each of several split files has its own names.
func TestEachSplitUnitIsSupplied(t *testing.T) {
	o := open(t, skeleton(1, 2, 3))
	for i, name := range []string{"first", "second"} {
		if fits, err := o.Supply(o.Needs()[0], bin.Bytes(splitUnit(uint64(i+1), name))); !fits || err != nil {
			t.Fatal(name, fits, err)
		}
	}
	if needs := o.Needs(); len(needs) != 1 || needs[0].ID[7] != 3 {
		t.Errorf("needs %+v", needs)
	}
	wants(t, o, map[uint64]string{0x108: "first /d/a.c:9 [100+40]", 0x148: "second /d/a.c:9 [140+40]"})
	agreeWithTable(t, o, "two")
}

// buildID is a section with a build id.
func buildID(id string) fixture.ELFSection {
	e := &fixture.ELF{}
	return fixture.ELFSection{Name: ".note.gnu.build-id", Type: 7, Flags: 2, Align: 4, Data: e.Note("GNU", 3, []byte(id), 4)}
}

func TestSharedDebugInformationIsSupplied(t *testing.T) {
	alt := func(id string) []byte {
		d := &fixture.Dwarf{Order: leastFirst, Str: []byte("xx\x00")}
		d.Strp("shared")
		d.Unit(&fixture.DwarfUnit{Version: 4, AddrSize: 8, Root: &fixture.DIE{Tag: 0x3c, Attrs: []fixture.DwarfAttr{{0x13, 0x05, modelC}}}}, nil)
		return dwarfFile(d, "", buildID(id))
	}
	d := &fixture.Dwarf{Order: leastFirst}
	d.Unit(&fixture.DwarfUnit{Version: 4, AddrSize: 8, Root: &fixture.DIE{Tag: 0x11, Attrs: []fixture.DwarfAttr{{0x13, 0x05, modelC}}, Kids: []*fixture.DIE{
		{Tag: 0x2e, Attrs: []fixture.DwarfAttr{{0x03, 0x1f21, 3}, {0x11, 0x01, 0x1108}, {0x12, 0x06, 0x40}}},
	}}}, nil)
	main := dwarfFile(d, "", fixture.ELFSection{Name: ".gnu_debugaltlink", Type: 1, Data: []byte("/alt/file\x00right id")}, buildID("main"))
	o := open(t, main)
	i := 0
	for i < len(o.Needs()) && o.Needs()[i].Kind != object.NeedAlt {
		i++
	}
	if i == len(o.Needs()) {
		t.Fatalf("needs %+v", o.Needs())
	}
	need := o.Needs()[i]
	if need.Name != "/alt/file" || string(need.ID) != "right id" {
		t.Fatalf("needs %+v", need)
	}
	if fits, err := o.Supply(need, bin.Bytes(alt("wrong id"))); fits || err != nil {
		t.Errorf("wrong id: fits %v, %v", fits, err)
	}
	if fits, err := o.Supply(need, bin.Bytes(alt("right id"))); !fits || err != nil {
		t.Fatalf("right id: fits %v, %v", fits, err)
	}
	wants(t, o, map[uint64]string{0x110: "shared :0 [108+40]"})
	agreeWithTable(t, o, "alt")
	without := open(t, main)
	wants(t, without, map[uint64]string{0x110: " :0 [108+40]"})
	agreeWithTable(t, without, "without alt")
}

func TestStrippedFilesTellWhereTheirDebugInformationIs(t *testing.T) {
	e := symbolsOf(11, fixture.ELFSymbol{Name: "s", Value: 0x1100, Kind: 2, Bind: 1, Section: 1})
	e.Add(buildID("0123456789abcdefghij"))
	e.Add(fixture.ELFSection{Name: ".gnu_debuglink", Type: 1, Data: e.Pack("s.debug", uint32(0xc0ffee))})
	o := open(t, e.Bytes())
	want := object.Need{Kind: object.NeedDebug, Name: "s.debug", CRC: 0xc0ffee, ID: []byte("0123456789abcdefghij")}
	if got := o.Needs(); len(got) != 1 || !reflect.DeepEqual(got[0], want) {
		t.Errorf("needs %+v; want %+v", got, want)
	}
	info := o.Info()
	id := ident.NewBuildID(want.ID)
	module := ident.Module{Type: ident.TypeELF, Arch: ident.ArchX86_64, CodeID: id.CodeID(), DebugID: id.DebugID(false)}
	if !reflect.DeepEqual(info.Module, module) || info.Kind != "elf" || info.Type != "lib" || info.LoadAddress != 0x1000 || info.Features != object.HasSymbols {
		t.Errorf("info %+v; want the module %+v", info, module)
	}
}

// Unwind information comes as STACK records, with the base taken away.
func TestUnwindInformationOfELF(t *testing.T) {
	f := fixture.NewFrame(true)
	f.Addr = 0x1400
	c := f.CIE(fixture.FrameX8664(true))
	f.FDE(c, 0x1100, 0x40, 0x44, 0x0e, 16) // from 4 on the CFA is 16 away
	e := symbolsOf(2)
	e.Add(fixture.ELFSection{Name: ".eh_frame", Type: 1, Flags: 2, Addr: 0x1400, Data: f.Bytes()})
	o := open(t, e.Bytes())
	want := "STACK CFI INIT 100 40 .cfa: $rsp 8 + .ra: .cfa -8 + ^\nSTACK CFI 104 .cfa: $rsp 16 +\n"
	if got := cfiOf(t, o); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if o.Info().Features&object.HasUnwind == 0 {
		t.Errorf("features %v", o.Info().Features.Names())
	}
}

func cfiOf(t *testing.T, o *object.Object) string {
	t.Helper()
	var b strings.Builder
	if err := o.CFI(func(u *sym.Unwind) error { b.Write(breakpad.AppendStack(nil, u)); return nil }); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestSectionsWithoutPlaceAreTold(t *testing.T) {
	const most = 65535 / 3
	e := &fixture.ELF{Wide: true, Type: 1, Machine: 62}
	for range most + 2 {
		e.Add(fixture.ELFSection{Name: ".text", Type: 1, Flags: 6, Data: []byte{0xc3}})
	}
	o := open(t, e.Bytes())
	told(t, o, "two sections", "sections of code without place", "2 beyond the first 21845", 1)
	if got := o.Info().Overlapping; got != most {
		t.Errorf("%d sections overlap, want %d", got, most)
	}

	x := fixture.NewPE(fixture.PEX64)
	for range most + 1 {
		x.Section(fixture.PESection{Name: ".text", Flags: fixture.PECode, Data: []byte{0xc3}})
	}
	told(t, open(t, x.Object(true)), "COFF", "sections of code without place", "1 beyond the first 21845", 1)
}

func TestIndexOfUnwindInformationTakesMemory(t *testing.T) {
	f := fixture.NewFrame(true)
	f.Addr = 0x1400
	c := f.CIE(fixture.FrameX8664(true))
	for range 1000 {
		f.FDE(c, 0x1100, 0x20, 0x44, 0x0e, 32)
	}
	e := symbolsOf(2)
	without := open(t, e.Bytes()).Footprint()
	e.Add(fixture.ELFSection{Name: ".eh_frame", Type: 1, Flags: 2, Addr: 0x1400, Data: f.Bytes()})
	if more := open(t, e.Bytes()).Footprint() - without; more < int64(f.Len()) {
		t.Errorf("the index of %d bytes counts as %d bytes", f.Len(), more)
	}
}

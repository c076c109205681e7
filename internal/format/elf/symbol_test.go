package elf_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"symbolon/internal/fixture"
	"symbolon/internal/format/elf"
)

// symbols formats the symbols of a file.
func symbols(f *elf.File) (all []string) {
	f.Symbols(func(s elf.Symbol) bool {
		all = append(all, fmt.Sprintf("%s=%d:%x+%x", f.SymbolName(s.Table, s.NameOff), s.Section, s.Addr, s.Size))
		return true
	})
	return all
}

func expect(t *testing.T, f *elf.File, want ...string) {
	t.Helper()
	if got := symbols(f); !slices.Equal(got, want) {
		t.Errorf("symbols %q, want %q", got, want)
	}
}

// code adds .text as section 1 and .data as section 2.
func code(e *fixture.ELF) {
	e.Add(fixture.ELFSection{Name: ".text", Type: 1, Flags: 6, Addr: 0x1000, Data: make([]byte, 64)})
	e.Add(fixture.ELFSection{Name: ".data", Type: 1, Flags: 3, Addr: 0x2000, Data: make([]byte, 64)})
}

func TestSymbols(t *testing.T) {
	kinds(t, func(t *testing.T, e *fixture.ELF) {
		code(e)
		e.Symtab(".dynsym", 11, fixture.ELFSymbol{Name: "alpha", Kind: 2, Bind: 1, Section: 1, Value: 0x1000, Size: 16})
		e.Symtab(".symtab", 2,
			fixture.ELFSymbol{Name: "file.c", Kind: 4, Section: 0xfff1},
			fixture.ELFSymbol{Kind: 3, Section: 1},
			fixture.ELFSymbol{Name: "alpha", Kind: 2, Bind: 1, Section: 1, Value: 0x1001, Size: 16},
			fixture.ELFSymbol{Name: "picked", Kind: 10, Bind: 1, Section: 1, Value: 0x1010, Size: 1},
			fixture.ELFSymbol{Name: "elsewhere", Kind: 2, Bind: 1, Value: 0x5},
			fixture.ELFSymbol{Name: "variable", Kind: 1, Section: 2, Value: 0x2000},
			fixture.ELFSymbol{Name: "thread", Kind: 6, Section: 2},
			fixture.ELFSymbol{Name: "fixed", Kind: 2, Section: 0xfff1, Value: 0xff},
			fixture.ELFSymbol{Name: "asm", Section: 1, Value: 0x1020},
			fixture.ELFSymbol{Name: "a", Section: 1, Value: 0x1021},
			fixture.ELFSymbol{Name: "constant", Section: 0xfff1, Value: 3},
			fixture.ELFSymbol{Name: "label in data", Section: 2, Value: 0x2001},
			fixture.ELFSymbol{Section: 1, Value: 0x1022},
			fixture.ELFSymbol{Kind: 2, Section: 1, Value: 0x1023},
			fixture.ELFSymbol{Name: "nowhere", Kind: 2, Section: 77, Value: 0x1024},
			fixture.ELFSymbol{Name: "common", Kind: 2, Section: 0xfff2, Value: 0x1025},
		)
		want := []string{"alpha=1:1001+10", "picked=1:1010+1", "fixed=-1:ff+0", "asm=1:1020+0", "a=1:1021+0", "=1:1023+0", "nowhere=-2:1024+0", "common=-2:1025+0", "alpha=1:1000+10"}
		f := sound(t, e)
		expect(t, f, want...)
		count := 0
		f.Symbols(func(elf.Symbol) bool { count++; return count < 3 })
		if count != 3 {
			t.Errorf("%d symbols after yield returned false", count)
		}
		f.Symbols(func(s elf.Symbol) bool {
			if s.Bind != elf.BindGlobal || s.Type != elf.SymbolFunc || s.Table != 0 {
				t.Errorf("%+v", s)
			}
			return false
		})
		e.Machine, want[0] = 40, "alpha=1:1000+10" // Thumb
		want[5], want[8], want[2], want[7] = "=1:1022+0", "alpha=1:1000+10", "fixed=-1:fe+0", "common=-2:1024+0"
		expect(t, sound(t, e), want...)
	})
}

func TestMappingSymbolsAndLocalLabelsAreSkipped(t *testing.T) {
	e := &fixture.ELF{Wide: true, Machine: 243}
	code(e)
	var all []fixture.ELFSymbol
	for name := range strings.FieldsSeq("$a $d $t $x $a.1 $d.foo $x.2 $xrv64i2p1_m2p0 .Lfunc .L0 .LBB9_17 $ax $e $ . .m L $xr $xylem $") {
		all = append(all, fixture.ELFSymbol{Name: name, Section: 1, Bind: 0})
	}
	all = append(all, fixture.ELFSymbol{Name: "$d", Kind: 2, Section: 1})
	e.Symtab(".symtab", 2, all...)
	expect(t, sound(t, e), "$ax=1:0+0", "$e=1:0+0", "$=1:0+0", ".=1:0+0", ".m=1:0+0", "L=1:0+0", "$xr=1:0+0", "$xylem=1:0+0", "$=1:0+0", "$d=1:0+0")
}

func TestSectionNumbersBeyond16Bits(t *testing.T) {
	e := &fixture.ELF{Wide: true, Type: 1, Crowded: true}
	e.Symtab(".symtab", 2, fixture.ELFSymbol{Name: "a", Kind: 2, Section: 0xff05}, fixture.ELFSymbol{Name: "b", Kind: 2, Section: 4}, fixture.ELFSymbol{Name: "c", Section: 0x10004}, fixture.ELFSymbol{Name: "d", Kind: 2, Section: 0x20000})
	for range 0x10001 {
		e.Add(fixture.ELFSection{Name: ".text.x", Type: 1, Flags: 6})
	}
	f := sound(t, e)
	if n := len(f.Sections); n != 0x10006 {
		t.Fatalf("%d sections", n)
	}
	expect(t, f, "a=65285:0+0", "b=4:0+0", "c=65540:0+0", "d=-2:0+0")
}

func TestDamagedSymbolTables(t *testing.T) {
	e := &fixture.ELF{Wide: true}
	code(e)
	n := e.Symtab(".symtab", 2, fixture.ELFSymbol{Name: "alpha", Kind: 2, Section: 1}, fixture.ELFSymbol{Name: "beta", Kind: 2, Section: 1})
	b := e.Bytes()
	f := open(t, b)
	at := func(field uint64) []byte { // in the header of .symtab
		s := f.Order.Uint64(b[40:]) + uint64(n)*64 + field
		return b[s:]
	}
	f.Order.PutUint64(at(56), 7) // entsize
	if g := open(t, b); len(symbols(g)) != 2 || !complains(g.Problems, "section .symtab", "invalid symbol size 7") {
		t.Errorf("%q, %v", symbols(g), g.Problems)
	}
	f.Order.PutUint32(at(40), 99) // link
	if g := open(t, b); !complains(g.Problems, "section .symtab", "section 99") {
		t.Errorf("%v", g.Problems)
	} else {
		expect(t, g, "=1:0+0", "=1:0+0")
	}
	f.Order.PutUint32(at(40), uint32(n-1))
	f.Order.PutUint32(b[f.Sections[n].Off+24:], 1<<31) // the name of alpha
	f.Order.PutUint64(at(32), 24*3-1)                  // the size
	expect(t, open(t, b), "=1:0+0")
}

func TestLongSymbolNamesAreTruncated(t *testing.T) {
	e := &fixture.ELF{}
	code(e)
	e.Symtab(".symtab", 2, fixture.ELFSymbol{Name: strings.Repeat("x", 70000), Kind: 2, Section: 1})
	f := sound(t, e)
	f.Symbols(func(s elf.Symbol) bool {
		name := f.SymbolName(s.Table, s.NameOff)
		if len(name) != 64<<10 || cap(name) != len(name) {
			t.Errorf("%d bytes, capacity %d", len(name), cap(name))
		}
		return true
	})
}

func TestSymbolsOfDescriptors(t *testing.T) {
	linked := &fixture.ELF{Wide: true, Big: true, Type: 2, Machine: 21, Flags: 1}
	code(linked)
	opd := fixture.ELFSection{Name: ".opd", Type: 1, Flags: 3, Addr: 0x3000, Data: linked.Pack(uint64(0x1010), uint64(0), uint64(0), uint64(0x7000), uint64(0), uint64(0))}
	linked.Add(opd)
	linked.Symtab(".symtab", 2,
		fixture.ELFSymbol{Name: "first", Kind: 2, Section: 3, Value: 0x3000, Size: 8},
		fixture.ELFSymbol{Name: ".first", Kind: 2, Section: 1, Value: 0x1010, Size: 8},
		fixture.ELFSymbol{Name: "far", Kind: 2, Section: 3, Value: 0x3018},
		fixture.ELFSymbol{Name: "empty", Kind: 2, Section: 3, Value: 0x3008},
		fixture.ELFSymbol{Name: "below", Kind: 2, Section: 3, Value: 0x2ff8},
		fixture.ELFSymbol{Name: "above", Kind: 2, Section: 3, Value: 0x3030},
	)
	expect(t, sound(t, linked), "first=1:1010+8", ".first=1:1010+8", "far=-2:7000+0")

	linked.Machine = 62
	if got := symbols(sound(t, linked)); len(got) != 6 || got[0] != "first=3:3000+8" {
		t.Errorf("another machine: %q", got)
	}

	debug := &fixture.ELF{Wide: true, Big: true, Type: 2, Machine: 21}
	debug.Add(fixture.ELFSection{Name: ".opd", Type: 8, Addr: 0x3000, Size: 48})
	debug.Symtab(".symtab", 2, fixture.ELFSymbol{Name: "unknown", Kind: 2, Section: 1, Value: 0x3000})
	expect(t, sound(t, debug))

	object := &fixture.ELF{Wide: true, Big: true, Type: 1, Machine: 21}
	code(object)
	opd.Addr, opd.Data = 0, make([]byte, 48)
	n := object.Add(opd)
	syms := object.Symtab(".symtab", 2,
		fixture.ELFSymbol{Kind: 3, Section: 1},
		fixture.ELFSymbol{Name: "first", Kind: 2, Section: 3, Value: 0, Size: 8},
		fixture.ELFSymbol{Name: "second", Kind: 2, Section: 3, Value: 24},
		fixture.ELFSymbol{Name: "external", Kind: 2, Section: 3, Value: 40},
		fixture.ELFSymbol{Name: "other"},
	)
	object.Add(fixture.ELFSection{Name: ".rela.opd", Type: 4, Link: uint32(syms), Info: uint32(n), Data: object.Relocs(true,
		fixture.ELFReloc{Off: 0, Sym: 1, Kind: 38, Addend: 0x10}, fixture.ELFReloc{Off: 8, Kind: 51}, fixture.ELFReloc{Off: 24, Sym: 1, Kind: 38, Addend: 0},
		fixture.ELFReloc{Off: 40, Sym: 5, Kind: 38}, fixture.ELFReloc{Off: 1 << 60, Sym: 1, Kind: 38}, fixture.ELFReloc{Off: 16, Sym: 99, Kind: 38})})
	expect(t, sound(t, object), "first=1:10+8", "second=1:0+0")
}

// ranked is a symbol with its name.
type ranked struct {
	elf.Symbol
	name string
}

func (r *ranked) rank() uint8 { return r.Rank([]byte(r.name)) }

func TestRank(t *testing.T) {
	sym := func(name string, kind, bind uint8, size uint64) ranked {
		return ranked{elf.Symbol{Type: kind, Bind: bind, Size: size}, name}
	}
	order := []ranked{
		sym("alpha", elf.SymbolFunc, elf.BindGlobal, 8),
		sym("_alpha", elf.SymbolFunc, elf.BindGlobal, 8),
		sym("__GI_alpha", elf.SymbolIFunc, elf.BindGlobal, 8),
		sym(strings.Repeat("_", 99), elf.SymbolFunc, elf.BindGlobal, 8),
		sym("alpha", elf.SymbolFunc, elf.BindWeak, 8),
		sym(".alpha", elf.SymbolFunc, elf.BindWeak, 8),
		sym("alpha", elf.SymbolFunc, elf.BindLocal, 8),
		sym("alpha", elf.SymbolNoType, elf.BindGlobal, 8),
		sym("runtime.text", elf.SymbolFunc, elf.BindGlobal, 0),
		sym("etext", elf.SymbolNoType, elf.BindGlobal, 0),
	}
	for i := range order[1:] {
		if a, b := order[i], order[i+1]; a.rank() >= b.rank() {
			t.Errorf("%s (rank %d) is not before %s (rank %d)", a.name, a.rank(), b.name, b.rank())
		}
	}
	none, same := sym("", elf.SymbolFunc, elf.BindGlobal, 8), sym("omega", elf.SymbolIFunc, elf.BindGlobal, 1)
	if order[0].rank() != none.rank() || order[0].rank() != same.rank() {
		t.Error("symbols that differ only in name have different ranks")
	}
}

// headless returns a file without section headers that has four dynamic
// symbols, the first three of them defined. The tags have the addresses.
func headless(e *fixture.ELF, tags func(addr map[string]uint64) []uint64) *fixture.ELF {
	const base = 0x10000
	e.Bare = true
	addr := map[string]uint64{}
	add := func(name string, data []byte) {
		addr[name] = base + e.Next()
		e.Add(fixture.ELFSection{Data: data})
	}
	addr["strs"] = base + e.Next()
	e.Symtab(".dynsym", 11,
		fixture.ELFSymbol{Name: "alpha", Kind: 2, Bind: 1, Section: 7, Value: base + 0x300, Size: 4},
		fixture.ELFSymbol{Name: "label", Section: 7, Value: base + 0x304},
		fixture.ELFSymbol{Name: "data", Section: 8, Value: 0x99999},
		fixture.ELFSymbol{Name: "imported", Kind: 2, Bind: 1},
		fixture.ELFSymbol{Name: "omega", Kind: 2, Bind: 2, Section: 7, Value: base + 0x308},
	)
	addr["syms"] = base + 512 + 40
	add("hash", e.Pack(uint32(1), uint32(6), make([]byte, 32)))
	add("hash64", e.Pack(uint64(1), uint64(6), make([]byte, 64)))
	add("gnu", e.GNUHash(2, 4))
	add("gnu1", e.GNUHash(5, 1))
	add("rela", e.Relocs(true, fixture.ELFReloc{Sym: 5}, fixture.ELFReloc{Sym: 1}))
	add("versions", e.Pack(uint16(0), uint16(2), uint16(0x8001), uint16(1), uint16(0), uint16(0x8002)))
	add("rel", e.Relocs(false, fixture.ELFReloc{Sym: 1}, fixture.ELFReloc{Sym: 5}))
	var b []byte
	for _, v := range append(tags(addr), 5, addr["strs"], 6, addr["syms"], 10, 36, 0, 0, 6, 1) {
		b = append(b, e.Pack(fixture.ELFWord(v))...)
	}
	off := e.Next()
	e.Add(fixture.ELFSection{Data: b})
	e.Segment(fixture.ELFSegment{Type: 1, Flags: 5, Vaddr: base, Filesz: e.Next(), Memsz: e.Next()})
	e.Segment(fixture.ELFSegment{Type: 2, Off: off, Vaddr: base + off, Filesz: uint64(len(b))})
	return e
}

func TestDynamicSymbolsWithoutSectionHeaders(t *testing.T) {
	kinds(t, func(t *testing.T, e *fixture.ELF) {
		rela, rel := uint64(2*12), uint64(2*8)
		if e.Wide {
			rela, rel = 2*24, 2*16
		}
		for name, tags := range map[string]func(a map[string]uint64) []uint64{
			"hash":      func(a map[string]uint64) []uint64 { return []uint64{4, a["hash"]} },
			"gnu hash":  func(a map[string]uint64) []uint64 { return []uint64{0x6ffffef5, a["gnu"]} },
			"one chain": func(a map[string]uint64) []uint64 { return []uint64{0x6ffffef5, a["gnu1"]} },
			"rela":      func(a map[string]uint64) []uint64 { return []uint64{7, a["rela"], 8, rela} },
			"rel":       func(a map[string]uint64) []uint64 { return []uint64{17, a["rel"], 18, rel} },
			"plt, rela": func(a map[string]uint64) []uint64 { return []uint64{23, a["rela"], 2, rela, 20, 7} },
			"plt, rel":  func(a map[string]uint64) []uint64 { return []uint64{23, a["rel"], 2, rel, 20, 17} },
			"s390x":     func(a map[string]uint64) []uint64 { return []uint64{4, a["hash64"]} },
			"mips":      func(a map[string]uint64) []uint64 { return []uint64{0x70000011, 6} },
		} {
			e := &fixture.ELF{Wide: e.Wide || name == "s390x", Big: e.Big, Type: 3, Machine: map[string]uint16{"s390x": 22, "mips": 8}[name]}
			f := sound(t, headless(e, tags))
			if got, want := symbols(f), []string{"alpha=-2:10300+4", "label=-2:10304+0", "omega=-2:10308+0"}; !slices.Equal(got, want) {
				t.Errorf("%s: %q", name, got)
			}
		}
	})
}

// old returns the names whose versions are not the default.
func old(f *elf.File) (names []string) {
	f.Symbols(func(s elf.Symbol) bool {
		if s.IsOld {
			names = append(names, string(f.SymbolName(s.Table, s.NameOff)))
		}
		return true
	})
	return names
}

func TestOldVersionsAreMarked(t *testing.T) {
	kinds(t, func(t *testing.T, e *fixture.ELF) {
		bare := &fixture.ELF{Wide: e.Wide, Big: e.Big, Type: 3}
		tags := func(a map[string]uint64) []uint64 { return []uint64{4, a["hash"], 0x6ffffff0, a["versions"]} }
		if got, want := old(sound(t, headless(bare, tags))), []string{"label", "omega"}; !slices.Equal(got, want) {
			t.Errorf("without section headers: %q, want %q", got, want)
		}
		code(e)
		symbol := fixture.ELFSymbol{Name: "alpha", Kind: 2, Bind: 1, Section: 1, Value: 0x1000, Size: 16}
		e.Symtab(".symtab", 2, symbol)
		other := symbol
		other.Name = "omega"
		n := e.Symtab(".dynsym", 11, symbol, other, symbol)
		e.Add(fixture.ELFSection{Name: ".gnu.version", Type: 0x6fffffff, Link: uint32(n), Data: e.Pack(uint16(0), uint16(3), uint16(0x8002))})
		if got, want := old(sound(t, e)), []string{"omega"}; !slices.Equal(got, want) {
			t.Errorf("with sections: %q, want %q", got, want)
		}
	})
}

func TestDamagedDynamicSymbolsAreReported(t *testing.T) {
	for name, tags := range map[string]func(addr map[string]uint64) []uint64{
		"too many":   func(a map[string]uint64) []uint64 { return []uint64{0x70000011, 1 << 50} },
		"none":       func(a map[string]uint64) []uint64 { return nil },
		"empty hash": func(a map[string]uint64) []uint64 { return []uint64{4, a["hash"] + 8} },
		"hash elsewhere": func(a map[string]uint64) []uint64 {
			return []uint64{4, 1 << 40, 0x6ffffef5, 1 << 41, 7, 1 << 42, 8, 1 << 43}
		},
	} {
		f := open(t, headless(&fixture.ELF{Wide: true, Type: 3, Machine: 8}, tags).Bytes())
		if !complains(f.Problems, "dynamic symbols") {
			t.Errorf("%s: %v, %q", name, f.Problems, symbols(f))
		}
	}
}

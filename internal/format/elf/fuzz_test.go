package elf_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/fixture"
	"symbolon/internal/format/elf"
)

// seeds returns a file of each kind.
func seeds() (all [][]byte) {
	for _, wide := range []bool{false, true} {
		for _, big := range []bool{false, true} {
			e := &fixture.ELF{Wide: wide, Big: big, Type: 3, Machine: 40}
			code(e)
			notes := append(e.Note("Go", 4, []byte("go/id"), 4), e.Note("GNU", 3, []byte("0123456789abcdef"), 4)...)
			e.Segment(fixture.ELFSegment{Type: 4, Off: e.Next(), Filesz: uint64(len(notes)), Align: 8})
			e.Add(fixture.ELFSection{Name: ".note.gnu.build-id", Type: 7, Data: notes})
			e.Add(fixture.ELFSection{Name: ".gnu_debuglink", Type: 1, Data: e.Pack("app.debug", uint16(0), uint32(7))})
			e.Add(fixture.ELFSection{Name: ".gnu_debugaltlink", Type: 1, Data: e.Pack("app.dwz", uint32(7))})
			e.Add(fixture.ELFSection{Name: ".debug_line", Type: 1, Flags: 0x800, Data: e.Compressed(2, 30, []byte("zstd"))})
			e.Add(fixture.ELFSection{Name: ".zdebug_info", Type: 1, Data: []byte("ZLIB\x00\x00\x00\x00\x00\x00\x00\x09packed")})
			e.Symtab(".symtab", 2, fixture.ELFSymbol{Name: "alpha", Kind: 2, Section: 1, Value: 0x1001}, fixture.ELFSymbol{Name: "$x.1", Section: 1}, fixture.ELFSymbol{Name: "$t.1", Section: 1}, fixture.ELFSymbol{Name: "far", Kind: 10, Section: 0xff08})
			all = append(all, e.Bytes())
			e.Crowded = true
			all = append(all, e.Bytes())
			for _, machine := range []uint16{62, 243, 8, 22, 258, 244} {
				all = append(all, headless(&fixture.ELF{Wide: wide, Big: big, Type: 3, Machine: machine}, func(a map[string]uint64) []uint64 {
					return []uint64{4, a["hash64"], 0x6ffffef5, a["gnu"], 7, a["rela"], 8, 48, 23, a["rel"], 2, 32, 20, 17, 0x70000011, 3, 14, 1, 0x6ffffffb, 0x08000000}
				}).Bytes())
				relocs := make([]fixture.ELFReloc, 64)
				for i := range relocs {
					relocs[i] = fixture.ELFReloc{Off: uint64(i), Sym: uint32(i % 5), Kind: uint32(i), Addend: int64(i) - 3}
				}
				all = append(all, relocatable(&fixture.ELF{Wide: wide, Big: big, Machine: machine}, make([]byte, 70), machine == 243, relocs...).Bytes())
			}
		}
	}
	e := &fixture.ELF{Wide: true, Big: true, Type: 1, Machine: 21}
	code(e)
	e.Add(fixture.ELFSection{Name: ".opd", Type: 1, Data: make([]byte, 48)})
	syms := e.Symtab(".symtab", 2, fixture.ELFSymbol{Kind: 3, Section: 1}, fixture.ELFSymbol{Name: "f", Kind: 2, Section: 3, Value: 24})
	e.Add(fixture.ELFSection{Name: ".rela.opd", Type: 4, Link: uint32(syms), Info: 3, Data: e.Relocs(true, fixture.ELFReloc{Off: 24, Sym: 1, Kind: 38})})
	all = append(all, e.Bytes())
	e.Type = 2
	return append(all, e.Bytes())
}

// FuzzFile reads all parts of a file.
func FuzzFile(f *testing.F) {
	for _, b := range seeds() {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := elf.Open(bin.Bytes(b))
		if err != nil {
			return
		}
		if len(file.Sections)*40 > len(b) || len(file.Segments)*32 > len(b) || len(file.Problems) > 64 {
			t.Fatalf("%d sections, %d segments, %d problems of %d bytes", len(file.Sections), len(file.Segments), len(file.Problems), len(b))
		}
		file.Unpack = func(kind elf.Compression, packed []byte, size uint64) ([]byte, error) {
			if len(packed) > len(b) || kind == elf.None {
				t.Fatalf("unpack %d bytes, kind %d", len(packed), kind)
			}
			return nil, fmt.Errorf("not here")
		}
		file.Arch()
		file.Kind()
		file.LoadAddress()
		file.DebugLink()
		file.AltLink()
		file.TextID()
		if id := file.BuildID(); len(id) > 256 {
			t.Fatalf("an id of %d bytes", len(id))
		}
		file.GoBuildID()
		notes := 0
		file.Notes(func(note elf.Note) bool {
			notes++
			if note.Off+int64(len(note.Desc)) > int64(len(b)) {
				t.Fatalf("a note of %d bytes at %d of %d", len(note.Desc), note.Off, len(b))
			}
			return true
		})
		if notes > len(b)/6 {
			t.Fatalf("%d notes of %d bytes", notes, len(b))
		}
		marks, _ := file.Marks()
		if len(marks) > len(b)/16+len(file.Sections) || !slices.IsSortedFunc(marks, func(a, b elf.Mark) int { return cmp.Compare(a.Addr, b.Addr) }) {
			t.Fatalf("%d marks of %d bytes", len(marks), len(b))
		}
		n := 0
		file.Symbols(func(s elf.Symbol) bool {
			n++
			if len(file.SymbolName(s.Table, s.NameOff)) > 64<<10 || int(s.Section) >= len(file.Sections) || s.Section < elf.SectionOther {
				t.Fatalf("%+v", s)
			}
			s.Rank(file.SymbolName(s.Table, s.NameOff))
			return true
		})
		if n > len(b)/8 {
			t.Fatalf("%d symbols of %d bytes", n, len(b))
		}
		addrs := make([]uint64, len(file.Sections))
		for i := range file.Sections {
			s := &file.Sections[i]
			data, _ := file.Data(s)
			if len(data) > len(b) {
				t.Fatalf("section %d has %d of %d bytes", i, len(data), len(b))
			}
			if i < 50 {
				if moved, problems := file.Relocate(s, data, addrs); len(moved) != len(data) && (moved != nil || problems == nil) {
					t.Fatalf("%d bytes are relocated to %d", len(data), len(moved))
				}
			}
			addrs[i] = uint64(i) << 12
		}
	})
}

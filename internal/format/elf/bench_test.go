package elf_test

import (
	"fmt"
	"testing"

	"symbolon/internal/bin"
	"symbolon/internal/fixture"
	"symbolon/internal/format/elf"
)

// large returns a file with n functions.
func large(n int) []byte {
	e := &fixture.ELF{Wide: true, Type: 3, Machine: 62}
	code(e)
	all := make([]fixture.ELFSymbol, n)
	for i := range all {
		all[i] = fixture.ELFSymbol{Name: fmt.Sprintf("_ZN5grove6Basket4eachILi%dEEEvT_", i*7919%n), Kind: 2, Bind: 1, Section: 1, Value: uint64(i) * 16, Size: 16}
	}
	e.Symtab(".symtab", 2, all...)
	return e.Bytes()
}

func BenchmarkSymbols(b *testing.B) {
	file := large(130_000)
	b.SetBytes(int64(len(file)))
	b.ReportAllocs()
	for b.Loop() {
		f, err := elf.Open(bin.Bytes(file))
		if err != nil {
			b.Fatal(err)
		}
		n, size := 0, 0
		f.Symbols(func(s elf.Symbol) bool {
			n++
			size += len(f.SymbolName(s.Table, s.NameOff))
			return true
		})
		if n != 130_000 || size < n {
			b.Fatal(n, size)
		}
	}
}

func BenchmarkRelocate(b *testing.B) {
	relocs := make([]fixture.ELFReloc, 100_000)
	for i := range relocs {
		relocs[i] = fixture.ELFReloc{Off: uint64(i) * 8, Sym: uint32(1 + i%2), Kind: 1, Addend: int64(i)}
	}
	file := relocatable(&fixture.ELF{Wide: true, Machine: 62}, make([]byte, 800_000), true, relocs...).Bytes()
	f, err := elf.Open(bin.Bytes(file))
	if err != nil {
		b.Fatal(err)
	}
	data, _ := f.Raw(&f.Sections[2])
	b.ReportAllocs()
	for b.Loop() {
		if _, problems := f.Relocate(&f.Sections[2], data, nil); problems != nil {
			b.Fatal(problems)
		}
	}
}

func TestSymbolsDoNotAllocate(t *testing.T) {
	open := func(n int) float64 {
		file := large(n)
		return testing.AllocsPerRun(10, func() {
			f, _ := elf.Open(bin.Bytes(file))
			f.Symbols(func(s elf.Symbol) bool { return s.Rank(f.SymbolName(s.Table, s.NameOff)) < 255 })
		})
	}
	if few, many := open(10), open(1000); many > few {
		t.Errorf("%v allocations for 10 symbols, %v for 1000", few, many)
	}
}

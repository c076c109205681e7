package standin

import (
	"cmp"
	"slices"
	"strings"

	"symbolon/internal/companion"
	"symbolon/internal/console"
	"symbolon/internal/format/elf"
	"symbolon/internal/ident"
)

// elfSymbols is the symbol table of an ELF file as other tools read it. They
// differ in which of several names for the same code they take.
type elfSymbols struct {
	file *companion.Source
	elf  *elf.File
	all  []elf.Symbol // by address, then size, then place
	both []elf.Symbol // functions and data in that order, once it was asked for
}

// openELF opens the symbols of a file, nil if it is no ELF file.
func openELF(e *Env, name string) *elfSymbols {
	src, err := companion.OpenSource(name, e.Stdin)
	if err != nil {
		return nil
	}
	f, err := elf.Open(src.Source)
	if err != nil {
		src.Close()
		return nil
	}
	s := &elfSymbols{file: src, elf: f}
	s.all = inOrder(f.Symbols)
	return s
}

// inOrder is symbols by address, then size, then place.
func inOrder(each func(func(elf.Symbol) bool)) (all []elf.Symbol) {
	each(func(sym elf.Symbol) bool {
		if sym.Table > 0 && len(all) > 0 && all[0].Table == 0 {
			return false // the table of the linker has more than that of the loader
		}
		all = append(all, sym)
		return true
	})
	slices.SortStableFunc(all, func(a, b elf.Symbol) int {
		return cmp.Or(cmp.Compare(a.Addr, b.Addr), cmp.Compare(a.Size, b.Size))
	})
	return all
}

// llvmData is what LLVM takes for the data at an address, which can be a
// function.
func (s *elfSymbols) llvmData(addr uint64) *elf.Symbol {
	if s.both == nil {
		s.both = inOrder(func(yield func(elf.Symbol) bool) {
			s.elf.Symbols(func(x elf.Symbol) bool { return x.Type == elf.SymbolNoType || yield(x) })
			s.elf.DataSymbols(func(x elf.Symbol) bool { return !s.isPlace(&x) || yield(x) })
		})
	}
	return llvmChoice(s.both, addr)
}

// isPlace says whether LLVM takes a symbol for one of a place: it is in a
// section, and no mark of the assembler.
func (s *elfSymbols) isPlace(x *elf.Symbol) bool {
	name := s.elf.SymbolName(x.Table, x.NameOff)
	switch s.elf.Arch().Family() {
	case ident.ArchARM, ident.ArchARM64:
		if len(name) > 1 && name[0] == '$' && strings.IndexByte("adtx", name[1]) >= 0 {
			return false
		}
	case ident.ArchRISCV32, ident.ArchRISCV64:
		if len(name) == 0 {
			return false
		}
	}
	return x.Section > 0
}

// section is the address of a section.
func (s *elfSymbols) section(name string) (addr uint64, ok bool) {
	for i := range s.elf.Sections {
		if sec := &s.elf.Sections[i]; sec.Name == name && i > 0 {
			return sec.Addr, true
		}
	}
	return 0, false
}

// at is the symbols with the greatest address that is not above addr.
func at(all []elf.Symbol, addr uint64) []elf.Symbol {
	end, _ := slices.BinarySearchFunc(all, addr, func(x elf.Symbol, addr uint64) int {
		if x.Addr <= addr {
			return -1
		}
		return 1
	})
	if end == 0 {
		return nil
	}
	first, _ := slices.BinarySearchFunc(all[:end], all[end-1].Addr, func(x elf.Symbol, addr uint64) int {
		return cmp.Compare(x.Addr, addr)
	})
	return all[first:end]
}

func (s *elfSymbols) name(x *elf.Symbol) string {
	return console.Printable(string(s.elf.SymbolName(x.Table, x.NameOff)))
}

// llvm is what LLVM takes for the function at an address.
func (s *elfSymbols) llvm(addr uint64) *elf.Symbol { return llvmChoice(s.all, addr) }

// llvmChoice is the symbol that LLVM takes, nil if it takes none: of those that
// begin last the largest, of equally large ones the last in the table. One with
// a size ends there.
func llvmChoice(all []elf.Symbol, addr uint64) *elf.Symbol {
	list := at(all, addr)
	if len(list) == 0 {
		return nil
	}
	x := &list[len(list)-1]
	if x.Size > 0 && addr-x.Addr >= x.Size {
		return nil
	}
	return x
}

// gnu is the symbol that binutils take: of those that begin last a function
// rather than one without a type, then the smallest that reaches to addr, of
// equally large ones the first in the table.
func (s *elfSymbols) gnu(addr uint64) (name string, ok bool) {
	var best *elf.Symbol
	list := at(s.all, addr)
	for i := range list {
		if best == nil || better(&list[i], best, addr) {
			best = &list[i]
		}
	}
	if best == nil {
		return "", false
	}
	return s.name(best), true
}

func better(a, b *elf.Symbol, addr uint64) bool {
	inA, inB := addr-a.Addr < a.Size, addr-b.Addr < b.Size
	switch {
	case inA != inB:
		return inA
	case !inA:
		return a.Size > b.Size
	case (a.Type == elf.SymbolNoType) != (b.Type == elf.SymbolNoType):
		return b.Type == elf.SymbolNoType
	}
	return a.Size < b.Size
}

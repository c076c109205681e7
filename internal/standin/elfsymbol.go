package standin

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"symbolon/internal/companion"
	"symbolon/internal/console"
	"symbolon/internal/demangle"
	"symbolon/internal/format/elf"
	"symbolon/internal/ident"
)

// elfSymbols is the symbol table of an ELF file as the tools read it. Each tool
// has its own choice among several symbols at one address, and the tables of
// package object keep only one of them, without data and sections: the tools
// cannot be answered from those.
type elfSymbols struct {
	file *companion.Source
	elf  *elf.File
	all  []elf.Symbol // by address, size and index
	both []elf.Symbol // functions and data in the same order; made when needed
	from []elf.Symbol // names of source files in the order of the table

	addrs map[string]uint64 // by demangled name; made when needed
}

// openELF opens the symbols of a file, and returns nil for other formats.
func openELF(name string, stdin io.Reader) *elfSymbols {
	src, err := companion.OpenSource(name, stdin)
	if err != nil {
		return nil
	}
	f, err := elf.Open(src.Source)
	if err != nil {
		src.Close()
		return nil
	}
	s := readELF(f)
	s.file = src
	return s
}

// readELF returns the symbols of a file that the caller closes.
func readELF(f *elf.File) *elfSymbols {
	s := &elfSymbols{elf: f, all: sorted(f.Symbols)}
	f.FileSymbols(func(x elf.Symbol) bool { s.from = append(s.from, x); return true })
	return s
}

// sorted returns symbols by address, size and index.
func sorted(each func(func(elf.Symbol) bool)) (all []elf.Symbol) {
	each(func(sym elf.Symbol) bool {
		if sym.Table > 0 && len(all) > 0 && all[0].Table == 0 {
			return false // the table of the linker is a superset of that of the loader
		}
		all = append(all, sym)
		return true
	})
	slices.SortStableFunc(all, func(a, b elf.Symbol) int {
		return cmp.Or(cmp.Compare(a.Addr, b.Addr), cmp.Compare(a.Size, b.Size), cmp.Compare(a.Index, b.Index))
	})
	return all
}

// llvm returns the symbols that LLVM reads. With untag the highest byte of their
// addresses is a copy of bit 55, as in code.
func (s *elfSymbols) llvm(untag bool) []elf.Symbol {
	if s.both != nil {
		return s.both
	}
	s.both = sorted(func(yield func(elf.Symbol) bool) {
		add := func(x elf.Symbol) bool {
			if untag && s.elf.Class == 64 {
				x.Addr = uint64(int64(x.Addr<<8) >> 8)
			}
			return !s.isPlace(&x) || yield(x)
		}
		s.elf.Symbols(func(x elf.Symbol) bool { return x.Type == elf.SymbolNoType || add(x) })
		s.elf.DataSymbols(add)
	})
	if s.both == nil {
		s.both = []elf.Symbol{}
	}
	return s.both
}

// isPlace reports whether LLVM uses a symbol: it is in a section in memory, and is
// not a mapping symbol of the assembler.
func (s *elfSymbols) isPlace(x *elf.Symbol) bool {
	name := s.elf.SymbolName(x.Table, x.NameOff)
	switch s.elf.Arch().Family() {
	case ident.ArchARM, ident.ArchARM64:
		if len(name) > 1 && name[0] == '$' && strings.IndexByte("adtx", name[1]) >= 0 {
			return false
		}
	case ident.ArchRISCV32, ident.ArchRISCV64:
		text := string(name)
		if text == "" || text == ".L0 " || strings.HasPrefix(text, "$d") || strings.HasPrefix(text, "$x") {
			return false
		}
	}
	return x.Section > 0 && s.elf.Sections[x.Section].Flags&elf.FlagAlloc != 0
}

// sourceOf returns the source file of a local symbol, which is before it in the table
// and may be empty, or false. In binutils a global one has the only file of the table.
func (s *elfSymbols) sourceOf(x *elf.Symbol, gnu bool) (name string, ok bool) {
	i, _ := slices.BinarySearchFunc(s.from, x, func(f elf.Symbol, x *elf.Symbol) int {
		return cmp.Or(cmp.Compare(f.Table, x.Table), cmp.Compare(f.Index, x.Index))
	})
	if i == 0 || s.from[i-1].Table != x.Table || x.Bind != elf.BindLocal && (!gnu || int(s.from[i-1].Index) != i) {
		return "", false
	}
	return s.name(&s.from[i-1]), true
}

// at returns the symbols at the greatest address that is not above addr.
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

// name returns the name of a symbol.
func (s *elfSymbols) name(x *elf.Symbol) string {
	return console.Printable(string(s.elf.SymbolName(x.Table, x.NameOff)))
}

// demangled returns the addresses of the symbols by their demangled names, of equal
// names the first.
func (s *elfSymbols) demangled() map[string]uint64 {
	if s.addrs == nil {
		s.addrs = make(map[string]uint64, len(s.all))
		for i := range s.all {
			name := demangle.Name(s.name(&s.all[i]), demangle.Full)
			if _, ok := s.addrs[name]; !ok {
				s.addrs[name] = s.all[i].Addr
			}
		}
	}
	return s.addrs
}

// llvmChoice returns the largest of the symbols that begin last, and of equally
// large ones the last in the table. It returns nil if addr is after the end of
// that symbol, unless its size is unknown.
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

// gnu returns the symbol that binutils choose: of the symbols with the greatest address a
// function before one without a type, then the smallest that contains addr, and of
// equally large ones the first in the table. It returns nil if addr is not in the section
// of that symbol.
func (s *elfSymbols) gnu(addr uint64) (best *elf.Symbol) {
	list := at(s.all, addr)
	for i := range list {
		if best == nil || better(&list[i], best, addr) {
			best = &list[i]
		}
	}
	if best != nil && best.Section > 0 {
		if h := &s.elf.Sections[best.Section]; addr-h.Addr >= h.Size {
			return nil
		}
	}
	return best
}

// better reports whether binutils prefer a to b.
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

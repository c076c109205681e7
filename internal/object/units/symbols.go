package units

import (
	"cmp"
	"math"
	"slices"

	"symbolon/internal/object"
	"symbolon/internal/sym"
)

// Symbol is a name in a symbol table. Its address is that of the file.
type Symbol struct {
	Addr, Size uint64
	Name       uint32 // where, in its table
	Table      uint8
	Kind       uint8 // in the terms of the format, for its rank
	Label      bool  // without size it names a place in the code of another
	rank       uint8 // of several at one address the least counts
}

func (s *Symbol) text() sym.Text {
	return sym.Text(uint64(s.Name)<<KindShift | uint64(s.Table)<<4 | kindSymbol)
}

// symbols are those of code.
type symbols struct {
	all  []Symbol // by address, the best first
	tops []top    // one for each address
	cuts []cut    // by address
	open []int32  // the tops that have not ended, while cuts are made
}

// cut is where the code of another top begins: the last of those that have it.
type cut struct {
	addr uint64
	top  int32 // of tops; -1: none
}

// top is the symbol that counts of those at its address.
type top struct {
	addr, end uint64
	index     int32 // of all
}

// newSymbols sorts symbols in the order of their tables, which decides between equal
// ones. A symbol without size extends to the next one, or to the result of limit. Of
// several at one address, the one with the least rank is used.
func newSymbols(all []Symbol, b Binary) *symbols {
	var order byStart[Symbol]
	order.sort(all, func(s *Symbol) uint64 { return s.Addr })
	l := &symbols{all: all, tops: make([]top, 0, len(all)), cuts: make([]cut, 0, len(all))}
	for i := 0; i < len(all); {
		next := i + 1
		for next < len(all) && all[next].Addr == all[i].Addr {
			next++
		}
		if same := all[i:next]; len(same) > 1 {
			for k := range same {
				same[k].rank = b.SymbolRank(&same[k])
			}
			slices.SortStableFunc(same, func(a, b Symbol) int { return cmp.Compare(a.rank, b.rank) })
		}
		border := uint64(math.MaxUint64)
		if next < len(all) {
			border = all[next].Addr
		}
		l.add(int32(i), border, b)
		i = next
	}
	l.close(math.MaxUint64)
	l.open = nil
	return l
}

// add adds the symbol at i; the next one starts at border.
func (l *symbols) add(i int32, border uint64, b Binary) {
	s := &l.all[i]
	outer := l.close(s.Addr)
	t := top{addr: s.Addr, end: s.Addr + s.Size, index: i}
	switch {
	case s.Size > 0 && t.end < t.addr:
		t.end = math.MaxUint64
	case s.Size > 0:
	case outer >= 0 && s.Label:
		return
	case outer >= 0:
		t.end = min(border, l.tops[outer].end)
	default:
		t.end = min(border, max(b.SymbolLimit(s.Addr), s.Addr+1))
	}
	l.open = append(l.open, int32(len(l.tops)))
	l.cut(t.addr, int32(len(l.tops)))
	l.tops = append(l.tops, t)
}

// close closes the tops that end at or before addr, and returns the one that has it,
// or -1.
func (l *symbols) close(addr uint64) int32 {
	for {
		inner := l.inner()
		if inner < 0 || l.tops[inner].end > addr {
			return inner
		}
		end := l.tops[inner].end
		for inner >= 0 && l.tops[inner].end <= end {
			l.open = l.open[:len(l.open)-1]
			inner = l.inner()
		}
		l.cut(end, inner)
	}
}

// inner returns the open top that starts last, or -1.
func (l *symbols) inner() int32 {
	if len(l.open) == 0 {
		return -1
	}
	return l.open[len(l.open)-1]
}

// cut begins the code of a top, or of none.
func (l *symbols) cut(addr uint64, top int32) {
	if n := len(l.cuts); n > 0 && l.cuts[n-1].addr == addr {
		l.cuts = l.cuts[:n-1]
	}
	l.cuts = append(l.cuts, cut{addr, top})
}

// at returns the symbol whose code is at addr, or nil, and up to
// where that is so.
func (l *symbols) at(addr uint64) (t *top, until uint64) {
	i, found := slices.BinarySearchFunc(l.cuts, addr, func(c cut, addr uint64) int { return cmp.Compare(c.addr, addr) })
	if !found {
		i--
	}
	until = math.MaxUint64
	if i+1 < len(l.cuts) {
		until = l.cuts[i+1].addr
	}
	if i < 0 || l.cuts[i].top < 0 {
		return nil, until
	}
	return &l.tops[l.cuts[i].top], until
}

func (l *symbols) named(addr uint64, at *int) []Symbol {
	i := min(*at, len(l.all))
	if i > 0 && l.all[i-1].Addr >= addr {
		i = 0
	}
	for range 32 {
		if i < len(l.all) && l.all[i].Addr < addr {
			i++
		}
	}
	if i < len(l.all) && l.all[i].Addr < addr {
		n, _ := slices.BinarySearchFunc(l.all[i:], addr, func(s Symbol, addr uint64) int { return cmp.Compare(s.Addr, addr) })
		i += n
	}
	*at = i
	n := i
	for n < len(l.all) && l.all[n].Addr == addr {
		n++
	}
	return l.all[i:n]
}

// Named returns the places of the symbols with a name.
func (g *Image) Named(name string) []object.Place {
	return g.NamedIn(func(s *Symbol) bool { return string(g.binary.SymbolName(s.Table, s.Name)) == name })
}

// NamedIn returns the places of the symbols that have a name according to hasName.
func (g *Image) NamedIn(hasName func(s *Symbol) bool) (found []object.Place) {
	l, last := g.symbols(), uint64(0)
	for i := range l.all {
		s := &l.all[i]
		if !hasName(s) || len(found) > 0 && s.Addr == last {
			continue // several tables may have the same symbol
		}
		base, part, ok := g.Place(s.Addr)
		if !ok {
			continue
		}
		last = s.Addr
		_, until := l.at(s.Addr)
		p := object.Place{Addr: s.Addr - base, Size: until - s.Addr, Part: part}
		for _, r := range g.Parts[:part] {
			p.IsHidden = p.IsHidden || p.Addr < r.End-r.Start
		}
		found = append(found, p)
	}
	return found
}

// Label returns the name of the symbol at an address.
func (g *Image) Label(addr uint64) string { return g.LabelIn(addr, g.binary.SymbolName) }

// LabelIn returns the name of the symbol at an address according to nameOf.
func (g *Image) LabelIn(addr uint64, nameOf func(table uint8, off uint32) []byte) string {
	for part := g.first; part < g.end; part++ {
		place := addr + g.Bases[part]
		if s := g.symbolAt(place); s != nil && g.together(s.Addr, place) {
			return string(nameOf(s.Table, s.Name))
		}
	}
	return ""
}

// Binary has the symbols of a file.
type Binary interface {
	EachSymbol(yield func(Symbol))
	// SymbolsAt calls yield with the symbols at an address, and maybe others. It
	// reports whether that is quicker than EachSymbol; if not it yields none.
	SymbolsAt(addr uint64, yield func(Symbol)) (quick bool)
	SymbolName(table uint8, off uint32) []byte
	// SymbolLimit returns where a symbol without size ends at the latest.
	SymbolLimit(addr uint64) uint64
	// SymbolRank returns the rank of a symbol; of those at one address the least
	// counts.
	SymbolRank(s *Symbol) uint8
}

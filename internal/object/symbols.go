package object

import (
	"cmp"
	"math"
	"slices"

	"symbolon/internal/sym"
)

// symbol is a name in a symbol table. Its address is that of the file.
type symbol struct {
	addr, size uint64
	name       uint32 // where, in its table
	table      uint8
	kind       uint8 // what the format says of it, for its rank
	rank       uint8 // of several at one address the least counts
	label      bool  // without size it names a place in the code of another
}

func (s *symbol) text() sym.Text {
	return sym.Text(uint64(s.name)<<kindShift | uint64(s.table)<<4 | kindSymbol)
}

// symbols are those of code.
type symbols struct {
	all  []symbol // by address, the best first
	tops []top    // one for each address
	cuts []cut    // by address
	open []int32  // the tops that have not ended, while cuts are made
}

// cut is where the code of another top begins: the last of those that have it.
type cut struct {
	addr uint64
	top  int32 // of tops; -1: there is none
}

// top is the symbol that counts of those at its address.
type top struct {
	addr, end uint64
	index     int32 // of all
}

// newSymbols sorts symbols that come in the order of their tables, which
// decides between equals. A symbol without size reaches to the next one, or to
// what limit says. Of several at one address rank says which counts: the least.
func newSymbols(all []symbol, limit func(addr uint64) uint64, rank func(s *symbol) uint8) *symbols {
	var order byStart[symbol]
	order.sort(all, func(s *symbol) uint64 { return s.addr })
	l := &symbols{all: all, tops: make([]top, 0, len(all)), cuts: make([]cut, 0, len(all))}
	for i := 0; i < len(all); {
		next := i + 1
		for next < len(all) && all[next].addr == all[i].addr {
			next++
		}
		if same := all[i:next]; len(same) > 1 {
			for k := range same {
				same[k].rank = rank(&same[k])
			}
			slices.SortStableFunc(same, func(a, b symbol) int { return cmp.Compare(a.rank, b.rank) })
		}
		border := uint64(math.MaxUint64)
		if next < len(all) {
			border = all[next].addr
		}
		l.add(int32(i), border, limit)
		i = next
	}
	l.close(math.MaxUint64)
	l.open = nil
	return l
}

// add adds the symbol at i; the next one starts at border.
func (l *symbols) add(i int32, border uint64, limit func(addr uint64) uint64) {
	s := &l.all[i]
	outer := l.close(s.addr)
	t := top{addr: s.addr, end: s.addr + s.size, index: i}
	switch {
	case s.size > 0 && t.end < t.addr:
		t.end = math.MaxUint64
	case s.size > 0:
	case outer >= 0 && s.label:
		return
	case outer >= 0:
		t.end = min(border, l.tops[outer].end)
	default:
		t.end = min(border, max(limit(s.addr), s.addr+1))
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

// inner is the open top that starts last, or -1.
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

// at is the symbol whose code is at addr, nil if there is none, and up to
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

// symbolAt is the symbol whose code is at an address of the file, nil if there is
// none.
func (g *image) symbolAt(addr uint64) *symbol {
	if g.pdb != nil && g.symbolsAt != nil && g.scans.Load() < maxScans {
		// What PDBs know of the order of their symbols makes it a matter of some
		// reads. The next symbol begins behind addr.
		g.scans.Add(1)
		var list []symbol
		g.symbolsAt(addr, func(s symbol) { list = append(list, s) })
		list = newSymbols(list, g.limit, g.rank).all
		if len(list) > 0 && addr < max(g.limit(list[0].addr), list[0].addr+1) {
			return &list[0]
		}
		return nil
	}
	t, _ := g.symbols().at(addr)
	if t == nil {
		return nil
	}
	return &g.syms.all[t.index]
}

// maxScans is how often all symbols are gone through before they are sorted.
const maxScans = 4

// named are the symbols that start at addr. Few questions do not make it worth
// while to sort them all. At is where to look first.
func (g *image) named(addr uint64, at *int) []symbol {
	if g.scans.Load() >= maxScans {
		return g.symbols().named(addr, at)
	}
	g.scans.Add(1)
	var list []symbol
	each := g.eachSymbol
	if g.symbolsAt != nil {
		each = func(yield func(symbol)) { g.symbolsAt(addr, yield) }
	}
	each(func(s symbol) {
		if s.addr == addr {
			list = append(list, s)
		}
	})
	return newSymbols(list, g.limit, g.rank).all
}

func (l *symbols) named(addr uint64, at *int) []symbol {
	i := min(*at, len(l.all))
	if i > 0 && l.all[i-1].addr >= addr {
		i = 0
	}
	for range 32 {
		if i < len(l.all) && l.all[i].addr < addr {
			i++
		}
	}
	if i < len(l.all) && l.all[i].addr < addr {
		n, _ := slices.BinarySearchFunc(l.all[i:], addr, func(s symbol, addr uint64) int { return cmp.Compare(s.addr, addr) })
		i += n
	}
	*at = i
	n := i
	for n < len(l.all) && l.all[n].addr == addr {
		n++
	}
	return l.all[i:n]
}

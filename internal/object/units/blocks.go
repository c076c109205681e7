package units

import (
	"cmp"
	"math"
	"slices"

	"symbolon/internal/object"
	"symbolon/internal/sym"
)

// symbolUnit is the unit of chunks that are symbols.
const symbolUnit = math.MaxInt32

// relaxEach is after how many units pages are released, some megabytes of debug
// information.
const relaxEach = 4

// Blocks makes the digests of all units, sorts their chunks, and yields them as blocks.
func (g *Image) Blocks(opt object.BlockOptions, yield func(*sym.Block) error) (err error) {
	st := &store{opt: opt}
	defer func() {
		if e := st.close(); err == nil {
			err = e
		}
	}()
	if d, ok := g.main.(*DWARF); ok {
		d.readUnits()
	}
	g.symbols()
	s := &sweep{image: g, store: st}
	unit := 0
	start := func(b *unitBatch) bool {
		b.unit = unit
		unit++
		return b.unit < g.numUnits()
	}
	deliver := func(b *unitBatch) error {
		s.chunks = append(s.chunks, b.chunks...)
		if b.unit%relaxEach == 0 {
			g.in.Relax()
		}
		return st.add(b.code)
	}
	if err := object.InOrder(opt.Workers, start, (*unitBatch).work, deliver, func() *unitBatch { return &unitBatch{image: g} }); err != nil {
		return err
	}
	functions := len(s.chunks)
	g.addSymbols(s)
	g.Found.SetCounts(object.Counts{Functions: functions, Publics: len(g.syms.tops)})
	if opt.Workers <= 1 {
		s.yield = yield
		return s.run()
	}
	return beside(func(put func(*sym.Block) error) error {
		s.yield = put
		return s.run()
	}, yield)
}

// unitBatch is the work on one unit.
type unitBatch struct {
	Digest
	image *Image
}

func (b *unitBatch) work() {
	w := workers.Get().(*Worker)
	b.image.digest(w, &b.Digest, b.unit, true)
	workers.Put(w)
}

// addSymbols adds the symbols as chunks, except those inside an existing chunk, which
// hides them.
func (g *Image) addSymbols(s *sweep) {
	s.sort()
	functions, next, covered := len(s.chunks), 0, uint64(0) // up to where one has all
	for i := range g.syms.tops {
		t := &g.syms.tops[i]
		base, part, ok := g.Place(t.addr)
		if !ok || t.end <= t.addr {
			continue
		}
		end := g.cut(t.end, part)
		for ; next < functions && s.chunks[next].start <= t.addr-base; next++ {
			covered = max(covered, s.chunks[next].end)
		}
		if g.Parts == nil && (end-base <= covered || g.traits.Unsized && t.addr-base < covered) {
			continue
		}
		s.chunks = append(s.chunks, chunk{
			start: t.addr - base, end: end - base, off: uint32(i), unit: symbolUnit, layer: part*layersOfPart + layerSymbol,
		})
	}
}

// symbolBlock makes the block of a symbol from an address on.
func (g *Image) symbolBlock(b *sym.Block, c *chunk, from uint64) {
	s := &g.syms.all[g.syms.tops[c.off].index]
	b.Nodes = append(b.Nodes, sym.Node{Parent: -1, Name: s.text(), Entry: c.start, Size: s.Size})
	b.Rows = append(b.Rows, sym.Row{Addr: from})
}

// Nearest returns the function or symbol with the greatest start that is not above addr.
// The first call reads all of them.
func (g *Image) Nearest(addr uint64) (sym.Frame, bool) {
	g.once.nearest.Do(func() {
		_ = g.Blocks(object.BlockOptions{}, func(b *sym.Block) error { // Found has the damage
			if len(b.Nodes) > 0 {
				n := &b.Nodes[0]
				g.roots = append(g.roots, root{n.Entry, n.Size, n.Name, n.Lang})
			}
			return nil
		})
		slices.SortStableFunc(g.roots, func(a, b root) int {
			c := cmp.Compare(a.entry, b.entry)
			if c == 0 && (a.size == 0) != (b.size == 0) {
				c = cmp.Compare(b.size, a.size) // one with a size has more
			}
			return c
		})
		g.roots = slices.CompactFunc(g.roots, func(a, b root) bool { return a.entry == b.entry })
	})
	i, found := slices.BinarySearchFunc(g.roots, addr, func(r root, addr uint64) int { return cmp.Compare(r.entry, addr) })
	if !found {
		i--
	}
	if i < 0 {
		return sym.Frame{}, false
	}
	r := g.roots[i]
	return sym.Frame{Func: r.name, Entry: r.entry, Size: r.size, Lang: r.lang}, true
}

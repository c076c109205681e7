package units

import (
	"cmp"
	"slices"
)

// Span is a range of addresses of the file in which a unit has code.
type Span struct {
	Start, End uint64
	Unit       int32
}

// cover tells which units have code where.
type cover struct {
	spans []Span
	most  []uint64 // the greatest end of spans up to each
}

// at calls yield with the units that have code at addr.
func (c *cover) at(addr uint64, yield func(unit int)) {
	i, _ := slices.BinarySearchFunc(c.spans, addr, func(s Span, addr uint64) int {
		if s.Start <= addr {
			return -1
		}
		return 1
	})
	for i--; i >= 0 && c.most[i] > addr; i-- {
		if c.spans[i].End > addr {
			yield(int(c.spans[i].Unit))
		}
	}
}

// covered returns where all units have code. It is made when it is first needed.
func (g *Image) covered() *cover {
	g.once.cover.Do(func() {
		g.spans = &cover{} // if the file cannot be read
		c := &cover{}
		if g.main != nil {
			c.spans = g.main.Spans(nil)
		}
		for _, in := range g.linked {
			c.spans = in.spans(c.spans)
		}
		slices.SortFunc(c.spans, func(a, b Span) int {
			return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Unit, b.Unit))
		})
		var most uint64
		for _, s := range c.spans {
			most = max(most, s.End)
			c.most = append(c.most, most)
		}
		g.spans = c
	})
	return g.spans
}

// unitsAt calls yield with the units that have code at an address.
func (g *Image) unitsAt(addr uint64, yield func(unit int)) {
	if d, ok := g.main.(*DWARF); ok && d.unitsAt(addr, yield) {
		return
	}
	g.covered().at(addr, yield)
}

package object

import (
	"sync"
	"sync/atomic"

	"symbolon/internal/format/dwarf"
	"symbolon/internal/sym"
)

// glance answers the first address that is asked of a file. Where .debug_aranges
// names the units that have it, no others are read for it: one address of a
// kernel takes a tenth of the time so.
type glance struct {
	aranges  []byte
	sections dwarf.Sections
	asked    atomic.Bool
	whole    sync.Once
	read     atomic.Bool // all units are
	part     atomic.Pointer[image]
}

// firstOfPart is the first number of the units that only a glance has read.
const firstOfPart = 1 << 22

// debug is the debug information, nil if there is none. Its units are read when
// they are first needed.
func (g *image) debug() *dwarf.Data {
	if z := g.glance; z != nil {
		z.whole.Do(func() {
			g.readUnits(&z.sections)
			z.read.Store(true)
		})
	}
	return g.dwarf
}

// answer answers the first address, if it can.
func (z *glance) answer(g *image, dst []sym.Frame, addr uint64) ([]sym.Frame, bool) {
	if z.asked.Swap(true) || z.read.Load() {
		return dst, false
	}
	s, place := z.sections, addr+g.bases[0]
	s.Only = dwarf.ArangesAt(z.aranges, s.Order, place)
	if s.Only == nil || place < addr {
		return dst, false
	}
	h := &image{
		opt: g.opt, bases: g.bases, hasDWARF: true, lineSections: g.lineSections, limit: g.limit, rank: g.rank,
		eachSymbol: g.eachSymbol, symbolsAt: g.symbolsAt, names: g.names, hidden: g.hidden,
	}
	h.readUnits(&s)
	var found direct
	for u := range h.units() {
		h.look(&found, u, addr, layerFunc, false)
	}
	if found.unit == nil {
		return dst, false
	}
	found.best.unit += firstOfPart
	frames := h.frames(dst, &found, addr)
	for _, f := range frames[len(dst):] {
		h.appendText(nil, f.Func)
	}
	if h.dwarf.Missed() || h.problems.any() {
		return dst, false // the whole file says more, or what is wrong with it
	}
	z.part.Store(h)
	return frames, true
}

// reader is the image that has read what t stands for, and what it calls it.
func (g *image) reader(t sym.Text) (*image, sym.Text) {
	z := g.glance
	if z == nil || z.part.Load() == nil {
		return g, t
	}
	switch {
	case t&15 == kindFile && t>>unitShift >= firstOfPart:
		return z.part.Load(), t - firstOfPart<<unitShift
	case z.read.Load():
		return g, t
	}
	return z.part.Load(), t
}

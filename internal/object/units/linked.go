package units

import (
	"cmp"
	"slices"

	"symbolon/internal/fault"
)

// maxLinked is how many numbers there are for object files in a Text. They have
// the bits that are the number of a file in texts of other images.
const maxLinked = 1<<16 - 1

// Link adds an object file that the image was linked from.
func (g *Image) Link(h *Image, moved []Moved) error {
	if len(g.linked) >= maxLinked {
		return fault.New(fault.Unsupported, "debug file", "it was linked from more than %d files", maxLinked)
	}
	slices.SortFunc(moved, func(a, b Moved) int { return cmp.Compare(a.Start, b.Start) })
	g.linked = append(g.linked, &linked{image: h, first: g.numUnits(), moved: moved})
	h.number = len(g.linked)
	return nil
}

// spans appends where the units of an object file have code.
func (in *linked) spans(list []Span) []Span {
	for u := range in.image.numUnits() {
		for _, m := range in.moved {
			list = append(list, Span{m.To, m.To + (m.End - m.Start), int32(in.first + u)})
		}
	}
	return list
}

// digest makes the digest of a unit of an object file for the image.
func (in *linked) digest(w *Worker, d *Digest, g *Image, u int) {
	in.image.digest(w, d, u, false)
	d.unit, d.Full = d.unit+in.first, true
	kept := d.chunks[:0]
	for _, c := range d.chunks {
		c.unit = int32(d.unit)
		i, found := slices.BinarySearchFunc(in.moved, c.start, func(m Moved, addr uint64) int { return cmp.Compare(m.Start, addr) })
		if !found {
			i--
		}
		if i < 0 || c.start >= in.moved[i].End {
			continue // the linker dropped it
		}
		m := in.moved[i]
		base, part, ok := g.Place(m.To)
		if !ok {
			continue
		}
		size := min(c.end, m.End) - c.start
		c.start += m.To - m.Start - base
		c.end, c.layer = c.start+size, part*layersOfPart+layerFunc
		kept = append(kept, c)
	}
	d.chunks = kept
}

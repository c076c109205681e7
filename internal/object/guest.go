package object

import (
	"cmp"
	"slices"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/format/dwarf"
	"symbolon/internal/format/macho"
	"symbolon/internal/ident"
	"symbolon/internal/sym"
)

// guest is an object file that a Mach-O image was linked from, and which still
// has the debug information of its functions. The image says where the linker
// put each of them.
type guest struct {
	image *image
	first int     // its first unit among those of the image
	moved []moved // by address in the object file
}

// moved is a function of an object file, and where it is in the image.
type moved struct{ start, end, to uint64 }

// linked is what an image says of an object file.
type linked struct {
	arch      ident.Arch
	functions []macho.Function
}

// maxGuests is how many numbers there are for them in a Text: they stand where
// those of other images have the number of a file.
const maxGuests = 1<<16 - 1

// supplyObject takes in an object file.
func (g *image) supplyObject(n Need, src bin.Source) (bool, error) {
	link, ok := n.Linked.(*linked)
	if !ok || len(g.guests) >= maxGuests {
		return false, fault.New(fault.Unsupported, "debug file", "it was linked from more than %d files", maxGuests)
	}
	f, err := g.in.Open(src, Role{})
	if err != nil {
		return false, err
	}
	for _, o := range f.Objects() {
		h, ok := o.View().(*image)
		info := o.Info()
		if !ok || h.dwarf == nil || info.Type != "rel" || info.Module.Arch != link.arch || n.Member != "" && info.Name != n.Member {
			continue
		}
		in := &guest{image: h, first: g.numUnits(), moved: h.find(link.functions)}
		if len(in.moved) == 0 {
			continue
		}
		g.guests = append(g.guests, in)
		h.number = len(g.guests)
		g.adopt(h)
		g.needs = slices.DeleteFunc(g.needs, func(x Need) bool { return x.Linked == n.Linked })
		return true, nil
	}
	return false, nil
}

// find finds functions in an object file by their names.
func (g *image) find(functions []macho.Function) (list []moved) {
	at := map[string]uint64{}
	g.eachSymbol(func(s symbol) { at[string(g.names(s.table, s.name))] = s.addr })
	for _, f := range functions {
		if addr, ok := at[string(f.Name)]; ok && f.Size > 0 {
			list = append(list, moved{addr, addr + f.Size, f.Addr})
		}
	}
	slices.SortFunc(list, func(a, b moved) int { return cmp.Compare(a.start, b.start) })
	return list
}

// guestOf is the guest that a unit of the image is of, and its number there.
func (g *image) guestOf(unit int) (*guest, int) {
	for _, in := range g.guests {
		if n := unit - in.first; n >= 0 && n < in.image.numUnits() {
			return in, n
		}
	}
	return nil, 0
}

// spans appends where the units of a guest have code.
func (in *guest) spans(list []unitSpan) []unitSpan {
	for u := range in.image.numUnits() {
		for _, m := range in.moved {
			list = append(list, unitSpan{m.to, m.to + (m.end - m.start), int32(in.first + u)})
		}
	}
	return list
}

// digest makes what a unit of a guest says about the image.
func (in *guest) digest(w *worker, d *digest, g *image, u int) {
	in.image.digest(w, d, u, false)
	d.unit, d.full = d.unit+in.first, true
	kept := d.chunks[:0]
	for _, c := range d.chunks {
		c.unit = int32(d.unit)
		i, found := slices.BinarySearchFunc(in.moved, c.start, func(m moved, addr uint64) int { return cmp.Compare(m.start, addr) })
		if !found {
			i--
		}
		if i < 0 || c.start >= in.moved[i].end {
			continue // the linker dropped it
		}
		m := in.moved[i]
		base, part, ok := g.place(m.to)
		if !ok {
			continue
		}
		size := min(c.end, m.end) - c.start
		c.start += m.to - m.start - base
		c.end, c.layer = c.start+size, part*layersOfPart+layerFunc
		kept = append(kept, c)
	}
	d.chunks = kept
}

// appendGuestName appends a name that a guest has.
func (g *image) appendGuestName(dst []byte, t sym.Text) []byte {
	n := int(t >> 4 & 0xffff)
	if n == 0 || n > len(g.guests) {
		return dst
	}
	return g.guests[n-1].image.dwarf.AppendName(dst, dwarf.Name(t&^(0xffff<<4)))
}

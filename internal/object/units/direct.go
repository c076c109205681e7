package units

import (
	"cmp"
	"slices"
	"sync"

	"symbolon/internal/sym"
)

// direct is the state of one lookup.
type direct struct {
	best chunk
	unit *kept
}

// Lookup answers an address from the units that have code there. Nothing is
// known where the file cannot be read any more.
func (g *Image) Lookup(dst []sym.Frame, addr uint64) []sym.Frame {
	for part := g.first; part < g.end; part++ {
		if frames := g.lookupPart(dst, addr, addr+g.Bases[part], uint16(part)); len(frames) > len(dst) {
			return frames
		}
	}
	return dst
}

// LookupIn answers an address from one part of the image.
func (g *Image) LookupIn(dst []sym.Frame, part uint16, addr uint64) []sym.Frame {
	return g.lookupPart(dst, addr, addr+g.Bases[part], part)
}

// lookupPart answers an address from one part of the image.
func (g *Image) lookupPart(dst []sym.Frame, addr, place uint64, part uint16) []sym.Frame {
	if !g.isIn(int(part), addr, place) {
		return dst
	}
	var found direct
	g.unitsAt(place, func(u int) { g.look(&found, u, addr, part*layersOfPart+layerFunc, false) })
	if found.unit == nil {
		s := g.symbolAt(place)
		if s == nil || !g.together(s.Addr, place) {
			return dst
		}
		g.unitsAt(place, func(u int) { g.look(&found, u, addr, part*layersOfPart+layerLines, true) })
		if found.unit == nil {
			var named direct
			if g.traits.Unsized {
				g.unitsAt(s.Addr, func(u int) { g.look(&named, u, s.Addr-g.Bases[part], part*layersOfPart+layerFunc, false) })
			}
			if named.unit != nil {
				return dst
			}
			return append(dst, sym.Frame{Func: s.text(), Entry: s.Addr - g.Bases[part], Size: s.Size})
		}
	}
	s := readers.Get().(*reader)
	defer readers.Put(s)
	decode(&s.block, &found.best, found.unit.code[found.best.off:][:found.best.len])
	s.name.root(g, &s.block, &found.best)
	return s.block.Frames(dst, s.block.RowAt(addr))
}

// look looks in a unit for the chunk of a layer that has the address.
func (g *Image) look(found *direct, u int, addr uint64, layer uint16, full bool) {
	k := g.cache.get(g, u, full)
	i, _ := slices.BinarySearchFunc(k.chunks, addr, func(c chunk, addr uint64) int {
		if c.start <= addr {
			return -1
		}
		return 1
	})
	for i--; i >= 0 && k.most[i] > addr; i-- {
		c := &k.chunks[i]
		if c.end > addr && c.layer == layer && (found.unit == nil || c.beats(&found.best)) {
			found.best, found.unit = *c, k
		}
	}
}

// namer finds the names of functions.
type namer struct {
	room [512]byte
	next int // of the symbols: where the last function was
}

// root sets the name of the function of a chunk.
func (n *namer) root(g *Image, b *sym.Block, c *chunk) {
	if c.layer%layersOfPart != layerFunc {
		return
	}
	root := &b.Nodes[0]
	addr := root.Entry + g.Bases[c.layer/layersOfPart]
	root.Name = g.rootName(root.Name, g.named(addr, &n.next), n.room[:])
}

// reader is memory for one answer.
type reader struct {
	block sym.Block
	name  namer
}

var readers = sync.Pool{New: func() any { return new(reader) }}

func keep(d Digest) *kept {
	k := &kept{Digest: d, most: make([]uint64, len(d.chunks))}
	slices.SortFunc(k.chunks, func(a, b chunk) int { return cmp.Compare(a.start, b.start) })
	var most uint64
	for i := range k.chunks {
		most = max(most, k.chunks[i].end)
		k.most[i] = most
	}
	return k
}

func (k *kept) bytes() int { return len(k.code) + 40*len(k.chunks) + 128 }

// get returns the digest of unit u.
func (c *digests) get(g *Image, u int, full bool) *kept {
	c.mu.Lock()
	c.clock++
	k := c.units[u]
	if k != nil && (k.Full || !full) {
		k.used = c.clock
		c.mu.Unlock()
		return k
	}
	c.mu.Unlock()
	w := workers.Get().(*Worker)
	var d Digest
	g.digest(w, &d, u, full)
	workers.Put(w)
	k = keep(d)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(u, k)
	return k
}

// put keeps k, and evicts the digests that were not used for the longest time.
func (c *digests) put(u int, k *kept) {
	if c.units == nil {
		c.units = map[int]*kept{}
	}
	if old := c.units[u]; old != nil {
		c.size -= old.bytes()
	}
	c.units[u], k.used = k, c.clock
	c.size += k.bytes()
	for c.size > maxDigests && len(c.units) > 1 {
		oldest := -1
		for u, k := range c.units {
			if oldest < 0 || k.used < c.units[oldest].used {
				oldest = u
			}
		}
		c.size -= c.units[oldest].bytes()
		delete(c.units, oldest)
	}
}

// symbolAt returns the symbol whose code is at an address of the file, or nil.
func (g *Image) symbolAt(addr uint64) *Symbol {
	if g.traits.Ordered && g.scans.Load() < maxScans {
		// The order of symbols in the file makes it a matter of some reads. The next
		// symbol begins after addr.
		g.scans.Add(1)
		var list []Symbol
		g.binary.SymbolsAt(addr, func(s Symbol) { list = append(list, s) })
		list = newSymbols(list, g.binary).all
		if len(list) > 0 && addr < max(g.binary.SymbolLimit(list[0].Addr), list[0].Addr+1) {
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

// named returns the symbols that start at addr. Few questions do not make it worth
// while to sort them all. At is where to look first.
func (g *Image) named(addr uint64, at *int) []Symbol {
	if g.scans.Load() >= maxScans {
		return g.symbols().named(addr, at)
	}
	g.scans.Add(1)
	var list []Symbol
	add := func(s Symbol) {
		if s.Addr == addr {
			list = append(list, s)
		}
	}
	if !g.binary.SymbolsAt(addr, add) {
		g.binary.EachSymbol(add)
	}
	return newSymbols(list, g.binary).all
}

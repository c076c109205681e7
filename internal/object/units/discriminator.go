package units

// Discriminator returns the number of the piece of code that an address is in,
// of several of one line.
func (g *Image) Discriminator(addr uint64) uint32 {
	units, ok := g.main.(*DWARF)
	if !ok || g.Parts != nil || g.Lifted || !g.in.Columns {
		return 0
	}
	addr += g.Bases[0]
	found := uint32(0)
	b := &g.branches
	b.mu.Lock()
	defer b.mu.Unlock()
	g.unitsAt(addr, func(u int) {
		if u >= units.NumUnits() || found != 0 {
			return
		}
		if b.unit != u+1 {
			w := workers.Get().(*Worker)
			units.readLines(w, u)
			b.lines, w.lines = w.lines, b.lines
			workers.Put(w)
			b.unit = u + 1
			b.cursor.reset(&b.lines)
		}
		if row := b.cursor.at(addr); row != nil {
			found = row.Branch
		}
	})
	return found
}

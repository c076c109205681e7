package object

import (
	"cmp"
	"fmt"

	"symbolon/internal/format/dwarf"
	"symbolon/internal/format/gopcln"
)

// digest is what one unit says about addresses, in chunks.
type digest struct {
	unit   int
	chunks []chunk
	code   []byte
	full   bool // lines that only a symbol has are in it
}

// Layers of a part of the address space: functions hide symbols with lines,
// and these hide those without.
const (
	layerFunc = iota
	layerLines
	layerSymbol
	layersOfPart
)

// worker is the memory of one goroutine that makes digests.
type worker struct {
	walker  dwarf.Walker
	program dwarf.Program
	lines   dwarf.Lines
	merger  merger
	body    gopcln.Body
	pdb     pdbWorker
	own     []dwarf.Range // of the functions of the unit
}

// add adds a chunk, whose addresses are still those of the file.
func (g *image) add(d *digest, start, end uint64, kind uint16, code *coder) {
	base, part, ok := g.place(start)
	if !ok {
		return
	}
	c := chunk{start: start - base, end: end - base, off: uint32(len(d.code)), unit: int32(d.unit), layer: part*layersOfPart + kind, lang: code.lang}
	if c.end <= c.start {
		return
	}
	d.code = code.finish(d.code)
	c.len = uint32(len(d.code)) - c.off
	d.chunks = append(d.chunks, c)
}

// digest makes what unit u says. With full also the lines of code that belongs
// to no function of the unit, but to a symbol.
func (g *image) digest(w *worker, d *digest, u int, full bool) {
	*d = digest{unit: u, chunks: d.chunks[:0], code: d.code[:0], full: full}
	if in, n := g.guestOf(u); in != nil {
		in.digest(w, d, g, n)
		return
	}
	if g.pdb != nil {
		g.pdbDigest(w, d, u)
		return
	}
	if u >= g.ownUnits() {
		g.goDigest(w, d, u-g.ownUnits())
		return
	}
	unit := g.dwarf.Unit(u)
	g.readLines(w, u)
	if !hasCode(unit) {
		return
	}
	limit := limitOf(unit)
	m := &w.merger
	m.image, m.columns, m.version = g, g.in.Columns, unit.Version
	m.lines.reset(&w.lines)
	tree, err := w.walker.Walk(g.dwarf, u)
	if err != nil {
		g.found.Add("damaged units", fmt.Sprintf("unit at %#x: %v", unit.Off, err))
	}
	if tree != nil {
		for i := range tree.Funcs {
			m.function(d, tree, &tree.Funcs[i], limit)
		}
	}
	if full {
		g.addLines(w, d, limit)
	}
}

// maxSharers is how many units with code may have one line program. Producers
// write one for each; a file in which all units name the same large one would
// take forever.
const maxSharers = 16

// findSharers finds the units that do not get their line program.
func (g *image) findSharers(units []dwarf.Unit) {
	sharers, lineless := map[uint64]int{}, map[int]bool{}
	for i := range units {
		u := &units[i]
		if !u.HasLines || !hasCode(u) {
			continue
		}
		if sharers[u.LineOff]++; sharers[u.LineOff] > maxSharers {
			lineless[i] = true
			g.found.At("line programs of too many units", ".debug_line", int64(u.LineOff), "it is the program of more than 16 units")
		}
	}
	g.lineless.Store(&lineless)
}

// readLines runs the line program of a unit.
func (g *image) readLines(w *worker, u int) {
	unit := g.dwarf.Unit(u)
	w.lines.Reset()
	w.merger.noZero, w.merger.noFiles = unit.Version < 5, !unit.HasLines
	if !unit.HasLines {
		return
	}
	if lineless := g.lineless.Load(); lineless != nil && (*lineless)[u] {
		return
	}
	err := w.program.Read(&g.lineSections, unit.LineOff)
	w.merger.noZero = w.program.Version < 5
	ran := w.program.Run(&w.lines, dwarf.RunOptions{Columns: g.in.Columns, Relocatable: g.relocatable})
	if err = cmp.Or(err, ran); err != nil {
		g.found.Add("damaged line programs", err.Error())
	}
}

// addLines adds what the line program says about code outside of functions, as
// far as a symbol has it.
func (g *image) addLines(w *worker, d *digest, limit []dwarf.Range) {
	if len(w.lines.Sequences) == 0 || len(g.symbols().tops) == 0 {
		return
	}
	own := w.own[:0]
	for _, c := range d.chunks {
		base := g.bases[c.layer/layersOfPart]
		own = append(own, dwarf.Range{Start: c.start + base, End: c.end + base})
	}
	own = joinRanges(own)
	w.own = own
	i, done := 0, uint64(0) // of sequences that overlap the later one has the rest
	for _, s := range w.lines.Sequences {
		from := max(s.Start, done)
		done = max(done, s.End)
		for pos := from; pos < s.End; {
			for i < len(own) && own[i].End <= pos {
				i++
			}
			if i > 0 && own[i-1].End > pos {
				i = max(0, rangeAt(own, pos))
			}
			if i < len(own) && own[i].Start <= pos {
				pos = own[i].End
				continue
			}
			until := s.End
			if i < len(own) {
				until = min(until, own[i].Start)
			}
			g.addArea(w, d, dwarf.Range{Start: pos, End: until}, limit)
			pos = until
		}
	}
}

// addArea adds the lines of an area without functions.
func (g *image) addArea(w *worker, d *digest, area dwarf.Range, limit []dwarf.Range) {
	syms := g.symbols()
	for pos := area.Start; pos < area.End; {
		top, until := syms.at(pos)
		until = min(until, area.End)
		if len(limit) > 0 {
			i := rangeAt(limit, pos)
			if i < 0 || limit[i].End <= pos {
				top = nil
				if i+1 == len(limit) {
					return
				}
				until = limit[i+1].Start
			} else {
				until = min(until, limit[i].End)
			}
		}
		if _, part, ok := g.place(pos); ok {
			until = min(until, g.cut(until, part))
		}
		if top != nil && g.together(top.addr, pos) {
			w.merger.symbol(&syms.all[top.index], pos, until)
			g.add(d, pos, until, layerLines, &w.merger.code)
		}
		pos = until
	}
}

package units

import "symbolon/internal/format/dwarf"

// addLines adds the lines of code outside of functions, as far as a symbol contains it.
func (u *DWARF) addLines(w *Worker, d *Digest, limit []dwarf.Range) {
	if len(w.lines.Sequences) == 0 || len(u.image.symbols().tops) == 0 {
		return
	}
	own := w.own[:0]
	for _, c := range d.chunks {
		base := u.image.Bases[c.layer/layersOfPart]
		own = append(own, dwarf.Range{Start: c.start + base, End: c.end + base})
	}
	own = JoinRanges(own)
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
			u.addArea(w, d, dwarf.Range{Start: pos, End: until}, limit)
			pos = until
		}
	}
}

// addArea adds the lines of an area without functions.
func (u *DWARF) addArea(w *Worker, d *Digest, area dwarf.Range, limit []dwarf.Range) {
	syms := u.image.symbols()
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
		if _, part, ok := u.image.Place(pos); ok {
			until = min(until, u.image.cut(until, part))
		}
		if top != nil && u.image.together(top.addr, pos) {
			w.merger.symbol(&syms.all[top.index], pos, until)
			d.add(&u.image.Layout, dwarf.Range{Start: pos, End: until}, layerLines, &w.merger.code)
		}
		pos = until
	}
}

package oracle

import "slices"

// rowAt is the last row that holds a place or, if none does, the next one.
func rowAt(rows []row, addr uint64) (found row, holds bool) {
	for _, r := range slices.Backward(rows) {
		if r.start <= addr && addr < r.end {
			return r, true
		}
		if r.start > addr {
			found = r
		}
	}
	return found, false
}

// frames is what a call gives for a place, innermost first.
func (s *scope) frames(addr uint64) (a answer) {
	for _, c := range slices.Backward(s.calls) {
		if a = c.frames(addr); len(a) > 0 {
			break
		}
	}
	own, holds := rowAt(s.rows, addr)
	if len(a) == 0 && !holds && s.inlinee != "" {
		return nil
	}
	return append(a, frame{s.name, own.file, own.line})
}

// owner is the module that contributed what is at a place.
func (d *dump) owner(addr uint64) (part, bool) {
	for _, p := range d.parts {
		if p.start <= addr && addr < p.end {
			return p, true
		}
	}
	return part{}, false
}

// answer is what the dump says of a place: the procedure of the module that
// contributed it, the last one that has lines if there are several, or the public
// symbol before it.
func (d *dump) answer(addr uint64) answer {
	owner, ok := d.owner(addr)
	if !ok {
		return nil
	}
	var best *scope
	var name string
	at := owner.start
	for _, p := range d.procs {
		if p.end <= addr {
			at = max(at, p.end) // a public symbol before that was of a procedure
		}
		if p.start <= addr && addr < p.end && p.module == owner.module && (best == nil || len(p.rows) > 0) {
			best = p
		}
	}
	if best != nil {
		return best.frames(addr).tidy()
	}
	for _, p := range d.publics {
		if p.addr >= at && p.addr <= addr {
			name, at = p.name, p.addr
		}
	}
	return answer{{Function: name}}.tidy()
}

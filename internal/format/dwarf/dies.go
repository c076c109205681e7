package dwarf

// run walks over the DIEs of the unit.
//
// A unit is a tree in preorder: a DIE is the code of its abbreviation and its
// attributes, and the children of a DIE end with code 0. Most DIEs are types
// and variables, which are only skipped, so run is written for them: they cost
// the look-up of the entry and one addition. It is one loop without recursion,
// as the nesting of DIEs is not limited.
//
// Invariants at the start of an iteration:
//   - p is the offset of a DIE or of a code 0.
//   - depth is the number of DIEs whose children are open.
//   - top is the depth of the innermost frame, or -1. Only a DIE that changes
//     the state (a function, call or scope) has a frame; at the end of its
//     children, where depth equals top, leave restores the state before it.
//
// The walk ends where depth returns to 0.
func (w *Walker) run() {
	b, p := w.b, int(w.u.Off)+int(w.u.dies)
	start, depth, top, skips := p, 0, -1, w.skips()
	entries, first := w.t.entries, w.t.first // local copies, which stay in registers
	for p < len(b) {
		start = p
		c := uint64(b[p])
		p++
		if c == 0 {
			if depth == top {
				top = w.leave(p)
			}
			if depth--; depth <= 0 {
				break
			}
			continue
		}
		if c >= 0x80 { // few units have more than 127 abbreviations
			if c, p = uleb(b, start); p < 0 {
				w.damage(start, "truncated abbreviation code")
				break
			}
		}
		var e *entry
		if i := c - first; i < uint64(len(entries)) {
			e = &entries[i]
		} else if e = w.t.find(c); e == nil {
			w.damage(start, "unknown abbreviation code")
			break
		}
		if e.flags&^hasChildren == 0 { // most DIEs: their size is fixed
			p += int(e.size)
			depth += int(e.flags & hasChildren)
			continue
		}
		var sibling uint64 // of the DIE, if its children can be skipped
		switch {
		case e.flags&(isDamaged|isCode) != 0:
			p = w.readCode(e, start, p)
		case e.flags&hasSteps != 0:
			p, sibling = w.pass(p, e)
		default:
			if e.flags&skips != 0 {
				sibling = w.sibling(p+int(e.sib), e.sibForm)
			}
			p += int(e.size)
		}
		if p < 0 || p > len(b) {
			break
		}
		if len(w.frames) == maxFrames || len(w.tree.Funcs) == maxParts || len(w.tree.Calls) == maxParts {
			w.damage(start, "too many functions, calls, or nested DIEs")
			break
		}
		// take has opened a frame, and only run has its depth.
		if e.flags&isCode != 0 && w.take(e, start) && e.flags&hasChildren != 0 {
			depth++
			w.frames[len(w.frames)-1].depth = depth
			top = depth
			continue
		}
		if e.flags&hasChildren == 0 {
			if depth == 0 {
				break
			}
			continue
		}
		// A sibling before p would be a loop; children of an invalid one are read.
		if e.flags&skips != 0 && sibling > uint64(p) && sibling <= uint64(len(b)) {
			p = int(sibling)
			continue
		}
		depth++
		if e.kind >= kindSubprogram {
			w.enter(e, start, depth)
			top = depth
		}
	}
	w.finish(start, p)
}

// finish closes the frames that the end of the unit, or damage, left open. The
// last DIE is at start, and p is the offset after it, or -1 after damage.
func (w *Walker) finish(start, p int) {
	if p < 0 || p > len(w.b) {
		w.damage(start, "DIE exceeds the unit")
	}
	for len(w.frames) > 0 {
		w.leave(min(max(p, start), len(w.b)))
	}
}

// readCode reads the attributes at p of the function or call at start, whose
// entry may be damaged. It returns the offset after them, -1 after damage.
func (w *Walker) readCode(e *entry, start, p int) int {
	if e.flags&isDamaged != 0 {
		w.damage(start, "DIE has an attribute of unknown form")
		return -1
	}
	caps := w.t.caps[e.capture : int(e.capture)+int(e.caps)]
	return w.read(&attributes{r: w.view.d.reader, l: w.u.l, b: w.b, p: p, caps: caps})
}

// sibling returns the offset that DW_AT_sibling at p refers to, 0 if it is
// invalid.
func (w *Walker) sibling(p int, form uint8) uint64 {
	v, p := w.view.d.value(w.b, p, form, w.u.l)
	if p < 0 || v > uint64(len(w.b)) {
		return 0
	}
	return w.u.Off + v
}

// pass skips the attributes of a DIE. It returns the offset after them, -1 if
// they are truncated, and that of its sibling. The frequent forms of variable
// size are decoded in place, since this is the hot path for types and
// variables.
//
// The steps of e are its attributes of variable size and DW_AT_sibling, each
// with the number of bytes of fixed size before it. The last step has formNone
// and the bytes after them. So p may exceed b only at the end, which run checks.
func (w *Walker) pass(p int, e *entry) (int, uint64) {
	b, sibling := w.b, uint64(0)
	steps := w.t.steps[e.step : int(e.step)+int(e.steps)]
	for i := range steps {
		s := &steps[i]
		if s.form == formNone {
			return p + int(s.before), sibling
		}
		if p += int(s.before); p >= len(b) {
			return -1, 0
		}
		switch {
		case s.form == formExprloc && b[p] < 0x80 || s.form == formBlock1:
			p += 1 + int(b[p])
		case s.form == formUdata || s.form == formSdata:
			for b[p] >= 0x80 {
				if p++; p == len(b) {
					return -1, 0
				}
			}
			p++
		case s.form == formString:
			for b[p] != 0 {
				if p++; p == len(b) {
					return -1, 0
				}
			}
			p++
		default:
			if s.slot == slotSibling {
				sibling = w.sibling(p, s.form)
			}
			if p = w.view.d.skipForm(b, p, s.form, w.u.l); p < 0 {
				return -1, 0
			}
		}
	}
	return -1, 0
}

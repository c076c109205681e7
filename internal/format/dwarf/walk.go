package dwarf

import "symbolon/internal/fault"

// Tree has the functions of a unit, with the calls that were inlined into them.
type Tree struct {
	Funcs  []Func
	Calls  []Call
	Ranges []Range
}

// Func is a function with code. Its ranges and calls are slices of those of its
// Tree; the ranges are in the order of the file.
type Func struct {
	Name            Name
	Die             uint64 // offset in its section
	Entry           uint64
	First, N        int32 // ranges
	Calls, NumCalls int32
	Lang            uint16
}

// NoFile is the File of a Call without DW_AT_call_file.
const NoFile = ^uint32(0)

// Call is an inlined call. File, Line and Column are the position of the call;
// a Line or Column of 0 is unknown. File is a number of the line program, where
// 0 is valid from DWARF 5 on.
type Call struct {
	Name               Name
	Parent             int32 // index of an earlier call of the function; -1: the function
	First, N           int32 // ranges; none: those of its calls
	File, Line, Column uint32
	Lang               uint16
}

const (
	maxNest   = 256     // limit of nested calls; deeper ones are ignored, but not their calls
	maxFrames = 1 << 16 // limit of nested DIEs with frames
	maxParts  = 1 << 22 // limit of functions of a unit, and of calls
)

// A Walker reads units. It reuses its memory for the next one, and belongs to
// one goroutine.
type Walker struct {
	view
	resolver
	own    table
	tree   Tree
	names  names
	calls  []Call  // calls of nested functions, until the outermost one ends
	inner  []int32 // indexes of those functions
	frames []frame
	scopes []scope
	now    state
	scoped []Name // names that need scopes of the unit
	text   []byte

	captured
	reason string
	at     int
}

// state is the position of the walk in the tree.
type state struct {
	fn    int32 // function, or -1
	open  int32 // number of enclosing functions with code
	first int32 // its first call; its calls are the last ones of the tree
	call  int32 // index of the current call in it, or -1
	nest  int32 // number of enclosing calls
	scope int32 // innermost scope, or -1
	deep  int32 // number of enclosing scopes
	local bool  // in a function inside scope
}

// frame restores the state at the end of the children of a DIE that changed it.
type frame struct {
	depth  int   // of the children
	kind   uint8 // kindFunc: it has functions and calls; kindScope; or neither
	before state
}

// Walk reads the unit with this index, or the unit attached to it if it is a
// skeleton. The Tree is valid until the next Walk. With an error it has the
// parts before the damage.
func (w *Walker) Walk(d *Data, unit int) (*Tree, error) {
	u := d.Unit(unit)
	if u.split != nil {
		w.begin(u.split, u.splitUnit, d, u)
	} else {
		w.begin(d, unit, d, u)
	}
	w.run()
	w.spell()
	if w.reason == "" && w.exceeded {
		w.reason = "range lists exceed their limit"
	}
	if w.reason != "" {
		return &w.tree, fault.New(fault.Malformed, "dwarf, "+infoName(w.u.typed),
			"unit at offset %#x: at offset %#x: %s", w.u.Off, w.at, w.reason)
	}
	return &w.tree, nil
}

// begin prepares w for a unit of d whose addresses are those of skel.
func (w *Walker) begin(d *Data, unit int, main *Data, skel *Unit) {
	u := d.Unit(unit)
	w.view = d.view(u)
	w.main, w.skel = main, skel
	lists := len(main.s.Ranges) + len(d.s.Rnglists)
	// Many DIEs may share a range list: the bytes read are limited in
	// proportion to the unit and to the sections, so that the work stays
	// linear.
	w.budget = min(4<<10+64*int(u.End-u.Off), 64<<10+2*lists)
	s := &d.tables[u.table]
	t := &w.own
	if s.users > 1 || d.compiled[u.table].Load() != nil {
		t = d.table(u)
	} else {
		t.compile(d.s.Abbrev[s.off:s.end], s.l)
	}
	w.resolver = resolver{d: d, unit: unit, t: t, work: 1<<16 + 16*int(u.End-u.Off)}
	if w.names.round++; w.names.round == 0 {
		w.names = names{round: 1}
	}
	w.tree.Funcs, w.tree.Calls, w.tree.Ranges = w.tree.Funcs[:0], w.tree.Calls[:0], w.tree.Ranges[:0]
	w.calls, w.inner, w.frames, w.scopes = w.calls[:0], w.inner[:0], w.frames[:0], w.scopes[:0]
	w.now = state{fn: -1, call: -1, scope: -1}
	w.scoped, w.reason, w.at = w.scoped[:0], "", 0
}

// skips returns the flags of DIEs that can be skipped together with their
// children.
func (w *Walker) skips() uint8 {
	lang := w.u.Lang
	if lang == 0 {
		lang = w.skel.Lang
	}
	switch FamilyOf(lang) {
	case FamilyC:
		return flagsC
	case FamilyCpp:
		return flagsCpp
	}
	return skipAlways
}

// run walks over the DIEs of the unit.
//
// depth is the number of open DIEs with children, and top that of the innermost
// frame: only a DIE that changes the state (a function, call or scope) has a
// frame, and at the end of its children leave restores the state before it.
func (w *Walker) run() {
	b, p := w.b, int(w.u.Off)+int(w.u.dies)
	start, depth, top, skips := p, 0, -1, w.skips()
	entries, first := w.t.entries, w.t.first
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
		if c >= 0x80 {
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
		var sibling uint64
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

// damage records the first damage.
func (w *Walker) damage(at int, reason string) {
	if w.reason == "" {
		w.at, w.reason = at, reason
	}
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

// take stores the function or call whose attributes were captured. It reports
// whether the DIE is accepted; then a frame is open if it has children.
func (w *Walker) take(e *entry, die int) bool {
	if e.kind == kindInline && (w.now.fn < 0 || w.now.nest >= maxNest) {
		return false
	}
	first := len(w.tree.Ranges)
	switch {
	case w.form[slotRanges] != formNone:
		w.tree.Ranges = w.list(w.tree.Ranges, w.form[slotRanges], w.value[slotRanges])
	case w.form[slotLow] != formNone && w.form[slotHigh] != formNone:
		w.tree.Ranges = w.pair(w.tree.Ranges, w.form[slotLow], w.value[slotLow], w.form[slotHigh], w.value[slotHigh])
	}
	n := int32(len(w.tree.Ranges) - first)
	if e.kind == kindInline {
		if n == 0 && !w.hollow(e) {
			return false
		}
		name, lang := w.nameOf(die)
		w.tree.Calls = append(w.tree.Calls, Call{
			Parent: w.now.call, Name: name, Lang: lang, First: int32(first), N: n,
			File: w.callFile(), Line: w.count(slotLine), Column: w.count(slotColumn),
		})
		if e.flags&hasChildren != 0 {
			w.frames = append(w.frames, frame{before: w.now})
			w.now.call = int32(len(w.tree.Calls)) - 1 - w.now.first
			w.now.nest++
		}
		return true
	}
	fn := int32(-1)
	if n > 0 {
		fn = int32(len(w.tree.Funcs))
		name, lang := w.nameOf(die)
		w.tree.Funcs = append(w.tree.Funcs, Func{
			Die: uint64(die), Name: name, First: int32(first), N: n, Lang: lang,
			Entry: w.entry(w.tree.Ranges[first].Start),
		})
	}
	if e.flags&hasChildren != 0 {
		w.frames = append(w.frames, frame{kind: kindFunc, before: w.now})
		w.now.fn, w.now.first, w.now.call, w.now.nest, w.now.local = fn, int32(len(w.tree.Calls)), -1, 0, true
		if fn >= 0 {
			w.now.open++
		}
	}
	return true
}

// hollow reports whether a call has no attributes for its ranges, as strict
// DWARF 2 cannot express several ranges. Its ranges are those of its calls.
func (w *Walker) hollow(e *entry) bool {
	return w.now.fn >= 0 && e.flags&hasChildren != 0 && w.form[slotLow] == formNone && w.form[slotRanges] == formNone
}

// callFile returns the file of the captured call. In DWARF 5 number 0 is a
// file, and may be given without a line, for example in thunks, whose line is
// unknown.
func (w *Walker) callFile() uint32 {
	if w.form[slotFile] == formNone && w.count(slotLine) == 0 {
		return NoFile
	}
	return w.count(slotFile)
}

// count returns a captured number of at most 32 bits, 0 for other values.
func (w *Walker) count(slot int) uint32 {
	switch w.form[slot] {
	case formData1, formData2, formData4, formData8, formUdata, formSdata, formImplicit:
		if v := w.value[slot]; v < 1<<32 {
			return uint32(v)
		}
	}
	return 0
}

// entry returns the entry address of the captured function.
func (w *Walker) entry(start uint64) uint64 {
	form, value := w.form[slotEntry], w.value[slotEntry]
	switch {
	case form == formNone:
	case isAddr(form):
		if a, ok := w.addrValue(form, value); ok {
			return a
		}
	case value < w.mask()-start:
		return start + value
	}
	return start
}

// enter opens a frame for a DIE that is a scope or a function without code.
func (w *Walker) enter(e *entry, die, depth int) {
	f := frame{depth: depth, before: w.now}
	if e.kind == kindSubprogram {
		w.now.fn, w.now.call, w.now.nest, w.now.local = -1, -1, 0, true
	} else if w.now.deep < maxScopes {
		f.kind = kindScope
		w.scopes = append(w.scopes, scope{start: uint32(uint64(die) - w.u.Off), parent: w.now.scope, local: w.now.local})
		w.now.scope, w.now.deep, w.now.local = int32(len(w.scopes))-1, w.now.deep+1, false
	}
	w.frames = append(w.frames, f)
}

// leave closes the top frame, whose children end at p, and returns the depth of
// the frame below it, or -1.
func (w *Walker) leave(p int) int {
	last := len(w.frames) - 1
	f := &w.frames[last]
	switch {
	case f.kind == kindScope:
		w.scopes[w.now.scope].end = uint32(uint64(p) - w.u.Off)
	case f.kind == kindFunc && w.now.fn >= 0:
		w.closeFunc(f.before.open > 0)
	}
	w.now = f.before
	w.frames = w.frames[:last]
	if last == 0 {
		return -1
	}
	return w.frames[last-1].depth
}

// closeFunc ends the current function. The calls of a nested function are set
// aside until the outermost one is complete, so that the calls of each function
// are contiguous in the tree.
func (w *Walker) closeFunc(inner bool) {
	fn, calls := &w.tree.Funcs[w.now.fn], w.tree.Calls[w.now.first:]
	fn.Calls, fn.NumCalls = w.now.first, int32(len(calls))
	if inner {
		fn.Calls = int32(len(w.calls))
		w.calls = append(w.calls, calls...)
		w.inner = append(w.inner, w.now.fn)
		w.tree.Calls = w.tree.Calls[:w.now.first]
		return
	}
	for _, i := range w.inner {
		w.tree.Funcs[i].Calls += int32(len(w.tree.Calls))
	}
	w.tree.Calls = append(w.tree.Calls, w.calls...)
	w.calls, w.inner = w.calls[:0], w.inner[:0]
}

// nameOf returns the Name and language of the captured function or call: the
// linkage name, else the name at the end of the chain of references, else its
// own name.
func (w *Walker) nameOf(die int) (Name, uint16) {
	d, u := w.view.d, w.u
	if f := w.form[slotLinkage]; f != formNone {
		if n := d.linkageName(u, f, w.value[slotLinkage]); n != 0 {
			return n, w.lang(0)
		}
	}
	here := place{d, w.resolver.unit, uint64(die)}
	slot := slotOrigin
	if w.form[slot] == formNone {
		slot = slotSpec
	}
	var s *nameSlot
	if to, ok := here.refer(w.attribute(slot)); ok {
		var known bool
		if s, known = w.names.slot(to.name()); !known {
			o := w.chain(to)
			s.name, s.lang = o.final(), o.lang
		}
	}
	n, lang := Name(0), uint16(0)
	if s != nil {
		n, lang = s.name, s.lang
	}
	if f := w.form[slotName]; f != formNone && n == 0 {
		if n = d.stringName(u, f, w.value[slotName]); n != 0 && isScoped(w.lang(lang)) {
			n = here.name()
		}
	}
	if k := n.kind(); (k == nameDie || k == nameTypeDie) && n == (place{d, w.resolver.unit, n.off()}).name() && n.off()-u.Off < u.End-u.Off {
		w.scoped = append(w.scoped, n)
	}
	return n, w.lang(lang)
}

// lang returns the language of the DIE that has the name, or that of the unit.
func (w *Walker) lang(l uint16) uint16 {
	if l == 0 {
		l = w.u.Lang
	}
	if l == 0 {
		l = w.skel.Lang
	}
	return l
}

package dwarf

// take stores the function or call whose attributes were captured. It reports
// whether the DIE is accepted; then a frame is open if it has children.
//
// A call is accepted in a function with code, if it has code itself. The
// children of a rejected call are walked with the state outside of it, so that
// their calls become calls of its parent. A function without ranges is accepted
// as well: its frame has no function, so that the calls in it are rejected.
func (w *Walker) take(e *entry, die int) bool {
	if e.kind == kindInline && (w.now.fn < 0 || w.now.nest >= maxNest) {
		return false
	}
	first := len(w.tree.Ranges)
	switch {
	case w.form[slotRanges] != formNone:
		if w.tree.Ranges = w.list(w.tree.Ranges, w.form[slotRanges], w.value[slotRanges]); w.broken {
			w.damage(die, "DIE has a damaged range list")
		}
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
	// Many calls refer to one abstract instance: the results of chains are cached.
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
	// A name in this unit is formatted by spell, while its scopes are known.
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

// closeFunc ends the current function. The calls of a nested function are moved
// to w.calls until the outermost one is complete, so that the calls of each
// function are contiguous in the tree: those of the outermost one first, then
// those of the nested ones, in the order in which they ended. Until then Calls
// of a nested function is an index in w.calls; inner lists those functions.
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

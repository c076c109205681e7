package firefox

import (
	"cmp"
	"slices"

	"symbolon/internal/fault"
)

// fileRows are the files of native code in the table of sources, which all
// scopes share since version 58.
type fileRows struct {
	table                  *table
	filename, line, column *column
	rows                   map[int64]int32 // by the index of the name
}

func (n *fileRows) open() error {
	if n.rows != nil {
		return nil
	}
	if n.table == nil {
		return fault.New(fault.Malformed, "Firefox profile", "funcTable has sources, and shared has none")
	}
	n.rows = map[int64]int32{}
	r := reading{}
	n.filename = r.require(n.table, "filename")
	id := r.column(n.table, "id")
	if id == nil {
		id = r.column(n.table, "uuid") // before version 61
	}
	n.line, n.column = r.column(n.table, "startLine"), r.column(n.table, "startColumn")
	if r.err != nil {
		return r.err
	}
	for row, name := range n.filename.cells {
		if _, ok := n.rows[int64(name)]; !ok && (id == nil || id.cells[row] == null) {
			n.rows[int64(name)] = int32(row)
		}
	}
	return nil
}

// row returns the row of a file, which is added if there is none.
func (n *fileRows) row(name int64) int64 {
	row, ok := n.rows[name]
	if !ok {
		row = n.table.add(-1)
		n.filename.set(row, name)
		n.line.set(row, 1)
		n.column.set(row, 1)
		n.rows[name] = row
	}
	return int64(row)
}

// A functionKey identifies a function in a scope.
type functionKey struct{ lib, name, file int64 }

// A symbolKey identifies a native symbol in a scope.
type symbolKey struct{ lib, address int64 }

// An applier applies the answers to the frames of a scope.
type applier struct {
	*scope
	lookup       *lookup
	functionRows map[functionKey]int32
	symbolRows   map[symbolKey]int32
	owner        []int32 // of each function in the document: the library whose frames alone use it, noOwner or shared
	spare        []int32 // functions of the present library that are to be used again
	native       struct{ lib, address, name, size *column }
}

// noOwner is the owner of a function that no frame uses, and shared that of one
// that frames without an answer or of several libraries use.
const (
	noOwner = -1
	shared  = -2
)

// apply changes the frames in list, which belong to s and are in the order of
// their libraries and addresses.
func (s *scope) apply(l *lookup, list []want, force bool) error {
	s.mark(l, list, force)
	a := applier{scope: s, lookup: l, functionRows: map[functionKey]int32{}, symbolRows: map[symbolKey]int32{}}
	if err := a.open(); err != nil {
		return err
	}
	s.strings.find(&l.texts)
	s.chainAt = make([]int32, s.frames.rows)
	s.chains = append(s.chains, 0)
	a.findOwners()
	a.keepFunctions()
	for row := range int32(len(a.native.lib.cells)) {
		a.symbolRows[symbolKey{a.native.lib.get(row), a.native.address.get(row)}] = row
	}
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n].lib == list[0].lib {
			n++
		}
		a.applyLibrary(list[:n])
		list = list[n:]
	}
	return nil
}

// mark notes the answer of each frame. Inlined calls at addresses with an answer
// are omitted if names are replaced.
func (s *scope) mark(l *lookup, list []want, force bool) {
	s.answerOf = slices.Repeat([]int32{unchanged}, int(s.frames.rows))
	for _, w := range list {
		s.answerOf[w.frame] = w.answer
	}
	if !force {
		return
	}
	for frame := range int32(s.frames.rows) {
		if s.depth.get(frame) <= 0 {
			continue
		}
		lib, address := s.library(frame), s.address.get(frame)
		i, ok := slices.BinarySearchFunc(list, address, func(w want, address int64) int {
			return cmp.Or(cmp.Compare(w.lib, lib), cmp.Compare(w.address, address))
		})
		if ok && list[i].answer >= 0 {
			s.answerOf[frame] = omitted
		}
	}
}

func (a *applier) open() error {
	r := reading{}
	if a.source = r.column(a.funcs, "source"); a.source == nil {
		a.source, a.files = r.require(a.funcs, "fileName"), nil
	} else if r.err == nil {
		r.err = a.files.open()
	}
	t := a.symbols
	a.native.lib, a.native.address = r.require(t, "libIndex"), r.require(t, "address")
	a.native.name, a.native.size = r.require(t, "name"), r.column(t, "functionSize")
	for _, c := range slices.Concat(a.frames.columns, a.funcs.columns) {
		c.isBlank = c.name == "originalLocation" || c.name == "lineNumber" || c.name == "columnNumber"
	}
	return r.err
}

func (a *applier) findOwners() {
	a.owner = slices.Repeat([]int32{noOwner}, int(a.funcs.rows))
	for frame := range int32(a.frames.rows) {
		f := a.function.index(frame)
		if f < 0 || int(f) >= len(a.owner) {
			continue
		}
		owner := int32(shared)
		if a.answerOf[frame] != unchanged {
			owner = a.library(frame)
		}
		if a.owner[f] != noOwner && a.owner[f] != owner {
			owner = shared
		}
		a.owner[f] = owner
	}
}

// keepFunctions makes functions that have names known, so that frames which get
// the same names use them.
func (a *applier) keepFunctions() {
	seen := make([]bool, len(a.owner))
	for frame := range int32(a.frames.rows) {
		f, lib := a.function.index(frame), a.library(frame)
		if f < 0 || int(f) >= len(a.owner) || lib < 0 || a.owner[f] != shared || seen[f] || a.answerOf[frame] != unchanged {
			continue
		}
		seen[f] = true
		name := a.name.get(f)
		if name < 0 || a.strings.isUnnamed(name) {
			continue
		}
		file := a.source.get(f)
		if a.files != nil {
			file = a.files.filename.get(a.source.index(f))
		}
		if key := (functionKey{int64(lib), name, file}); !has(a.functionRows, key) {
			a.functionRows[key] = f
		}
	}
}

func has(m map[functionKey]int32, key functionKey) bool { _, ok := m[key]; return ok }

// applyLibrary changes the frames of a library.
func (a *applier) applyLibrary(list []want) {
	a.spare = a.spare[:0]
	for _, w := range list {
		f := a.function.index(w.frame)
		if w.answer >= 0 && f >= 0 && a.owner[f] == w.lib {
			a.spare = append(a.spare, f)
			a.owner[f] = shared
		}
	}
	for _, w := range list {
		if w.answer >= 0 {
			answer := a.lookup.answers[w.answer]
			a.applyFrame(w, answer, a.lookup.levels[answer.first:answer.first+answer.n])
		}
	}
}

// applyFrame gives a frame the outermost function, and appends a frame for each
// inlined call.
func (a *applier) applyFrame(w want, answer answer, levels []level) {
	old := a.function.index(w.frame)
	n := len(levels)
	symbol := a.nativeSymbol(w, answer, levels[n-1].name)
	if n > 1 {
		a.chainAt[w.frame] = int32(len(a.chains))
		a.chains = append(a.chains, int32(n))
	}
	for depth := range n {
		level := levels[n-1-depth]
		f := a.functionOf(w, old, level)
		frame := w.frame
		if depth > 0 {
			frame = a.frames.add(w.frame)
		}
		a.depth.set(frame, int64(depth))
		a.function.set(frame, int64(f))
		a.symbol.set(frame, int64(symbol))
		a.line.set(frame, null)
		if level.line > 0 {
			a.line.set(frame, int64(level.line))
		}
		a.col.set(frame, null)
		if n > 1 {
			a.chains = append(a.chains, frame)
		}
	}
}

// nativeSymbol returns the row of the function that w is in, inlined calls aside.
func (a *applier) nativeSymbol(w want, answer answer, name int32) int32 {
	key := symbolKey{int64(w.lib), int64(answer.entry)}
	row, ok := a.symbolRows[key]
	if !ok {
		row = a.symbols.add(-1)
		a.symbolRows[key] = row
		a.native.lib.set(row, key.lib)
		a.native.address.set(row, key.address)
	}
	a.native.name.set(row, a.strings.index(name))
	size := int64(null)
	if answer.size > 0 {
		size = int64(answer.size)
	}
	a.native.size.set(row, size)
	return row
}

// functionOf returns the row of a function, which may be one that is not used
// any more.
func (a *applier) functionOf(w want, old int32, l level) int32 {
	key := functionKey{int64(w.lib), a.strings.index(l.name), -1}
	if l.file != noText {
		key.file = a.strings.index(l.file)
	}
	row, ok := a.functionRows[key]
	if ok {
		return row
	}
	if len(a.spare) > 0 {
		row = a.spare[0]
		a.spare = a.spare[1:]
	} else {
		row = a.funcs.add(old)
	}
	a.functionRows[key] = row
	a.name.set(row, key.name)
	source := int64(null)
	if l.file != noText {
		if source = key.file; a.files != nil {
			source = a.files.row(key.file)
		}
	}
	a.source.set(row, source)
	return row
}

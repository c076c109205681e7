package symwrite

import (
	"bytes"
	"cmp"
	"math"
	"slices"

	"symbolon/internal/format/breakpad"
	"symbolon/internal/sym"
)

// Limits of readers.
const (
	maxRun    = 2 << 20 // approximate bytes of a FUNC with its records; readers accept 4 MiB
	maxChain  = 256     // depth of INLINE records
	maxPieces = 1000    // ranges of an INLINE record: its line must not be too long
)

// A run is a contiguous piece of code of one function, which becomes a FUNC
// record. The row after it ends it.
type run struct {
	isOpen bool
	root   int32
	node   sym.Node // root
	fn     breakpad.Func
	name   []byte
	cost   int      // approximate bytes of its records
	last   struct { // row that was written
		node int32
		file uint64
		line uint32
	}
	open      []openCall // calls of the last row, outermost first
	chain     []int32    // nodes of the current row, outermost first
	pieces    []piece
	record    []int32 // by node: index of its INLINE record plus one
	isPending bool    // the run is a PUBLIC if no row follows, else a FUNC
}

// An openCall is an inlined call whose current range is not complete.
type openCall struct {
	node   int32
	record int32
	start  uint64
}

// A piece is a range of an INLINE record.
type piece struct {
	record int32
	breakpad.Range
}

// A writer appends the records of functions to buf.
type writer struct {
	texts
	buf []byte
	run run
}

// block appends the records of a block.
func (s *writer) block(b *sym.Block) {
	s.emptyFunctions(b)
	r := &s.run
	for i := range b.Rows {
		row := &b.Rows[i]
		root := rootOf(b, row.Node)
		switch {
		case !r.isOpen || i > 0 && root == r.root && r.cost <= maxRun:
		case s.isRest(b, root):
			r.resume(b, root, row.Addr)
		default:
			s.end(row.Addr, root < 0)
		}
		if root < 0 {
			continue
		}
		if !r.isOpen {
			s.begin(b, root, row.Addr)
		}
		s.row(b, row)
	}
}

// emptyFunctions appends the functions without rows: those without size.
func (s *writer) emptyFunctions(b *sym.Block) {
	used := make([]bool, len(b.Nodes))
	for i := range b.Rows {
		if root := rootOf(b, b.Rows[i].Node); root >= 0 {
			used[root] = true
		}
	}
	for i := range b.Nodes {
		if n := &b.Nodes[i]; n.Parent < 0 && !used[i] {
			s.buf = breakpad.AppendFunc(s.buf, &breakpad.Func{Addr: n.Entry}, s.name(n.Name))
		}
	}
}

// rootOf returns the function of a node, sym.Hole for that of a hole.
func rootOf(b *sym.Block, node int32) int32 {
	for node >= 0 && b.Nodes[node].Parent >= 0 {
		node = b.Nodes[node].Parent
	}
	return node
}

// begin begins a run at a row of another function.
func (s *writer) begin(b *sym.Block, root int32, addr uint64) {
	r := &s.run
	if r.isPending {
		s.writeRun()
	}
	n := b.Nodes[root]
	*r = run{
		isOpen: true, root: root, node: n, name: append(r.name[:0], s.name(n.Name)...),
		fn:   breakpad.Func{Addr: addr, Inlines: r.fn.Inlines[:0], Ranges: r.fn.Ranges[:0], Lines: r.fn.Lines[:0]},
		open: r.open[:0], chain: r.chain, pieces: r.pieces[:0], record: r.record,
	}
	r.last.node = root
	r.clearRecords(b)
}

// isRest reports whether a function continues as the symbol at its entry: that is the
// padding after it.
func (s *writer) isRest(b *sym.Block, root int32) bool {
	r := &s.run
	return root >= 0 && r.cost <= maxRun && b.Nodes[root].Entry == r.node.Entry && bytes.Equal(s.name(b.Nodes[root].Name), r.name)
}

// resume continues the run in another block or as another root.
func (r *run) resume(b *sym.Block, root int32, addr uint64) {
	r.closeCalls(0, addr)
	if r.last.node == r.root {
		r.last.node = root
	} else {
		r.last.node = -1 // an inlined call of the other block
	}
	r.root = root
	r.clearRecords(b)
}

// clearRecords makes the nodes of a block have no records.
func (r *run) clearRecords(b *sym.Block) {
	if len(r.record) < len(b.Nodes) {
		r.record = make([]int32, len(b.Nodes))
	}
	clear(r.record[:len(b.Nodes)])
}

// row adds a row to the run.
func (s *writer) row(b *sym.Block, row *sym.Row) {
	r := &s.run
	node, file, line := row.Node, row.File, row.Line
	r.chain = r.chain[:0]
	for n := node; n != r.root; n = b.Nodes[n].Parent {
		r.chain = append(r.chain, n)
	}
	// Code that is nested too deep becomes that of its caller.
	for len(r.chain) > maxChain {
		n := &b.Nodes[r.chain[0]]
		node, file, line = n.Parent, n.CallFile, n.CallLine
		r.chain = r.chain[1:]
	}
	slices.Reverse(r.chain)
	id := s.files.id(file)
	first := len(r.fn.Lines) == 0
	if first && node == r.root && file == 0 && line == 0 {
		return // a FUNC without lines is the same
	}
	if !first && node == r.last.node && id == r.last.file && line == r.last.line {
		return
	}
	s.nest(b, row.Addr)
	s.endLine(row.Addr)
	r.fn.Lines = append(r.fn.Lines, breakpad.Line{Addr: row.Addr, File: id, Line: line})
	r.cost += 48
	r.last.node, r.last.file, r.last.line = node, id, line
}

// nest closes the open calls that are not in the chain, and opens the others of
// the chain.
func (s *writer) nest(b *sym.Block, addr uint64) {
	r := &s.run
	same := 0
	for same < len(r.open) && same < len(r.chain) && r.open[same].node == r.chain[same] {
		same++
	}
	r.closeCalls(same, addr)
	for depth := same; depth < len(r.chain); depth++ {
		node := r.chain[depth]
		record := r.record[node] - 1
		if record < 0 {
			n := &b.Nodes[node]
			record = int32(len(r.fn.Inlines))
			r.record[node] = record + 1
			r.fn.Inlines = append(r.fn.Inlines, breakpad.Inline{
				Depth: uint32(depth), CallLine: n.CallLine, CallFile: s.files.id(n.CallFile), Origin: s.origins.id(n.Name),
			})
			r.cost += 40
		}
		r.open = append(r.open, openCall{node, record, addr})
		r.cost += 24
	}
}

// closeCalls ends the ranges of the open calls from a depth on.
func (r *run) closeCalls(depth int, addr uint64) {
	for _, c := range r.open[depth:] {
		r.pieces = append(r.pieces, piece{c.record, breakpad.Range{Addr: c.start, Size: addr - c.start}})
	}
	r.open = r.open[:depth]
}

// endLine sets the size of the last line.
func (s *writer) endLine(addr uint64) {
	if lines := s.run.fn.Lines; len(lines) > 0 {
		l := &lines[len(lines)-1]
		l.Size = addr - l.Addr
	}
}

// end ends the run at an address, where a hole or another function begins. A
// symbol without size is a PUBLIC if another function follows: readers end it
// there, as the rows do. The last record of a file extends to a multiple of 4 GiB.
func (s *writer) end(addr uint64, isHole bool) {
	r := &s.run
	r.isOpen = false
	r.closeCalls(0, addr)
	s.endLine(addr)
	r.fn.Size = addr - r.fn.Addr
	isSymbol := len(r.fn.Lines) == 0 && r.node.Size == 0
	switch {
	case isSymbol && !isHole:
		s.buf = breakpad.AppendPublic(s.buf, breakpad.Public{Addr: r.fn.Addr}, r.name)
	case isSymbol && addr == (r.fn.Addr|math.MaxUint32)+1:
		r.isPending = true
	default:
		s.writeRun()
	}
}

// writeRun writes the run as a FUNC.
func (s *writer) writeRun() {
	r := &s.run
	r.isPending = false
	slices.SortStableFunc(r.pieces, func(a, b piece) int { return cmp.Compare(a.record, b.record) })
	inlines := r.fn.Inlines
	var all []breakpad.Inline
	for from := 0; from < len(r.pieces); {
		in := inlines[r.pieces[from].record]
		in.First = len(r.fn.Ranges)
		to := from
		for ; to < len(r.pieces) && r.pieces[to].record == r.pieces[from].record && in.N < maxPieces; to++ {
			r.fn.Ranges = append(r.fn.Ranges, r.pieces[to].Range)
			in.N++
		}
		all = append(all, in)
		from = to
	}
	r.fn.Inlines = all
	s.buf = breakpad.AppendFunc(s.buf, &r.fn, r.name)
	r.fn.Inlines = inlines[:0]
}

// finish ends the run after the last row.
func (s *writer) finish() {
	r := &s.run
	if r.isOpen {
		s.end(math.MaxUint64, false)
	}
	if r.isPending {
		r.isPending = false
		s.buf = breakpad.AppendPublic(s.buf, breakpad.Public{Addr: r.fn.Addr}, r.name)
	}
}

package symwrite

import (
	"cmp"
	"math"
	"slices"

	"symbolon/internal/format/breakpad"
	"symbolon/internal/sym"
)

const (
	// maxRun is about how long the text of one FUNC gets, of which readers
	// take 4 MiB.
	maxRun = 2 << 20
	// maxChain is how deep INLINE records nest for readers.
	maxChain = 256
	// maxPieces is how many ranges one INLINE record has, so that its line
	// stays short enough.
	maxPieces = 1000
)

// symRun is code without a gap that belongs to one function: the FUNC record in
// the making. It ends where the next row tells.
type symRun struct {
	on      bool
	root    int32
	declare sym.Node // the root
	fn      breakpad.Func
	name    []byte
	cost    int // about how long its text will be
	node    int32
	file    uint64
	line    uint32
	open    []openCall
	chain   []int32
	pieces  []piece
	record  []int32 // by node: its INLINE record plus one
	last    bool    // it is a PUBLIC if nothing follows
}

// openCall is an inlined call that the last row is in.
type openCall struct {
	node   int32
	record int32
	start  uint64
}

// piece is a range of an INLINE record.
type piece struct {
	record int32
	breakpad.Range
}

// block makes records of a block.
func (s *symWriter) block(b *sym.Block) {
	s.lonely(b)
	r := &s.run
	for i := range b.Rows {
		row := &b.Rows[i]
		root := rootOf(b, row.Node)
		if r.on && (i == 0 || root != r.root || r.cost > maxRun) {
			s.end(row.Addr, root < 0)
		}
		if root < 0 {
			continue
		}
		if !r.on {
			s.begin(b, root, row.Addr)
		}
		s.row(b, row)
	}
}

// lonely writes the functions that no row leads to: those without size.
func (s *symWriter) lonely(b *sym.Block) {
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

// rootOf is the function of a node, sym.Hole that of a hole.
func rootOf(b *sym.Block, node int32) int32 {
	for node >= 0 && b.Nodes[node].Parent >= 0 {
		node = b.Nodes[node].Parent
	}
	return node
}

// begin begins a run.
func (s *symWriter) begin(b *sym.Block, root int32, addr uint64) {
	r := &s.run
	if r.last {
		s.writeRun() // something follows
	}
	n := b.Nodes[root]
	*r = symRun{
		on: true, root: root, declare: n, name: append(r.name[:0], s.name(n.Name)...), node: root,
		fn:   breakpad.Func{Addr: addr, Inlines: r.fn.Inlines[:0], Ranges: r.fn.Ranges[:0], Lines: r.fn.Lines[:0]},
		open: r.open[:0], chain: r.chain, pieces: r.pieces[:0], record: r.record,
	}
	if len(r.record) < len(b.Nodes) {
		r.record = make([]int32, len(b.Nodes))
	}
	clear(r.record[:len(b.Nodes)])
}

// row takes a row of the run.
func (s *symWriter) row(b *sym.Block, row *sym.Row) {
	r := &s.run
	node, file, line := row.Node, row.File, row.Line
	r.chain = r.chain[:0]
	for n := node; n != r.root; n = b.Nodes[n].Parent {
		r.chain = append(r.chain, n)
	}
	// What is nested too deep is taken for its caller.
	for len(r.chain) > maxChain {
		n := &b.Nodes[r.chain[0]]
		node, file, line = n.Parent, n.CallFile, n.CallLine
		r.chain = r.chain[1:]
	}
	slices.Reverse(r.chain)
	id := s.files.id(file)
	first := len(r.fn.Lines) == 0
	if first && node == r.root && file == 0 && line == 0 {
		return // that is what a FUNC without lines says
	}
	if !first && node == r.node && id == r.file && line == r.line {
		return
	}
	s.nest(b, row.Addr)
	s.endLine(row.Addr)
	r.fn.Lines = append(r.fn.Lines, breakpad.Line{Addr: row.Addr, File: id, Line: line})
	r.cost += 48
	r.node, r.file, r.line = node, id, line
}

// nest closes the calls that are not in the chain, and opens those that are
// new.
func (s *symWriter) nest(b *sym.Block, addr uint64) {
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

// closeCalls ends the calls beyond a depth.
func (r *symRun) closeCalls(depth int, addr uint64) {
	for _, c := range r.open[depth:] {
		r.pieces = append(r.pieces, piece{c.record, breakpad.Range{Addr: c.start, Size: addr - c.start}})
	}
	r.open = r.open[:depth]
}

func (s *symWriter) endLine(addr uint64) {
	if lines := s.run.fn.Lines; len(lines) > 0 {
		l := &lines[len(lines)-1]
		l.Size = addr - l.Addr
	}
}

// end ends the run at an address, where there is a hole or something else.
func (s *symWriter) end(addr uint64, hole bool) {
	r := &s.run
	r.on = false
	r.closeCalls(0, addr)
	s.endLine(addr)
	r.fn.Size = addr - r.fn.Addr
	plain := len(r.fn.Lines) == 0 && r.declare.Size == 0
	switch {
	case plain && !hole:
		s.buf = breakpad.AppendPublic(s.buf, breakpad.Public{Addr: r.fn.Addr}, r.name)
	case plain && addr == (r.fn.Addr|math.MaxUint32)+1:
		r.last = true // the reach of a PUBLIC that is the last record
	default:
		s.writeRun()
	}
}

// writeRun writes the run as a FUNC.
func (s *symWriter) writeRun() {
	r := &s.run
	r.last = false
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

// finish ends what is open at the end of all rows.
func (s *symWriter) finish() {
	r := &s.run
	if r.on {
		s.end(math.MaxUint64, false)
	}
	if r.last {
		r.last = false
		s.buf = breakpad.AppendPublic(s.buf, breakpad.Public{Addr: r.fn.Addr}, r.name)
	}
}

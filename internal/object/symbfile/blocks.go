package symbfile

import (
	"math"
	"slices"

	"symbolon/internal/object"
	"symbolon/internal/sym"
)

// flattener makes blocks of ranges that may overlap and come in any order, and
// of pads.
type flattener struct {
	*view
	yield  func(*sym.Block) error
	block  sym.Block
	active [maxSymbDepth + 1][]uint32 // ranges around the address, by depth
	ends   []rangeEnd                 // heap
	chain  []uint32                   // the ranges that count, by depth
	nodes  []int32                    // of the block, for the ranges of the last chain
	last   []uint32
	rows   map[uint32]*symbRows // of ranges around the address, as far as they were read
	spare  []*symbRows
	frames []symbFrame
	pad    bool // the last row is that of a pad
	left   int  // how many more nodes may be made; one for each range is what a sound file needs
}

// rangeEnd is where a range ends.
type rangeEnd struct {
	at    uint64
	index uint32
}

func (a rangeEnd) before(b rangeEnd) bool { return a.at < b.at }

func (v *view) Blocks(_ object.BlockOptions, yield func(*sym.Block) error) error {
	v.joined()
	f := flattener{view: v, yield: yield, rows: map[uint32]*symbRows{}, left: 8*len(v.ranges) + 1<<16}
	return f.run()
}

func (f *flattener) run() error {
	next, pad := 0, 0
	for next < len(f.ranges) || len(f.ends) > 0 || pad < len(f.pads) || f.pad {
		at := f.boundary(next, pad)
		if f.pad {
			at = min(at, f.block.Rows[len(f.block.Rows)-1].Addr+1)
		}
		for len(f.ends) > 0 && f.ends[0].at <= at {
			var e rangeEnd
			e, f.ends = object.Pop(f.ends, rangeEnd.before)
			f.end(e.index)
		}
		for ; next < len(f.ranges) && f.ranges[next].va == at; next++ {
			f.add(uint32(next))
		}
		if pad < len(f.pads) && f.pads[pad].va == at {
			pad++
			if len(f.active[0]) == 0 { // ranges take precedence
				if err := f.writePad(&f.pads[pad-1]); err != nil {
					return err
				}
				continue
			}
		}
		if err := f.write(at, f.boundary(next, pad)); err != nil {
			return err
		}
	}
	return f.give()
}

// boundary returns the next address at which something begins or ends.
func (f *flattener) boundary(next, pad int) uint64 {
	at := uint64(math.MaxUint64)
	if next < len(f.ranges) {
		at = f.ranges[next].va
	}
	if len(f.ends) > 0 {
		at = min(at, f.ends[0].at)
	}
	if pad < len(f.pads) {
		at = min(at, f.pads[pad].va)
	}
	return at
}

// add takes a range that begins.
func (f *flattener) add(i uint32) {
	r := &f.ranges[i]
	if len(f.active[r.depth]) == maxRivals {
		f.omit(i)
		return
	}
	f.active[r.depth] = append(f.active[r.depth], i)
	f.ends = object.Push(f.ends, rangeEnd{r.end, i}, rangeEnd.before)
}

// end forgets a range that ends.
func (f *flattener) end(i uint32) {
	d := f.ranges[i].depth
	f.active[d] = slices.DeleteFunc(f.active[d], func(k uint32) bool { return k == i })
	if rows := f.rows[i]; rows != nil {
		f.spare = append(f.spare, rows)
		delete(f.rows, i)
	}
}

// rowsOf returns the remaining lines of a range.
func (f *flattener) rowsOf(i uint32) *symbRows {
	rows := f.rows[i]
	if rows != nil {
		return rows
	}
	if n := len(f.spare); n > 0 {
		rows, f.spare = f.spare[n-1], f.spare[:n-1]
	} else {
		rows = &symbRows{}
	}
	*rows = f.begin(i)
	f.rows[i] = rows
	return rows
}

// write writes the frames that apply between two addresses.
func (f *flattener) write(from, to uint64) error {
	f.chain = f.chain[:0]
	for d := range f.active {
		if len(f.active[d]) == 0 {
			break
		}
		if d > 0 && f.left <= 0 {
			f.found.Add("ranges left out", "those of calls, as ranges overlap too often")
			break
		}
		f.chain = append(f.chain, f.best(f.active[d]))
	}
	same := 0
	for same < len(f.last) && same < len(f.chain) && f.last[same] == f.chain[same] {
		same++
	}
	if len(f.chain) == 0 || same == 0 && f.large(maxSymbRows) {
		if err := f.flush(from, len(f.chain) == 0); err != nil {
			return err
		}
	}
	f.last, f.nodes = append(f.last[:same], f.chain[same:]...), f.nodes[:same]
	if len(f.chain) == 0 {
		return nil
	}
	f.left -= len(f.chain) - same
	f.addNodes()
	inner := f.chain[len(f.chain)-1]
	r, rows := &f.ranges[inner], f.rowsOf(inner)
	rows.to(from-r.va, math.MaxInt)
	for at := from; ; {
		if err := f.lineRow(at, r.file.text(), rows.line); err != nil {
			return err
		}
		if !rows.more || rows.ahead.Offset >= to-r.va {
			return nil
		}
		at = r.va + rows.ahead.Offset
		rows.step()
	}
}

// addNodes makes the nodes of the chain that are missing.
func (f *flattener) addNodes() {
	for d := len(f.nodes); d < len(f.chain); d++ {
		f.nodes = append(f.nodes, f.node(d))
	}
}

// lineRow writes a row of the last range of the chain. If the block is full it
// goes into the next one, with nodes of its own.
func (f *flattener) lineRow(at uint64, file sym.Text, line uint32) error {
	if n := len(f.block.Rows); n > 0 && f.block.Rows[n-1].Addr < at && f.large(fullSymbRows) {
		if err := f.give(); err != nil {
			return err
		}
		f.last = append(f.last[:0], f.chain...)
		f.addNodes()
	}
	f.row(sym.Row{Addr: at, Node: f.nodes[len(f.nodes)-1], File: file, Line: line})
	return nil
}

// large reports whether the block has so many rows or nodes.
func (f *flattener) large(n int) bool { return max(len(f.block.Rows), len(f.block.Nodes)) >= n }

// node makes the node of a range of the chain.
func (f *flattener) node(depth int) int32 {
	r := &f.ranges[f.chain[depth]]
	n := sym.Node{Parent: -1, Name: r.name.text()}
	if depth > 0 {
		n.Parent = f.nodes[depth-1]
		n.CallFile, n.CallLine = r.place(&f.ranges[f.chain[depth-1]]), r.callLine
	} else {
		n.Entry, n.Size = f.function(f.chain[0])
	}
	f.block.Nodes = append(f.block.Nodes, n)
	return int32(len(f.block.Nodes) - 1)
}

// row writes a row; of two at one address the last counts.
func (f *flattener) row(r sym.Row) {
	f.pad = false
	if n := len(f.block.Rows); n > 0 {
		switch last := &f.block.Rows[n-1]; {
		case last.Addr == r.Addr:
			*last = r
			return
		case last.Node == r.Node && last.File == r.File && last.Line == r.Line:
			return
		}
	}
	f.block.Rows = append(f.block.Rows, r)
}

// writePad writes the frames of a pad at its address.
func (f *flattener) writePad(p *symbPad) error {
	if f.large(maxSymbRows) {
		if err := f.give(); err != nil {
			return err
		}
	}
	f.frames = f.view.frames(f.frames[:0], p)
	frames, parent := f.frames, int32(-1)
	for i := range frames {
		n := sym.Node{Parent: parent, Name: frames[i].name}
		if i > 0 {
			n.CallFile, n.CallLine = frames[i-1].file, frames[i-1].line
		} else {
			n.Entry, n.Size = p.va, 1
		}
		parent = int32(len(f.block.Nodes))
		f.block.Nodes = append(f.block.Nodes, n)
	}
	inner := frames[len(frames)-1]
	f.row(sym.Row{Addr: p.va, Node: parent, File: inner.file, Line: inner.line})
	f.pad = p.va < math.MaxUint64 // it ends with the next address
	f.last, f.nodes = f.last[:0], f.nodes[:0]
	return nil
}

// flush yields the block, which ends at an address, maybe with a hole.
func (f *flattener) flush(at uint64, hole bool) error {
	if len(f.block.Rows) == 0 {
		return nil
	}
	if hole {
		f.row(sym.Row{Addr: at, Node: sym.Hole})
		if !f.large(maxSymbRows) {
			return nil // the next rows belong to the same block
		}
	}
	return f.give()
}

// give yields the block, and begins the next one. The last one ends with a hole, or
// lasts to the end of the address space.
func (f *flattener) give() error {
	if len(f.block.Rows) == 0 {
		return nil
	}
	err := f.yield(&f.block)
	f.block.Reset()
	f.last, f.nodes = f.last[:0], f.nodes[:0]
	return err
}

package object

import (
	"cmp"
	"container/heap"
	"fmt"
	"math"
	"slices"
	"sort"

	"symbolon/internal/sym"
)

const (
	// maxRivals is how many ranges of one depth are held at one address. One is
	// all that a sound file has.
	maxRivals = 8
	// maxSymbRows is from how many rows on a block ends where a function does.
	maxSymbRows = 4096
)

// flattener makes blocks of ranges that may overlap and stand in any order, and
// of pads.
type flattener struct {
	*symbfiles
	yield  func(*sym.Block) error
	block  sym.Block
	active [maxSymbDepth + 1][]int32 // ranges around the address, by depth
	ends   endHeap
	chain  []int32 // the ranges that count, by depth
	nodes  []int32 // of the block, for the ranges of the last chain
	last   []int32
	pad    bool // the last row is that of a pad
	room   int  // how many more nodes may be made; one for each range is what a sound file needs
}

// endHeap is where ranges end, the first on top.
type endHeap []rangeEnd

type rangeEnd struct {
	at    uint64
	index int32
}

func (h endHeap) Len() int           { return len(h) }
func (h endHeap) Less(i, j int) bool { return h[i].at < h[j].at }
func (h endHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *endHeap) Push(x any)        { *h = append(*h, x.(rangeEnd)) }
func (h *endHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}

func (f *flattener) run() error {
	next, pad := 0, 0
	for next < len(f.ranges) || len(f.ends) > 0 || pad < len(f.pads) || f.pad {
		at := f.boundary(next, pad)
		if f.pad {
			at = min(at, f.block.Rows[len(f.block.Rows)-1].Addr+1)
		}
		for len(f.ends) > 0 && f.ends[0].at <= at {
			e := heap.Pop(&f.ends).(rangeEnd)
			d := f.ranges[e.index].depth
			f.active[d] = slices.DeleteFunc(f.active[d], func(i int32) bool { return i == e.index })
		}
		for ; next < len(f.ranges) && f.ranges[next].va == at; next++ {
			f.add(int32(next))
		}
		if pad < len(f.pads) && f.pads[pad].va == at {
			pad++
			if len(f.active[0]) == 0 { // what ranges say comes first
				f.writePad(&f.pads[pad-1])
				continue
			}
		}
		if err := f.write(at, f.boundary(next, pad)); err != nil {
			return err
		}
	}
	return f.finish()
}

// boundary is the next address at which something begins or ends.
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
func (f *flattener) add(i int32) {
	r := &f.ranges[i]
	if len(f.active[r.depth]) == maxRivals {
		f.damaged.add("ranges left out", fmt.Sprintf("range %d, at %#x: more than %d of one depth are around the address", r.order, r.va, maxRivals))
		return
	}
	f.active[r.depth] = append(f.active[r.depth], i)
	heap.Push(&f.ends, rangeEnd{r.end, i})
}

// best is the range that counts among rivals: the shortest, then the first.
func (f *flattener) best(rivals []int32) int32 {
	return slices.MinFunc(rivals, func(a, b int32) int {
		x, y := &f.ranges[a], &f.ranges[b]
		return cmp.Or(cmp.Compare(x.end-x.va, y.end-y.va), cmp.Compare(x.order, y.order))
	})
}

// write writes what counts between two addresses.
func (f *flattener) write(from, to uint64) error {
	f.chain = f.chain[:0]
	for d := range f.active {
		if len(f.active[d]) == 0 {
			break
		}
		if d > 0 && f.room <= 0 {
			f.damaged.add("ranges left out", "those of calls, as ranges overlap too often")
			break
		}
		f.chain = append(f.chain, f.best(f.active[d]))
	}
	same := 0
	for same < len(f.last) && same < len(f.chain) && f.last[same] == f.chain[same] {
		same++
	}
	if same == 0 && len(f.block.Rows) >= maxSymbRows || len(f.chain) == 0 {
		if err := f.flush(from, len(f.chain) == 0); err != nil {
			return err
		}
	}
	f.last, f.nodes = append(f.last[:same], f.chain[same:]...), f.nodes[:same]
	if len(f.chain) == 0 {
		return nil
	}
	for d := same; d < len(f.chain); d++ {
		f.nodes = append(f.nodes, f.node(d))
		f.room--
	}
	r := &f.ranges[f.chain[len(f.chain)-1]]
	node := f.nodes[len(f.nodes)-1]
	lines := f.lines[r.lines:r.endLine]
	k := sort.Search(len(lines), func(i int) bool { return lines[i].Offset > from-r.va })
	line := uint32(0)
	if k > 0 {
		line = lines[k-1].Line
	}
	f.row(sym.Row{Addr: from, Node: node, File: sym.Text(r.file), Line: line})
	for ; k < len(lines) && lines[k].Offset < to-r.va; k++ {
		f.row(sym.Row{Addr: r.va + lines[k].Offset, Node: node, File: sym.Text(r.file), Line: lines[k].Line})
	}
	return nil
}

// node makes the node of a range of the chain.
func (f *flattener) node(depth int) int32 {
	r := &f.ranges[f.chain[depth]]
	n := sym.Node{Parent: -1, Name: sym.Text(r.name)}
	if depth > 0 {
		n.Parent = f.nodes[depth-1]
		n.CallFile, n.CallLine = sym.Text(r.place(&f.ranges[f.chain[depth-1]])), r.callLine
	} else {
		n.Entry, n.Size = r.entry, r.size
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

// writePad writes what a pad says of its address.
func (f *flattener) writePad(p *symbPad) {
	frames := f.frames[p.from : p.from+p.frames]
	parent := int32(-1)
	for i := range frames {
		n := sym.Node{Parent: parent, Name: sym.Text(frames[i].name)}
		if i > 0 {
			n.CallFile, n.CallLine = sym.Text(frames[i-1].file), frames[i-1].line
		} else {
			n.Entry, n.Size = p.va, 1
		}
		parent = int32(len(f.block.Nodes))
		f.block.Nodes = append(f.block.Nodes, n)
	}
	inner := frames[len(frames)-1]
	f.row(sym.Row{Addr: p.va, Node: parent, File: sym.Text(inner.file), Line: inner.line})
	f.pad = p.va < math.MaxUint64 // it ends with the next address
	f.last, f.nodes = f.last[:0], f.nodes[:0]
}

// flush yields the block, which ends at an address, maybe with a hole.
func (f *flattener) flush(at uint64, hole bool) error {
	n := len(f.block.Rows)
	if n == 0 {
		return nil
	}
	if hole {
		f.row(sym.Row{Addr: at, Node: sym.Hole})
		if len(f.block.Rows) < maxSymbRows {
			return nil // what comes next goes into the same block
		}
	}
	err := f.yield(&f.block)
	f.block.Reset()
	f.last, f.nodes = f.last[:0], f.nodes[:0]
	return err
}

// finish yields what is left. The last row is a hole, or lasts to the end of
// the address space.
func (f *flattener) finish() error {
	if len(f.block.Rows) == 0 {
		return nil
	}
	return f.yield(&f.block)
}

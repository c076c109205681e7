package gopcln

import (
	"encoding/binary"
	"math"
	"sort"
)

const (
	maxCalls = 1 << 20
	maxDepth = 256

	// Hole is the node of a row that ends the code.
	Hole = -1
)

// Node is a function, or a call that was inlined into it.
type Node struct {
	Parent   int32  // an earlier node, or -1 for the function
	Name     uint32 // for Table.Name
	CallFile uint32 // for Table.File; the position of the call in its parent
	CallLine uint32
}

// Row assigns the code from Addr up to the next row to a node.
type Row struct {
	Addr uint64
	Node int32
	File uint32 // for Table.File
	Line uint32 // zero: unknown
}

// Body describes the code of a function. The first node is the function itself.
// Rows have increasing addresses, and the last one extends to the end of the
// function.
type Body struct {
	Nodes []Node
	Rows  []Row

	// calls maps a call of the tree to its node, if the call was used in this
	// round.
	calls []call
	round uint32
}

type call struct {
	round uint32
	node  int32
}

// tree is an inline tree.
type tree struct {
	addr  uint64
	size  uint64 // of a record
	runs  uint32 // offset of the runs that assign code to calls
	unit  uint32
	entry uint64 // entry of the function
}

// Body reads the code of function i into b.
func (t *Table) Body(i int, b *Body) error {
	b.Nodes, b.Rows = b.Nodes[:0], b.Rows[:0]
	at := t.record(i)
	if at < 0 {
		return bad("functions", "function %d has no valid record", i)
	}
	f := t.Func(i)
	b.Nodes = append(b.Nodes, Node{Parent: -1, Name: f.Name, CallFile: None})
	unit := uint32(math.MaxUint32)
	if t.version >= go16 {
		unit = t.u32(at + t.nameOffset() + 28)
	}
	tree := t.tree(at)
	tree.unit, tree.entry = unit, f.Entry
	t.rows(b, f, at, tree)
	if b.round++; b.round == 0 {
		clear(b.calls)
		b.round = 1
	}
	for i := range b.Rows {
		if c := b.Rows[i].Node; c > 0 {
			t.resolve(b, tree, c-1)
		}
	}
	for i := range b.Rows {
		if r := &b.Rows[i]; r.Node > 0 {
			r.Node = b.calls[r.Node-1].node
		}
	}
	return nil
}

// rows merges the runs of files, lines and calls. Until it is resolved, Node is
// the number of a call plus one.
func (t *Table) rows(b *Body, f Func, at int, tree tree) {
	base := at + t.nameOffset()
	file := t.newRuns(t.u32(base+16), f.Entry)
	line := t.newRuns(t.u32(base+20), f.Entry)
	calls := t.newRuns(tree.runs, f.Entry)
	for pc := f.Entry; pc < f.End; {
		file.advance(pc)
		line.advance(pc)
		calls.advance(pc)
		row := Row{Addr: pc, File: t.file(tree.unit, file.value), Line: uint32(max(line.value, 0))}
		if line.done {
			row = Row{Addr: pc, Node: Hole, File: None}
		} else if calls.value >= 0 && calls.value < maxCalls {
			row.Node = calls.value + 1
		}
		if n := len(b.Rows); n == 0 || b.Rows[n-1] != (Row{b.Rows[n-1].Addr, row.Node, row.File, row.Line}) {
			b.Rows = append(b.Rows, row)
		}
		if line.done {
			return
		}
		pc = min(file.end, line.end, calls.end)
	}
}

// file returns the file of a number; since Go 1.16 numbers are relative to a
// unit.
func (t *Table) file(unit uint32, n int32) uint32 {
	list, at := t.units, (uint64(unit)+uint64(n))*4
	if t.version == go2 {
		list, at = t.files, uint64(n)*4
		if n == 0 { // index 0 has the number of files
			return None
		}
	}
	if n < 0 || unit == math.MaxUint32 && t.version >= go16 || at+4 > uint64(len(list)) {
		return None
	}
	return t.order.Uint32(list[at:])
}

// tree returns the inline tree of the function whose record is at an offset.
func (t *Table) tree(at int) tree {
	if t.version >= go16 {
		size := uint64(20)
		if t.version >= go20 {
			size = 16
		}
		return tree{addr: t.funcdata(at, 3), size: size, runs: t.pcdata(at, 2)}
	}
	if !t.old { // Go 1.13 to 1.15
		if found := (tree{addr: t.funcdata(at, 4), size: 20, runs: t.pcdata(at, 2)}); t.isRooted(found) {
			return found
		}
	}
	found := tree{addr: t.funcdata(at, 2), size: 20, runs: t.pcdata(at, 1)}
	if t.old {
		found.size = 16
	}
	if !t.isRooted(found) {
		return tree{}
	}
	return found
}

// isRooted reports whether the first call of a tree is in the function itself.
func (t *Table) isRooted(f tree) bool {
	p := t.call(f, 0)
	return p != nil && p[0] == 0xff && p[1] == 0xff
}

// call returns a record of a tree, or nil.
func (t *Table) call(f tree, n int32) []byte {
	if t.ReadAt == nil || f.addr == 0 {
		return nil
	}
	if p := t.ReadAt(f.addr+uint64(n)*f.size, int(f.size)); uint64(len(p)) == f.size {
		return p
	}
	return nil
}

// pcdata returns the offset of the runs of a kind, 0 without them.
func (t *Table) pcdata(at, kind int) uint32 {
	if uint32(kind) >= t.u32(at+t.nameOffset()+24) {
		return 0
	}
	return t.u32(at + t.recordSize() + 4*kind)
}

// funcdata returns the address of data of a kind, 0 without it.
func (t *Table) funcdata(at, kind int) uint64 {
	n, count := t.u32(at+t.nameOffset()+24), t.data[at+t.recordSize()-1]
	if t.old && t.order == binary.LittleEndian {
		count = t.data[at+t.recordSize()-4]
	}
	if kind >= int(count) || n > uint32(len(t.data)/4) {
		return 0
	}
	at += t.recordSize() + 4*int(n)
	if t.version >= go18 {
		if off := t.u32(at + 4*kind); off != math.MaxUint32 && t.GoFunc != 0 && at+4*kind+4 <= len(t.data) {
			return t.GoFunc + uint64(off)
		}
		return 0
	}
	at += -at & (t.ptr - 1)
	return t.word(at + t.ptr*kind)
}

// resolve adds nodes for a call and the calls around it.
func (t *Table) resolve(b *Body, f tree, n int32) {
	var chain [maxDepth]int32
	depth := 0
	node := int32(0)
	for ; n >= 0 && depth < maxDepth; depth++ {
		if int(n) < len(b.calls) && b.calls[n].round == b.round {
			node = b.calls[n].node
			break
		}
		chain[depth] = n
		_, n = t.parent(b, f, n)
	}
	for depth--; depth >= 0; depth-- {
		n := chain[depth]
		if made, _ := t.parent(b, f, n); made.Name != None {
			made.Parent = node
			node = int32(len(b.Nodes))
			b.Nodes = append(b.Nodes, made)
		}
		for int(n) >= len(b.calls) {
			b.calls = append(b.calls, call{})
		}
		b.calls[n] = call{b.round, node}
	}
}

// parent returns the node of a call, without its Parent, and the number of the
// enclosing call, or -1. The name of an unreadable call is None.
func (t *Table) parent(b *Body, f tree, n int32) (Node, int32) {
	p := t.call(f, n)
	if p == nil {
		return Node{Name: None}, -1
	}
	if t.version < go20 {
		up := int32(int16(t.order.Uint16(p)))
		if t.old {
			up = int32(t.order.Uint32(p))
		}
		file := t.file(f.unit, int32(t.order.Uint32(p[4:])))
		return Node{Name: t.order.Uint32(p[12:]), CallFile: file, CallLine: t.order.Uint32(p[8:])}, parentBefore(up, n)
	}
	// Merged rows are equal except for the address, so any of them will do.
	pc := f.entry + uint64(t.order.Uint32(p[8:]))
	i := sort.Search(len(b.Rows), func(i int) bool { return b.Rows[i].Addr > pc }) - 1
	if i < 0 {
		return Node{Name: t.order.Uint32(p[4:]), CallFile: None}, -1
	}
	r := b.Rows[i]
	return Node{Name: t.order.Uint32(p[4:]), CallFile: r.File, CallLine: r.Line}, parentBefore(r.Node-1, n)
}

// parentBefore returns a parent if it is listed before its call, as in all
// valid tables, or else -1: other parents could form a cycle.
func parentBefore(parent, n int32) int32 {
	if parent >= n || parent < 0 {
		return -1
	}
	return parent
}

// runs iterates over a value that changes along the addresses of a function.
type runs struct {
	p       []byte
	value   int32
	end     uint64 // end of the current run
	quantum uint64
	first   bool
	done    bool
}

// newRuns returns the runs at an offset; without any the value is -1
// everywhere.
func (t *Table) newRuns(off uint32, entry uint64) runs {
	if off == 0 || uint64(off) >= uint64(len(t.runs)) {
		return runs{value: -1, end: math.MaxUint64}
	}
	return runs{p: t.runs[off:], value: -1, end: entry, quantum: t.quantum, first: true}
}

// advance advances to the run that contains pc. After the last run the value is
// -1.
func (r *runs) advance(pc uint64) {
	for r.end <= pc && !r.done {
		delta := r.uvarint()
		size := r.uvarint()
		if delta == 0 && !r.first || size == 0 {
			r.value, r.end, r.done = -1, math.MaxUint64, true
			return
		}
		r.first = false
		r.value += int32(delta>>1) ^ -int32(delta&1)
		if r.end += uint64(size) * r.quantum; r.end <= pc && r.end < uint64(size)*r.quantum {
			r.end = math.MaxUint64
		}
	}
}

// uvarint reads the next number, 0 at the end.
func (r *runs) uvarint() uint32 {
	var v uint32
	for i, b := range r.p {
		if i > 4 {
			break
		}
		v |= uint32(b&0x7f) << (7 * i)
		if b < 0x80 {
			r.p = r.p[i+1:]
			return v
		}
	}
	r.p = nil
	return 0
}

// Package sym is the vocabulary that debug files are translated into: what a
// file knows about an address space, and what a lookup answers. It is data
// only. The rooms of format produce their own words; object translates them
// into these; symcache stores these; symbolicate and the doors read them.
//
// Addresses are module-relative everywhere (see docs/decisions, address
// conventions).
package sym

// A Text names a string without being one: which string, only the Resolver or
// Blocks that handed it out can tell. Zero is no string at all, which is not
// the empty string.
type Text uint64

// Frame is one level of an answer. Frames of one address are given innermost
// first; the last one is the function that was really called, those before it
// were inlined into the one that follows.
type Frame struct {
	Func    Text   // name; never zero in an answer
	File    Text   // zero: unknown
	Line    uint32 // zero: unknown
	Column  uint32 // zero: unknown
	Entry   uint64 // where the called function starts; the same on all frames of one address
	Size    uint64 // bytes of the called function, zero: unknown
	Inlined bool
	Lang    Lang // what Func is written in
}

// Node is a function, or one call that was inlined into a function.
//
// A root has Parent -1, Entry and Size. A call has a Parent with a smaller
// index, and says where in its parent it was called.
type Node struct {
	Parent     int32
	Lang       Lang
	Name       Text
	CallFile   Text
	CallLine   uint32
	CallColumn uint32
	Entry      uint64
	Size       uint64
}

// Hole is the Node of a Row that says: nothing is known from here on.
const Hole = -1

// Row says that from Addr on, up to the next row, the code belongs to Node and
// comes from Line of File.
type Row struct {
	Addr   uint64
	Node   int32
	File   Text
	Line   uint32
	Column uint32
}

// Block is a stretch of address space that can be understood by itself. Rows
// are sorted by strictly rising address. The last row of a block lasts until
// the first row of the next block, and that of the last block to the end of
// the address space, unless it is a Hole.
type Block struct {
	Nodes []Node
	Rows  []Row
}

// Reset empties b and keeps its memory.
func (b *Block) Reset() { b.Nodes, b.Rows = b.Nodes[:0], b.Rows[:0] }

// Frames appends the frames of row i to dst, innermost first; none for a hole.
func (b *Block) Frames(dst []Frame, i int) []Frame {
	r := &b.Rows[i]
	if r.Node < 0 {
		return dst
	}
	first := len(dst)
	file, line, column := r.File, r.Line, r.Column
	n := &b.Nodes[r.Node]
	for {
		dst = append(dst, Frame{Func: n.Name, File: file, Line: line, Column: column, Inlined: n.Parent >= 0, Lang: n.Lang})
		if n.Parent < 0 {
			break
		}
		file, line, column = n.CallFile, n.CallLine, n.CallColumn
		n = &b.Nodes[n.Parent]
	}
	for j := first; j < len(dst); j++ {
		dst[j].Entry, dst[j].Size = n.Entry, n.Size
	}
	return dst
}

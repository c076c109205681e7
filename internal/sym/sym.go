// Package sym defines the common model of debug files: the symbols of an
// address space, and the frames of a lookup. It has data only. Packages object
// and demangle translate the types of the format packages into it, symcache
// stores it, and symbolicate and the api packages read it. A value belongs to
// one goroutine while it is changed.
//
// All addresses are relative to the module (see docs/decisions, address
// conventions).
package sym

import (
	"cmp"
	"slices"
)

// A Text refers to a string. Only the Resolver or Blocks that returned it can
// convert it. Zero is the absence of a string, not the empty string.
type Text uint64

// Frame is one level of an answer. The frames of an address are ordered
// innermost first: the last one is the function that was called, the others
// were inlined into the one that follows.
type Frame struct {
	Func    Text   // name; never zero in an answer
	File    Text   // zero: unknown
	Line    uint32 // zero: unknown
	Column  uint32 // zero: unknown
	Entry   uint64 // start of the called function; the same on all frames of one address
	Size    uint64 // bytes of the called function, zero: unknown
	Inlined bool
	Lang    Lang // language of Func
}

// Node is a function, or a call that was inlined into a function.
//
// A root has Parent -1, Entry and Size. A call has a Parent with a smaller
// index, and the position of the call in its parent.
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

// Hole is the Node of a Row from which on nothing is known.
const Hole = -1

// Row means that the code from Addr up to the next row belongs to Node and
// comes from Line of File.
type Row struct {
	Addr   uint64
	Node   int32
	File   Text
	Line   uint32
	Column uint32
}

// Block is a self-contained range of the address space. Rows are sorted by strictly
// increasing address. The last row of a block extends to the first row of the next block,
// and that of the last block to the end of the address space, unless it is a Hole.
type Block struct {
	Nodes []Node
	Rows  []Row
}

// Reset empties b and keeps its memory.
func (b *Block) Reset() { b.Nodes, b.Rows = b.Nodes[:0], b.Rows[:0] }

// RowAt returns the index of the last row at or before addr, which must not be
// before the first row.
func (b *Block) RowAt(addr uint64) int {
	i, found := slices.BinarySearchFunc(b.Rows, addr, func(r Row, addr uint64) int { return cmp.Compare(r.Addr, addr) })
	if found {
		return i
	}
	return i - 1
}

// Frames appends the frames of row i to dst, innermost first, or nothing for a
// hole.
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

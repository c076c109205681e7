package bin

import (
	"cmp"
	"slices"
	"sort"
)

// A Range is a piece of the memory of a process. It may end at the last address, so
// Addr+Size may be 0.
type Range struct {
	Addr       uint64
	Size       uint64 // bytes in the process
	Stored     uint64 // bytes in the file, the first ones
	Off        int64  // in the file
	Protection Protection
}

// A Protection is the set of accesses that memory allows. Its bits are those of ELF.
type Protection uint8

const (
	Executable Protection = 1 << iota
	Writable
	Readable
)

// NewProtection returns the set of some accesses.
func NewProtection(readable, writable, executable bool) (p Protection) {
	for i, is := range [...]bool{executable, writable, readable} {
		if is {
			p |= 1 << i
		}
	}
	return p
}

// contains reports whether addr is in the range, stored or not.
func (r *Range) contains(addr uint64) bool { return addr-r.Addr < r.Size }

// last returns the last address.
func (r *Range) last() uint64 { return r.Addr + (r.Size - 1) }

// Memory is a view of the memory of a process in a file. It is safe for concurrent use
// if the file is.
type Memory struct {
	ranges []Range // sorted, without overlaps
	src    Source
	data   []byte  // the file, if it is in memory
	pieces []Piece // sorted, without overlaps
}

// A Piece is memory that another file has.
type Piece struct {
	Start, End uint64
	Src        Source
	Off        int64 // of Start
}

// NewMemory returns a view of ranges that are not empty and whose stored bytes are in
// src, and the number of those that overlap others. Where ranges overlap, the one that
// begins first is used, and of several with the same start the longest.
func NewMemory(src Source, ranges []Range) (m *Memory, overlapping int) {
	slices.SortStableFunc(ranges, func(a, b Range) int {
		return cmp.Or(cmp.Compare(a.Addr, b.Addr), cmp.Compare(b.Size, a.Size))
	})
	kept := ranges[:0]
	var last uint64 // address covered so far
	for _, r := range ranges {
		if len(kept) > 0 && r.Addr <= last {
			overlapping++
			if r.last() <= last {
				continue
			}
			covered := last + 1 - r.Addr
			skipped := min(covered, r.Stored)
			r = Range{r.Addr + covered, r.Size - covered, r.Stored - skipped, r.Off + int64(skipped), r.Protection}
		}
		kept, last = append(kept, r), r.last()
	}
	m = &Memory{ranges: slices.Clip(kept), src: src}
	m.data, _ = Whole(src)
	return m, overlapping
}

// Ranges returns the ranges in the order of addresses. They do not overlap.
func (m *Memory) Ranges() []Range { return m.ranges }

// find returns the index of the first range that ends after addr.
func (m *Memory) find(addr uint64) int {
	return sort.Search(len(m.ranges), func(i int) bool { return m.ranges[i].last() >= addr })
}

// Find returns the range that contains addr.
func (m *Memory) Find(addr uint64) (Range, bool) {
	if i := m.find(addr); i < len(m.ranges) && m.ranges[i].contains(addr) {
		return m.ranges[i], true
	}
	return Range{}, false
}

// Region returns the bounds of the stored bytes of the range that contains addr, equal
// ones without it.
func (m *Memory) Region(addr uint64) (start, end uint64) {
	r, _ := m.Find(addr)
	return r.Addr, r.Addr + r.Stored
}

// Fill adds memory that is not stored. Of pieces that overlap, the first one counts. It
// must not be called while memory is read.
func (m *Memory) Fill(pieces []Piece) {
	slices.SortStableFunc(pieces, func(a, b Piece) int { return cmp.Compare(a.Start, b.Start) })
	m.pieces = nil
	for _, p := range pieces {
		if n := len(m.pieces); n == 0 || m.pieces[n-1].End <= p.Start {
			m.pieces = append(m.pieces, p)
		}
	}
}

// ReadAt reads memory at addr that is stored, or else in a piece, also across adjacent
// ranges. It returns the number of bytes that it read.
func (m *Memory) ReadAt(dst []byte, addr uint64) (n int) {
	for n < len(dst) {
		at := addr + uint64(n)
		if at < addr {
			break
		}
		got := m.readStored(dst[n:], at)
		if got == 0 {
			got = m.readPiece(dst[n:], at)
		}
		if got == 0 {
			break
		}
		n += got
	}
	return n
}

// readStored reads memory of one range.
func (m *Memory) readStored(dst []byte, addr uint64) (n int) {
	r, ok := m.Find(addr)
	skip := addr - r.Addr
	if !ok || skip >= r.Stored {
		return 0
	}
	dst = dst[:min(uint64(len(dst)), r.Stored-skip)]
	if off := r.Off + int64(skip); m.data != nil {
		n = copy(dst, m.data[off:])
	} else {
		n, _ = m.src.ReadAt(dst, off)
	}
	return n
}

// readPiece reads memory of one piece.
func (m *Memory) readPiece(dst []byte, addr uint64) int {
	i := sort.Search(len(m.pieces), func(i int) bool { return m.pieces[i].End > addr })
	if i == len(m.pieces) || addr < m.pieces[i].Start {
		return 0
	}
	p := &m.pieces[i]
	n, _ := p.Src.ReadAt(dst[:min(uint64(len(dst)), p.End-addr)], p.Off+int64(addr-p.Start))
	return n
}

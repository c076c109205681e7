package core

import (
	"cmp"
	"slices"
	"sort"

	"symbolon/internal/bin"
)

// A Range is a piece of the memory of the process.
type Range struct {
	Addr   uint64
	Size   uint64 // bytes in the process; it may end at the last address
	Stored uint64 // bytes in the file, the first ones
	Off    int64  // in the file
	Flags  uint32 // 1 executable, 2 writable, 4 readable
}

// contains reports whether addr is in the range, stored or not.
func (r *Range) contains(addr uint64) bool { return addr-r.Addr < r.Size }

// Memory is a view of the memory in a core file.
type Memory struct {
	ranges []Range // sorted, without overlaps
	src    bin.Source
	data   []byte // the file, if it is in memory
}

// newMemory returns a view of ranges, and the number of those it omits because
// they overlap others.
func newMemory(src bin.Source, ranges []Range) (m Memory, omitted int) {
	slices.SortFunc(ranges, func(a, b Range) int { return cmp.Or(cmp.Compare(a.Addr, b.Addr), cmp.Compare(a.Off, b.Off)) })
	kept := ranges[:0]
	for _, r := range ranges {
		if n := len(kept); n > 0 && kept[n-1].contains(r.Addr) {
			continue
		}
		kept = append(kept, r)
	}
	m = Memory{ranges: kept, src: src}
	m.data, _ = bin.Whole(src)
	return m, len(ranges) - len(kept)
}

// Ranges returns the ranges in the order of addresses. They do not overlap.
func (m *Memory) Ranges() []Range { return m.ranges }

// find returns the index of the first range that ends after addr.
func (m *Memory) find(addr uint64) int {
	return sort.Search(len(m.ranges), func(i int) bool {
		r := &m.ranges[i]
		return r.Addr+(r.Size-1) >= addr
	})
}

// Region returns the range that contains addr.
func (m *Memory) Region(addr uint64) (Range, bool) {
	if i := m.find(addr); i < len(m.ranges) && m.ranges[i].contains(addr) {
		return m.ranges[i], true
	}
	return Range{}, false
}

// ReadAt reads stored memory at addr, also across adjacent ranges. It returns the
// number of bytes that it read.
func (m *Memory) ReadAt(dst []byte, addr uint64) int {
	n := 0
	for i := m.find(addr); i < len(m.ranges) && n < len(dst); i++ {
		r, at := &m.ranges[i], addr+uint64(n)
		skip := at - r.Addr
		if at < addr || skip >= r.Stored {
			break
		}
		part := dst[n : n+int(min(uint64(len(dst)-n), r.Stored-skip))]
		off, got := r.Off+int64(skip), 0
		if m.data != nil {
			got = copy(part, m.data[off:])
		} else {
			got, _ = m.src.ReadAt(part, off)
		}
		if n += got; got < len(part) {
			break
		}
	}
	return n
}

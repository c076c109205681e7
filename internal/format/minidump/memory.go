package minidump

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"symbolon/internal/bin"
)

// A Range is a piece of the memory of the process. It may end at the last
// address, so Addr+Size may be 0.
type Range struct {
	Addr, Size uint64
	Off        int64 // in the file
}

func (r *Range) contains(addr uint64) bool { return addr-r.Addr < r.Size }

// last returns the last address.
func (r *Range) last() uint64 { return r.Addr + (r.Size - 1) }

// Memory is a view of all memory in the file.
type Memory struct {
	ranges []Range // sorted, without overlaps
	src    bin.Source
	data   []byte // the file, if it is in memory
}

// newMemory returns a view of ranges. Where ranges overlap, the one that begins
// first counts, and of those that begin together the longest.
func newMemory(src bin.Source, ranges []Range) Memory {
	slices.SortStableFunc(ranges, func(a, b Range) int {
		return cmp.Or(cmp.Compare(a.Addr, b.Addr), cmp.Compare(b.Size, a.Size))
	})
	kept := ranges[:0]
	var last uint64 // address covered so far
	for _, r := range ranges {
		if len(kept) > 0 && r.Addr <= last {
			if r.last() <= last {
				continue
			}
			covered := last + 1 - r.Addr
			r = Range{r.Addr + covered, r.Size - covered, r.Off + int64(covered)}
		}
		kept, last = append(kept, r), r.last()
	}
	m := Memory{ranges: slices.Clip(kept), src: src}
	m.data, _ = bin.Whole(src)
	return m
}

// Ranges returns the ranges in the order of addresses. They do not overlap.
func (m *Memory) Ranges() []Range { return m.ranges }

// find returns the index of the first range that ends after addr.
func (m *Memory) find(addr uint64) int {
	return sort.Search(len(m.ranges), func(i int) bool {
		return m.ranges[i].last() >= addr
	})
}

// Region returns the range that contains addr.
func (m *Memory) Region(addr uint64) (Range, bool) {
	if i := m.find(addr); i < len(m.ranges) && m.ranges[i].contains(addr) {
		return m.ranges[i], true
	}
	return Range{}, false
}

// ReadAt reads memory at addr, also across adjacent ranges. It returns the number
// of bytes that it read.
func (m *Memory) ReadAt(dst []byte, addr uint64) int {
	n := 0
	for i := m.find(addr); i < len(m.ranges) && n < len(dst); i++ {
		r, at := &m.ranges[i], addr+uint64(n)
		if at < addr || !r.contains(at) {
			break
		}
		off := r.Off + int64(at-r.Addr)
		part := dst[n : n+int(min(uint64(len(dst)-n), r.Size-(at-r.Addr)))]
		if m.data != nil {
			n += copy(part, m.data[off:])
			continue
		}
		got, _ := m.src.ReadAt(part, off)
		n += got
		if got < len(part) {
			break
		}
	}
	return n
}

// isRange reports whether r is not empty and does not exceed the file or the
// addresses.
func (r *reader) isRange(x Range) bool {
	return r.contains(Location{x.Off, int64(x.Size)}) && x.last() >= x.Addr
}

// memoryList reads a list of ranges. Those without content are skipped.
func (r *reader) memoryList(l Location) (ranges []Range, err error) {
	err = r.list(l, 16, maxRanges, func(c *bin.Cursor) {
		x := r.readRange(c)
		switch {
		case r.isRange(x):
			ranges = append(ranges, x)
		case x.Off != 0 && x.Size != 0:
			r.problem("memory list", x.Off, "%d bytes for address %#x exceed the file or the addresses", x.Size, x.Addr)
		}
	})
	return ranges, err
}

func (r *reader) readRange(c *bin.Cursor) Range {
	addr := r.sys.address(c.U64())
	l := location(c)
	return Range{addr, uint64(l.Size), l.Off}
}

// memory64List reads a list of ranges whose content is consecutive. Bytes beyond the
// end of the file are left out.
func (r *reader) memory64List(l Location) (ranges []Range, err error) {
	c, err := r.fixed(l, 16)
	if err != nil {
		return nil, err
	}
	count, at := c.U64(), c.U64()
	end := uint64(r.src.Size())
	if count > uint64(l.Size-16)/16 || at > end {
		return nil, fmt.Errorf("%d ranges at offset %#x do not fit a list of %d bytes", count, at, l.Size)
	}
	err = r.entries(l.Off+16, 16, count, maxRanges, func(c *bin.Cursor) {
		x := Range{r.sys.address(c.U64()), c.U64(), int64(at)}
		if x.Size > end-at {
			r.problem("memory list", x.Off, "%d bytes for address %#x exceed the file", x.Size, x.Addr)
			x.Size = end - at
		}
		at += x.Size
		if r.isRange(x) {
			ranges = append(ranges, x)
		}
	})
	return ranges, err
}

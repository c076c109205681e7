package minidump

import (
	"fmt"

	"symbolon/internal/bin"
)

// isRange reports whether r is not empty and does not exceed the file or the
// addresses.
func (r *reader) isRange(x bin.Range) bool {
	size := r.src.Size()
	return x.Off > 0 && x.Size > 0 && x.Off < size && x.Size <= uint64(size-x.Off) && x.Addr+(x.Size-1) >= x.Addr
}

// memoryList reads a list of ranges. Those without content are skipped.
func (r *reader) memoryList(l Location) (ranges []bin.Range, err error) {
	err = r.list(l, 16, maxRanges, func(c *bin.Cursor) {
		x := r.readRange(c)
		switch {
		case r.isRange(x):
			ranges = append(ranges, x)
		case x.Off != 0 && x.Size != 0:
			r.problems.Add("memory list", x.Off, "%d bytes for address %#x exceed the file or the addresses", x.Size, x.Addr)
		}
	})
	return ranges, err
}

func (r *reader) readRange(c *bin.Cursor) bin.Range {
	addr := r.sys.address(c.U64())
	l := location(c)
	return bin.Range{Addr: addr, Size: uint64(l.Size), Stored: uint64(l.Size), Off: l.Off}
}

// memory64List reads a list of ranges whose content is consecutive. Bytes beyond the
// end of the file are left out.
func (r *reader) memory64List(l Location) (ranges []bin.Range, err error) {
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
		x := bin.Range{Addr: r.sys.address(c.U64()), Size: c.U64(), Off: int64(at)}
		if x.Size > end-at {
			r.problems.Add("memory list", x.Off, "%d bytes for address %#x exceed the file", x.Size, x.Addr)
			x.Size = end - at
		}
		x.Stored = x.Size
		at += x.Size
		if r.isRange(x) {
			ranges = append(ranges, x)
		}
	})
	return ranges, err
}

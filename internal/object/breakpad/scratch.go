package breakpad

import (
	"cmp"
	"slices"
	"sync"

	"symbolon/internal/bin"
	"symbolon/internal/format/breakpad"
	"symbolon/internal/object"
	"symbolon/internal/sym"
)

// scratch is memory that is used again.
type scratch struct {
	buf          []byte
	fn           breakpad.Func
	nest         nest
	keys         []key
	order, spare []place
	slots        []int32           // key at each address
	taken        []uint64          // bits: there is one
	of           *file             // whose functions are kept
	kept         [maxKept]resolved // the latest first
}

// scratches is unused memory. All files share it: a request goes
// through its modules one after the other.
var scratches = sync.Pool{New: func() any { return new(scratch) }}

// scratch returns memory for work on f. It must be returned to scratches.
func (f *file) scratch() *scratch {
	s := scratches.Get().(*scratch)
	if s.of != f {
		s.of = f
		for i := range s.kept {
			s.kept[i].fn = 0
		}
	}
	return s
}

// read reads n bytes into memory of s, which they may only be used from until
// the next read.
func (s *scratch) read(src bin.Source, off int64, n int) (b []byte, err error) {
	s.buf, err = readInto(s.buf, src, off, n)
	return s.buf, err
}

// readInto reads n bytes into the memory of buf, or into more of it.
func readInto(buf []byte, src bin.Source, off int64, n int) ([]byte, error) {
	buf = slices.Grow(buf[:0], n)[:n]
	if got, err := src.ReadAt(buf, off); got < n {
		return buf, object.ReadFault(off, err)
	}
	return buf, nil
}

// resolved is a FUNC in the words of sym. Its rows extend from its start to its end,
// where there is a hole.
type resolved struct {
	block sym.Block
	weak  bool // no line record begins where the FUNC does: its first row is the mere entry
	fn    int  // index of the FUNC, plus 1; 0: nothing
}

// rank returns the rank of row i among the keys at its address.
func (r *resolved) rank(i int) uint8 {
	switch {
	case r.block.Rows[i].Node < 0:
		return rankHole
	case i == 0 && r.weak:
		return rankEntry
	}
	return rankLine
}

// key is a Row in the making.
type key struct {
	addr uint64
	file sym.Text
	line uint32
	node int32
	rank uint8
}

// Ranks of keys at one address: the highest counts. Of line records the last
// in the file counts, of entries and PUBLICs the first.
const (
	rankHole = iota
	rankPublic
	rankEntry
	rankLine
)

// A claim is a key with all that decides which one counts.
type claim struct {
	addr uint64
	off  int64 // of the FUNC or PUBLIC
	rank uint8
}

// compare returns a positive number if c counts and d does not.
func (c claim) compare(d claim) int {
	if o := cmp.Or(cmp.Compare(c.addr, d.addr), cmp.Compare(c.rank, d.rank)); o != 0 {
		return o
	}
	if c.rank == rankLine {
		return cmp.Compare(c.off, d.off)
	}
	return cmp.Compare(d.off, c.off)
}

// maxKept is how many functions a scratch keeps resolved.
const maxKept = 8

// place is an address, and the index of a key that is there.
type place struct {
	addr  uint64
	index int32
}

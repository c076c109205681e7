package cficache

import (
	"bytes"
	"hash/maphash"

	"symbolon/internal/unwind/rule"
)

// interner numbers rows from one.
type interner struct {
	data    []byte
	ends    []uint32 // of each row in data
	numbers map[string]uint32
	seed    maphash.Seed
	recent  [1 << 12]uint32 // numbers by hash: rows come in clusters
}

// number returns the number of a row.
func (in *interner) number(row rule.Row) uint32 {
	slot := &in.recent[maphash.Bytes(in.seed, row)%uint64(len(in.recent))]
	if n := *slot; n != 0 && bytes.Equal(in.row(n), row) {
		return n
	}
	n, ok := in.numbers[string(row)]
	if !ok {
		in.data = append(in.data, row...)
		in.ends = append(in.ends, uint32(len(in.data)))
		n = uint32(len(in.ends))
		in.numbers[string(row)] = n
	}
	*slot = n
	return n
}

// row returns the row with a number.
func (in *interner) row(n uint32) rule.Row {
	start := uint32(0)
	if n > 1 {
		start = in.ends[n-2]
	}
	return in.data[start:in.ends[n-1]]
}

// held returns the bytes of memory that the rows need: the map has a copy of
// each, and about 48 bytes more.
func (in *interner) held() int64 {
	return int64(cap(in.data)+len(in.data)) + int64(cap(in.ends))*4 + int64(len(in.ends))*48
}

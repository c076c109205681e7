package symcache

import (
	"encoding/binary"
	"math/bits"
)

const (
	// noNode is the node of a hole.
	noNode = 1<<64 - 1
	// usualFile is the file of a row in the usual file of its node.
	usualFile = 1<<64 - 1
)

// group returns the record of a group: a u32 each for the offset of its rows, its
// first node and its first spot, and a u16 for the end of each bucket.
func (t *Table) group(index uint64) *group {
	return (*group)(t.groups.b[index*groupStride : (index+1)*groupStride])
}

type group [groupStride]byte

// bucket returns the rows of a bucket, with slack bytes after size. ok is false
// if they exceed the section. A bucket without rows is empty.
func (t *Table) bucket(g *group, bucket uint64) (rows []byte, size uint64, ok bool) {
	le := binary.LittleEndian
	from := uint64(0)
	at := groupEnds + bucket%buckets*2
	if bucket > 0 {
		from = uint64(le.Uint16(g[at-2:]))
	}
	to, start := uint64(le.Uint16(g[at:])), uint64(le.Uint32(g[:]))
	if from > to || start+to > t.rows.count {
		return nil, 0, false
	}
	return t.rows.b[start+from:], to - from, true
}

// rank returns the number of rows of a bucket that start at or before target.
// The first eight bytes are a bit mask of the offsets of rows.
func rank(b []byte, target uint64) uint64 {
	return uint64(bits.OnesCount64(binary.LittleEndian.Uint64(b) & (2<<target - 1)))
}

// bucketBytes returns the size of a bucket with a number of rows.
func bucketBytes(rows, rowBits uint64) uint64 { return bucketHead + (rows*rowBits+7)/8 }

// row returns row k of a bucket.
func (t *Table) row(g *group, b []byte, k uint64) (node, file uint64, line, column uint32) {
	le := binary.LittleEndian
	bit, f := k*t.rowBits, &t.rows.field
	at := bucketHead + bit/8
	v := le.Uint64(b[at:at+8]) >> (bit % 8)
	if v&rowSpot == 0 {
		// A quarter of the values is for nodes before the first one of the
		// group.
		node := le.Uint32(g[4:]) + uint32(f[1].of(v)) - uint32((f[1].mask+1)/4)
		return uint64(node), usualFile, uint32(f[2].of(v)), uint32(f[3].of(v))
	}
	if v = v & (1<<t.rowBits - 1) >> 1; v == 0 {
		return noNode, 0, 0, 0
	}
	return t.spot(uint64(le.Uint32(g[8:])) + v - 1)
}

// spot returns spot i; its node is invalid if i is out of range.
func (t *Table) spot(i uint64) (node, file uint64, line, column uint32) {
	if i >= t.spots.count {
		return 1 << 32, 0, 0, 0
	}
	node, file, l, c, _ := t.spots.read(i)
	return node, file, uint32(l), uint32(c)
}

package symcache

import "encoding/binary"

// spot is what the rows say about an address. line is relative as in state.
type spot struct {
	known    bool // false in a hole
	explicit bool
	line     uint32
	column   uint32
	node     uint64
	file     uint64
}

// A rowReader walks through the rows of a bucket.
type rowReader struct {
	b       []byte // the bucket, and at least slack bytes
	end     int    // of the bucket in b
	i       int    // of the next row in b
	at      uint64 // offset of the last row in the bucket
	columns bool
	spot
}

// broken says that the last row is not whole.
func (r *rowReader) broken() bool { return r.i > r.end }

// Of each kind of row, if all of its numbers have one byte: the bits that tell
// that they have not, how many bytes it has, and where its line is.
var (
	longBits = [4]uint64{rowSame: 0x8000, rowNode: 0x808000, rowFile: 0x80808000}
	rowBytes = [4]int{rowSame: 2, rowNode: 3, rowFile: 4, rowHole: 1}
	lineBit  = [4]uint8{rowNode: 16, rowFile: 24}
)

// read takes in the rows that start at target or before it, so many at most.
func (r *rowReader) read(target uint64, most int) {
	b, i, at := r.b, r.i, r.at
	line, column, node, file := r.line, r.column, r.node, r.file
	known, explicit := r.known, r.explicit
	for ; most > 0 && i < r.end; most-- {
		w := binary.LittleEndian.Uint64(b[i:])
		kind, step := w&3, w>>2&longStep
		next, delta, f, l := i+rowBytes[kind], w>>8&0x7f, w>>16&0x7f, w>>(lineBit[kind]&31)&0x7f
		if step == longStep || w&longBits[kind] != 0 {
			next, step, delta, f, l = longRow(b, i)
		}
		if at+step > target {
			break
		}
		i, at = next, at+step
		delta = delta>>1 ^ -(delta & 1) // zigzag
		switch known = true; kind {
		case rowSame:
			line += uint32(delta)
		case rowNode:
			node, line, explicit = node+delta, uint32(l), false
		case rowFile:
			node, line, explicit, file = node+delta, uint32(l), true, f
		case rowHole:
			known = false
			continue
		}
		if r.columns {
			l, i = uvarint(b, i)
			column = uint32(l)
		}
	}
	r.i, r.at = i, at
	r.spot = spot{known, explicit, line, column, node, file}
}

// longRow is the numbers of any row, without its column.
func longRow(b []byte, i int) (next int, step, delta, file, line uint64) {
	kind, step := b[i]&3, uint64(b[i]>>2)
	next = i + 1
	if step == longStep {
		step, next = uvarint(b, next)
		step += longStep
	}
	if kind != rowHole {
		delta, next = uvarint(b, next)
	}
	if kind == rowFile {
		file, next = uvarint(b, next)
	}
	if kind == rowNode || kind == rowFile {
		line, next = uvarint(b, next)
	}
	return next, step, delta, file, line
}

// uvarint is the number at i, and the place behind it; a place behind the end
// of b if it is not whole or has more than five bytes.
func uvarint(b []byte, i int) (v uint64, next int) {
	for shift := 0; shift < 35 && i < len(b); shift += 7 {
		c := b[i]
		i++
		v |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return v, i
		}
	}
	return 0, len(b) + 1
}

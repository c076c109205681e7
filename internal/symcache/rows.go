package symcache

// spot is what the rows say about an address. line is relative as in state.
type spot struct {
	known    bool // false in a hole
	explicit bool
	line     uint32
	column   uint32
	node     uint64
	file     uint64
}

// A rowReader walks through the rows of a bucket: step goes to the next row,
// apply takes in what it says. A row that cannot be read ends the walk and is
// broken.
type rowReader struct {
	b       []byte
	i       int
	at      uint64 // offset of the row in the bucket
	kind    byte
	columns bool
	broken  bool
	spot
}

func (r *rowReader) step() bool {
	if r.i >= len(r.b) || r.broken {
		return false
	}
	c := r.b[r.i]
	r.i++
	r.kind = c & 3
	step := uint64(c >> 2)
	if step == longStep {
		step += r.uvarint()
	}
	r.at += step
	return !r.broken
}

func (r *rowReader) apply() {
	if r.known = r.kind != rowHole; !r.known {
		return
	}
	v := r.varint()
	if r.kind == rowSame {
		r.line += uint32(v)
	} else {
		r.node += uint64(v)
		if r.explicit = r.kind == rowFile; r.explicit {
			r.file = r.uvarint()
		}
		r.line = uint32(r.uvarint())
	}
	if r.columns {
		r.column = uint32(r.uvarint())
	}
}

// varint is a number in zigzag form.
func (r *rowReader) varint() int64 {
	v := r.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

// uvarint is a number of at most five bytes.
func (r *rowReader) uvarint() uint64 {
	if r.i < len(r.b) && r.b[r.i] < 0x80 {
		r.i++
		return uint64(r.b[r.i-1])
	}
	var v uint64
	for shift := 0; shift < 35 && r.i < len(r.b); shift += 7 {
		c := r.b[r.i]
		r.i++
		v |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return v
		}
	}
	r.broken = true
	return 0
}

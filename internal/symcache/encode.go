package symcache

import (
	"encoding/binary"
	"math"
	"math/bits"

	"symbolon/internal/fault"
)

// An encoder encodes the log as groups, rows and nodes.
type encoder struct {
	log       logReader
	row       width // of a row
	rowBits   uint64
	base      uint64
	origins   []origin
	triples   []triple
	functions []function // in the order of the table
	rank      []uint32   // numbers in functions of those of the log; nil: they are equal
	distance  int64      // limit of the distance to a parent

	groups, rows, nodes *spool
	spots               spool // 4 x u32 each: the bits of a node are not known before the end
	extents             []extent
	count               uint64 // of groups
	spotCount           uint64
	idShift             uint8 // of a record of nodes
	stride              int   // of a record of nodes
	next                int64 // number of the next node
	record              [8]byte

	group     uint64 // the current group, if open
	open      bool
	ends      [buckets]uint16
	bucket    int // the current bucket; earlier ones are complete
	firstNode int64
	firstSpot uint64
	buf       []byte // rows of the group
	starts    uint64 // bit mask of the offsets of rows in the current bucket
	from      int    // offset of the current bucket in buf
	carry     state  // state after the last row
}

const spotBytes = 16

// state is the content of a row.
type state struct {
	known bool // false for a hole
	usual bool // the file is the usual file of the origin
	node  uint32
	place
}

// run encodes the whole log.
func (e *encoder) run() error {
	for {
		row, ok := e.log.next()
		if !ok {
			break
		}
		var s state
		if row.node >= 0 {
			n := &e.log.nodes[row.node]
			if n.final < 0 {
				e.emit(row.node)
			}
			if n.origin < 0 {
				n.origin = int64(e.originOf(n))
			}
			s = state{known: true, usual: row.file == e.origins[n.origin].file, node: uint32(n.final), place: row.place}
		}
		e.add(row.addr-e.base, s)
		e.carry = s
	}
	if e.open {
		e.endGroup()
	}
	if e.log.r.err != nil {
		return e.log.r.err
	}
	if e.rows.size >= math.MaxUint32 || e.next >= math.MaxUint32 {
		return fault.New(fault.Unsupported, "symcache, build", "%d bytes of rows and %d nodes exceed 32 bits", e.rows.size, e.next)
	}
	return nil
}

func (e *encoder) originOf(n *logNode) uint32 {
	if n.parent < 0 {
		return e.functions[e.place(n.id)].origin
	}
	return e.triples[n.id].origin
}

// place returns the number in the table of a function of the log.
func (e *encoder) place(function uint32) uint32 {
	if e.rank != nil {
		return e.rank[function]
	}
	return function
}

// emit writes a node. If the distance to its parent exceeds the limit, it
// writes the parent again, which is cheaper than wider records: see nodeWidth.
// A parent precedes its nodes, so recursion ends, at a depth of MaxDepth.
func (e *encoder) emit(i int32) {
	n := &e.log.nodes[i]
	away, id := int64(0), n.id
	if n.parent < 0 {
		id = e.place(id)
	} else {
		p := &e.log.nodes[n.parent]
		if p.final < 0 || e.next-p.final > e.distance {
			e.emit(n.parent)
		}
		away = e.next - p.final
	}
	binary.LittleEndian.PutUint64(e.record[:], uint64(away)|uint64(id)<<e.idShift)
	e.nodes.Write(e.record[:e.stride])
	n.final = e.next
	e.next++
}

// add writes a row at offset addr of the table. If the row is not at the start
// of its group, a row there repeats the state before it.
func (e *encoder) add(addr uint64, s state) {
	if group := addr >> groupShift; !e.open || group != e.group {
		e.startGroup(group)
		if addr%groupSize != 0 && e.carry.known {
			e.putRow(0, e.carry)
		}
	}
	if bucket := int(addr%groupSize) >> bucketShift; bucket != e.bucket {
		e.endBuckets(bucket)
	}
	e.putRow(addr%bucketSize, s)
}

// startGroup ends the current group and starts another.
func (e *encoder) startGroup(group uint64) {
	if e.open {
		e.endGroup()
	}
	if !e.open || group != e.group+1 {
		e.extents = append(e.extents, extent{group, e.count})
	}
	e.group, e.open, e.bucket = group, true, 0
	e.firstNode, e.firstSpot = e.next, e.spotCount
}

// endBuckets ends the buckets before bucket, which becomes the current one. The rows of
// the current one begin at e.from in buf, in whole words; the number of rows determines
// their size.
func (e *encoder) endBuckets(bucket int) {
	if e.starts != 0 {
		binary.LittleEndian.PutUint64(e.buf[e.from:], e.starts)
		e.buf = e.buf[:e.from+int(bucketBytes(uint64(bits.OnesCount64(e.starts)), e.rowBits))]
		e.starts = 0
	}
	for ; e.bucket < bucket; e.bucket++ {
		e.ends[e.bucket] = uint16(len(e.buf))
	}
}

// endGroup writes the record and the rows of the current group.
func (e *encoder) endGroup() {
	e.endBuckets(buckets)
	le := binary.LittleEndian
	rec := le.AppendUint32(make([]byte, 0, groupStride), uint32(e.rows.size))
	rec = le.AppendUint32(rec, uint32(e.firstNode))
	rec = le.AppendUint32(rec, uint32(e.firstSpot))
	for _, end := range e.ends {
		rec = le.AppendUint16(rec, end)
	}
	e.groups.Write(rec)
	e.rows.Write(e.buf)
	e.buf = e.buf[:0]
	e.count++
}

// putRow writes a row at an offset of the current bucket. Rows are added bit by
// bit to words that are zero: buf grows by zeros.
func (e *encoder) putRow(at uint64, s state) {
	v := uint64(rowSpot)
	node := int64(s.node) - e.firstNode + 1<<e.row[1]/4
	switch {
	case !s.known:
	case s.usual && 0 <= node && node < 1<<e.row[1] && s.line>>e.row[2] == 0 && s.column>>e.row[3] == 0:
		v = uint64(node)<<1 | uint64(s.line)<<(1+e.row[1]) | uint64(s.column)<<(1+e.row[1]+e.row[2])
	default:
		e.putSpot(s)
		v |= (e.spotCount - e.firstSpot) << 1
	}
	if e.starts == 0 {
		e.from = len(e.buf)
	}
	bit := uint64(bits.OnesCount64(e.starts)) * e.rowBits
	e.starts |= 1 << at
	word := e.from + bucketHead + int(bit/8)
	for len(e.buf) < word+8 {
		e.buf = append(e.buf, 0, 0, 0, 0, 0, 0, 0, 0)
	}
	le := binary.LittleEndian
	le.PutUint64(e.buf[word:], le.Uint64(e.buf[word:])|v<<(bit%8))
}

// putSpot writes a spot for a row whose values do not fit.
func (e *encoder) putSpot(s state) {
	b := make([]byte, 0, spotBytes)
	for _, v := range [...]uint32{s.node, s.file, s.line, s.column} {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	e.spots.Write(b)
	e.spotCount++
}

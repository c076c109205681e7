package symcache

import (
	"encoding/binary"
	"math"

	"symbolon/internal/fault"
)

// An encoder turns the log into groups, rows and nodes.
type encoder struct {
	log       logReader
	columns   bool
	base      uint64
	usual     []usual
	triples   []triple
	functions []function // in the order of the table
	rank      []uint32   // where each function of the log is in it; nil: at its number
	distance  int64      // the longest way to a parent

	groups, rows, nodes *spool
	extents             []extent
	count               uint64 // of groups
	idShift             uint8  // of nodes
	stride              int    // of nodes
	next                int64  // number of the next node
	record              [8]byte

	group  uint64 // the group at work, if open
	open   bool
	ends   [buckets]uint16
	bucket int // the bucket at work; buckets before it have ended
	buf    []byte
	first  uint32 // node that the numbers of the group start from
	based  bool   // first is known
	carry  state  // what holds at the end of the last row
	told   state  // what the reader of the bucket knows at this point
	at     uint64 // offset in the bucket of the last row
}

// extent is a run of groups without a gap.
type extent struct{ group, index uint64 }

// state is what a row says. Where told is explicit, line is the line itself,
// else it counts from the lowest line of the origin; zero is no line.
type state struct {
	known    bool // false for a hole
	node     uint32
	explicit bool
	file     uint32
	line     uint32
	column   uint32
}

// state is what a row with this node says.
func (e *encoder) state(node uint32, from uint32, p place) state {
	o := &e.usual[from]
	s := state{known: true, node: node, line: p.line, column: p.column}
	switch {
	case p.file != o.file || p.line != 0 && p.line < o.line:
		s.explicit, s.file = true, p.file
	case p.line != 0:
		s.line = p.line - o.line + 1
	}
	return s
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
			s = e.state(uint32(n.final), uint32(n.origin), row.place)
		}
		e.row(row.addr-e.base, s)
		e.carry = s
	}
	if e.open {
		e.endGroup()
	}
	if e.log.r.err != nil {
		return e.log.r.err
	}
	if e.rows.size >= math.MaxUint32 || e.next >= math.MaxUint32 {
		return fault.New(fault.Unsupported, "symcache, build", "%d bytes of rows, %d nodes", e.rows.size, e.next)
	}
	return nil
}

func (e *encoder) originOf(n *logNode) uint32 {
	if n.parent < 0 {
		return e.functions[e.place(n.id)].origin
	}
	return e.triples[n.id].origin
}

// place is where the table has a function of the log.
func (e *encoder) place(function uint32) uint32 {
	if e.rank != nil {
		return e.rank[function]
	}
	return function
}

// emit writes a node. If its parent is too far behind to be named, the parent
// is written again.
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

// row writes a row that starts at offset addr of the table. What holds at the
// start of its group and of its bucket is said there again, so that each
// bucket can be read by itself.
func (e *encoder) row(addr uint64, s state) {
	group, bucket := addr>>groupShift, int(addr%groupSize)>>bucketShift
	if !e.open || group != e.group {
		e.startGroup(group)
		if addr%groupSize != 0 && e.carry.known {
			e.tell(0, e.carry)
		}
	}
	if bucket != e.bucket {
		e.endBuckets(bucket)
		if addr%bucketSize != 0 && e.carry.known {
			e.tell(0, e.carry)
		}
	}
	e.tell(addr%bucketSize, s)
}

func (e *encoder) startGroup(group uint64) {
	if e.open {
		e.endGroup()
	}
	if !e.open || group != e.group+1 {
		e.extents = append(e.extents, extent{group, e.count})
	}
	e.group, e.open, e.bucket, e.based, e.first = group, true, 0, false, 0
	e.told, e.at = state{}, 0
}

// endBuckets ends the buckets before this one and starts it.
func (e *encoder) endBuckets(bucket int) {
	for ; e.bucket < bucket; e.bucket++ {
		e.ends[e.bucket] = uint16(len(e.buf))
	}
	e.told, e.at = state{node: e.first}, 0
}

func (e *encoder) endGroup() {
	e.endBuckets(buckets)
	var rec [groupStride]byte
	binary.LittleEndian.PutUint32(rec[0:], uint32(e.rows.size))
	binary.LittleEndian.PutUint32(rec[4:], e.first)
	for i, end := range e.ends {
		binary.LittleEndian.PutUint16(rec[8+2*i:], end)
	}
	e.groups.Write(rec[:])
	e.rows.Write(e.buf)
	e.buf = e.buf[:0]
	e.count++
}

// tell writes a row at an offset of the bucket at work.
func (e *encoder) tell(at uint64, s state) {
	if s.known && !e.based {
		e.first, e.based = s.node, true
		e.told.node = s.node
	}
	was := e.told
	kind := byte(rowNode)
	switch {
	case !s.known:
		kind = rowHole
	case was.known && s.node == was.node && s.explicit == was.explicit && s.file == was.file:
		kind = rowSame
	case s.explicit:
		kind = rowFile
	}
	b := e.buf
	if step := at - e.at; step < longStep {
		b = append(b, byte(step)<<2|kind)
	} else {
		b = binary.AppendUvarint(append(b, longStep<<2|kind), step-longStep)
	}
	switch kind {
	case rowSame:
		b = binary.AppendVarint(b, int64(s.line)-int64(was.line))
	case rowNode:
		b = binary.AppendVarint(b, int64(s.node)-int64(was.node))
		b = binary.AppendUvarint(b, uint64(s.line))
	case rowFile:
		b = binary.AppendVarint(b, int64(s.node)-int64(was.node))
		b = binary.AppendUvarint(b, uint64(s.file))
		b = binary.AppendUvarint(b, uint64(s.line))
	}
	if kind != rowHole && e.columns {
		b = binary.AppendUvarint(b, uint64(s.column))
	} else if kind == rowHole {
		s.node = was.node
	}
	e.buf, e.told, e.at = b, s, at
}

package symcache

import "encoding/binary"

// place is a source location.
type place struct{ file, line, column uint32 }

// A logWriter records nodes and rows until the widths of numbers and the usual
// files of origins are known, which their encoding depends on. Addresses, nodes
// and lines are differences, as these mostly fit in one byte.
//
// A record is a row with the nodes that no earlier row needs:
//
//	nodes << 2 | starts a block << 1 | is a hole
//	for each node: distance to its parent, zero for a function; number of its triple or function
//	address less that of the row before
//	unless it is a hole: node less that of the row before, zigzag;
//	  file << 1 | has a column; line less that of the row before, zigzag; the column
type logWriter struct {
	out   spool
	buf   []byte // not yet written to out
	fresh []byte // encoded nodes of the next row
	count uint64 // number of nodes in fresh
	start bool   // the next row starts a block
	nodes int64
	addr  uint64
	node  int64
	line  uint32
}

const (
	logHole  = 1
	logStart = 2
	logShift = 2
	// logMost is the limit of bytes of a node, and of a row without its nodes.
	logMost = 64
)

// addNode adds a node and returns its number.
func (l *logWriter) addNode(away int64, id uint32) int64 {
	l.fresh = binary.AppendUvarint(l.fresh, uint64(away))
	l.fresh = binary.AppendUvarint(l.fresh, uint64(id))
	l.count++
	l.nodes++
	return l.nodes - 1
}

// begin writes the start of the record of a row.
func (l *logWriter) begin(addr uint64, flags uint64) {
	if l.start {
		flags |= logStart
	}
	if len(l.buf) >= chunkSize/2 {
		l.flush()
	}
	b := binary.AppendUvarint(l.buf, l.count<<logShift|flags)
	b = append(b, l.fresh...)
	l.buf = binary.AppendUvarint(b, addr-l.addr)
	l.fresh, l.count, l.start, l.addr = l.fresh[:0], 0, false, addr
}

// flush writes the buffer to out.
func (l *logWriter) flush() {
	l.out.Write(l.buf)
	l.buf = l.buf[:0]
}

// hole adds a row without a node.
func (l *logWriter) hole(addr uint64) { l.begin(addr, logHole) }

// row adds a row.
func (l *logWriter) row(addr uint64, node int64, p place) {
	l.begin(addr, 0)
	b := binary.AppendVarint(l.buf, node-l.node)
	if p.column == 0 {
		b = binary.AppendUvarint(b, uint64(p.file)<<1)
	} else {
		b = binary.AppendUvarint(b, uint64(p.file)<<1|1)
	}
	b = binary.AppendVarint(b, int64(p.line)-int64(l.line))
	if p.column != 0 {
		b = binary.AppendUvarint(b, uint64(p.column))
	}
	l.node, l.line, l.buf = node, p.line, b
}

// A logReader reads the records of a logWriter.
type logReader struct {
	r     *reader
	start int64 // number of the first node of the current block
	nodes []logNode
	all   int64
	addr  uint64
	node  int64
	line  uint32
}

// logNode is a node of the current block.
type logNode struct {
	parent int32 // index in nodes; -1 for a function
	id     uint32
	final  int64 // its number in the table; -1: not written yet
	origin int64 // -1: not computed yet
}

// logRow is a row. node is an index in the nodes of the reader, -1 for a hole.
type logRow struct {
	addr uint64
	node int32
	place
}

// next returns the next row. ok is false at the end and after an error of the
// spool.
func (l *logReader) next() (row logRow, ok bool) {
	c := varints{b: l.r.peek(logMost)}
	if len(c.b) == 0 || l.r.err != nil {
		return row, false
	}
	head := c.u()
	if head&logStart != 0 {
		l.start, l.nodes = l.all, l.nodes[:0]
	}
	for range head >> logShift {
		l.refill(&c)
		away, id := c.u(), c.u()
		n := logNode{parent: -1, id: uint32(id), final: -1, origin: -1}
		if away != 0 {
			n.parent = int32(len(l.nodes) - int(away))
		}
		l.nodes = append(l.nodes, n)
		l.all++
	}
	l.refill(&c)
	l.addr += c.u()
	row = logRow{addr: l.addr, node: -1}
	if head&logHole == 0 {
		l.node += c.s()
		file := c.u()
		l.line += uint32(c.s())
		row.node = int32(l.node - l.start)
		row.place = place{file: uint32(file >> 1), line: l.line}
		if file&1 != 0 {
			row.column = uint32(c.u())
		}
	}
	l.r.skip(c.at)
	return row, l.r.err == nil
}

// refill makes sure that c has the next node or row completely.
func (l *logReader) refill(c *varints) {
	if len(c.b)-c.at < logMost {
		l.r.skip(c.at)
		*c = varints{b: l.r.peek(logMost)}
	}
}

// varints decodes numbers that this process encoded, and so need no checks.
type varints struct {
	b  []byte
	at int
}

func (v *varints) u() uint64 {
	if v.at < len(v.b) && v.b[v.at] < 0x80 {
		v.at++
		return uint64(v.b[v.at-1])
	}
	x, n := binary.Uvarint(v.b[min(v.at, len(v.b)):])
	v.at += max(n, 0)
	return x
}

func (v *varints) s() int64 {
	u := v.u()
	return int64(u>>1) ^ -int64(u&1)
}

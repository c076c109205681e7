package object

import (
	"encoding/binary"

	"symbolon/internal/format/dwarf"
	"symbolon/internal/sym"
)

// chunk is a stretch of addresses of the object that one function, or one
// symbol, claims, and where its code is: its nodes and rows in a few bytes.
type chunk struct {
	start, end uint64
	off, len   uint32 // in the code of the unit; len 0: off is the index of a symbol
	unit       int32
	layer      uint16 // a lower one hides a higher one
}

// beats says whether c hides d where both are: the lower layer, then the one
// that starts last, then the shorter one. Of equal ones that of the first unit
// hides the others, and in a unit, where assemblers write a function for each of
// its names, the last.
func (c *chunk) beats(d *chunk) bool {
	switch {
	case c.layer != d.layer:
		return c.layer < d.layer
	case c.start != d.start:
		return c.start > d.start
	case c.end != d.end:
		return c.end < d.end
	case c.unit != d.unit:
		return c.unit < d.unit
	}
	return c.off > d.off
}

// The code of a chunk is
//
//	uleb  nodes
//	      of the root: its name, zigzag of its entry less start, uleb of its size
//	      of each other node: uleb of how far back its parent is, its name,
//	      uleb of call file, call line and call column
//	      of each row, up to the end: uleb of the address less that of the row
//	      before (of the first: start), of its node, and of its file, zigzag of
//	      the line less that of the row before, uleb of the column
//
// A name is uleb of (place << 5 | kind << 1 | 1 if another number follows: that
// of its file). A file is its number in the line program, plus 1.

// coder writes the code of one chunk. Rows come before all nodes are known.
type coder struct {
	nodes, rows []byte
	numNodes    int
	start       uint64 // of the chunk
	entry       uint64 // of the function
	addr        uint64 // of the last row
	last        codedRow
	any         bool // there is a row
}

type codedRow struct {
	node       int32
	file       uint32 // plus 1
	line, colm uint32
}

func (c *coder) begin(start uint64) {
	*c = coder{nodes: c.nodes[:0], rows: c.rows[:0], start: start, addr: start}
}

func zigzag(v int64) uint64   { return uint64(v<<1 ^ v>>63) }
func unzigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }

func appendName(dst []byte, t sym.Text) []byte {
	kind, file, off := uint64(t)&15, uint64(t)>>4&0xffff, uint64(t)>>20
	v := off<<5 | kind<<1
	if file == 0 {
		return binary.AppendUvarint(dst, v)
	}
	return binary.AppendUvarint(binary.AppendUvarint(dst, v|1), file)
}

// root is the first node of the chunk.
func (c *coder) root(name sym.Text, entry, size uint64) {
	c.nodes = appendName(c.nodes, name)
	c.nodes = binary.AppendUvarint(c.nodes, zigzag(int64(entry-c.start)))
	c.nodes = binary.AppendUvarint(c.nodes, size)
	c.numNodes = 1
}

// call adds the node of a call and tells its number.
func (c *coder) call(parent int32, name sym.Text, at codedRow) int32 {
	n := int32(c.numNodes)
	c.nodes = binary.AppendUvarint(c.nodes, uint64(n-parent))
	c.nodes = appendName(c.nodes, name)
	c.nodes = binary.AppendUvarint(c.nodes, uint64(at.file))
	c.nodes = binary.AppendUvarint(c.nodes, uint64(at.line))
	c.nodes = binary.AppendUvarint(c.nodes, uint64(at.colm))
	c.numNodes++
	return n
}

// row says what holds from addr on. It writes nothing if that held before.
func (c *coder) row(addr uint64, r codedRow) {
	if c.any && r == c.last {
		return
	}
	line := c.last.line
	if !c.any {
		line = 0
	}
	c.rows = binary.AppendUvarint(c.rows, addr-c.addr)
	c.rows = binary.AppendUvarint(c.rows, uint64(r.node))
	c.rows = binary.AppendUvarint(c.rows, uint64(r.file))
	c.rows = binary.AppendUvarint(c.rows, zigzag(int64(r.line)-int64(line)))
	c.rows = binary.AppendUvarint(c.rows, uint64(r.colm))
	c.addr, c.last, c.any = addr, r, true
}

// finish appends the code to dst.
func (c *coder) finish(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(c.numNodes))
	return append(append(dst, c.nodes...), c.rows...)
}

// decoder reads code that a coder has written.
type decoder struct {
	b    []byte
	unit int
	row  sym.Row // the last one
}

func (d *decoder) uleb() uint64 {
	if len(d.b) > 0 && d.b[0] < 0x80 {
		v := d.b[0]
		d.b = d.b[1:]
		return uint64(v)
	}
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.b = nil
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) name() sym.Text {
	v := d.uleb()
	t := v>>5<<20 | v>>1&15
	if v&1 != 0 {
		t |= d.uleb() << 4
	}
	return sym.Text(t)
}

// decoderOf reads the nodes of a chunk into nodes; the rows are left.
func decoderOf(c *chunk, code []byte, nodes []sym.Node) (decoder, []sym.Node) {
	d := decoder{b: code, unit: int(c.unit), row: sym.Row{Addr: c.start}}
	for i := range int(d.uleb()) {
		n := sym.Node{Parent: -1}
		if i == 0 {
			n.Name = d.name()
			n.Entry = c.start + uint64(unzigzag(d.uleb()))
			n.Size = d.uleb()
		} else {
			n.Parent = int32(i) - int32(d.uleb())
			n.Name = d.name()
			n.CallFile = fileText(d.unit, uint32(d.uleb()))
			n.CallLine = uint32(d.uleb())
			n.CallColumn = uint32(d.uleb())
		}
		nodes = append(nodes, n)
	}
	return d, nodes
}

// next reads a row into d.row. It is false at the end.
func (d *decoder) next() bool {
	if len(d.b) == 0 {
		return false
	}
	d.row.Addr += d.uleb()
	d.row.Node = int32(d.uleb())
	d.row.File = fileText(d.unit, uint32(d.uleb()))
	d.row.Line += uint32(unzigzag(d.uleb()))
	d.row.Column = uint32(d.uleb())
	return true
}

// decode makes the block of a chunk.
func decode(b *sym.Block, c *chunk, code []byte) {
	b.Reset()
	var d decoder
	d, b.Nodes = decoderOf(c, code, b.Nodes)
	for d.next() {
		b.Rows = append(b.Rows, d.row)
	}
}

// The kinds of sym.Text of an image: those of dwarf.Name below 8, and ours.
const (
	kindFile   = 8  // unit << 40 | number of the file in it, plus 1, << 4
	kindSymbol = 9  // a name in a symbol table: which table is the file
	kindGoName = 10 // in the function names of a pclntab
	kindLost   = 15 // something that has no name
	kindShift  = 20
	unitShift  = 40
	maxUnits   = 1 << (64 - unitShift)
)

// fileText is the text of a file, given its number plus 1.
func fileText(unit int, file uint32) sym.Text {
	if file == 0 || unit >= maxUnits {
		return 0
	}
	return sym.Text(uint64(unit)<<unitShift | uint64(file)<<4 | kindFile)
}

// nameText is the text of a name that DWARF gives.
func (g *image) nameText(n dwarf.Name) sym.Text {
	if n == 0 {
		return kindLost
	}
	return sym.Text(n) | sym.Text(g.number)<<4
}

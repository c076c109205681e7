package units

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
	lang       sym.Lang
}

// beats reports whether c hides d where they overlap: the lower layer wins, then the one
// that starts last, then the shorter one. Of equal ones the one of the first unit wins,
// and within a unit, where assemblers write a function for each of its names, the last.
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
//	      of each other node: uleb of (how far back its parent is << 1 | 1 if a
//	      byte with its language follows, which else is that of the chunk), its
//	      name, uleb of call file, call line and call column
//	      of each row, up to the end: a byte with what has changed since the row
//	      before (of the first: since no node, file and column) and, above
//	      stepShift, how far its address is from there (of the first: from start);
//	      uleb of what of that did not fit, of its node, of its file and of its
//	      column, each if it has changed, and zigzag of the way to its line
//
// A name is uleb of (place << 5 | kind << 1 | 1 if another number follows: that
// of its file). A file is its number in the line program, plus 1.

// Bits of the fields of a row that have changed, and the address steps that fit
// beside them.
const (
	newNode = 1 << iota
	newFile
	newColumn
	stepShift = iota
	longStep  = 1<<(8-stepShift) - 1
)

// otherLang is set if the language of a node follows.
const otherLang = 1

// Encoder writes the code of one chunk. Rows come before all nodes are known.
type Encoder struct {
	nodes, rows []byte
	numNodes    int
	start       uint64 // of the chunk
	addr        uint64 // of the last row
	last        Row
	any         bool // there is a row
	lang        sym.Lang
}

// Row is a place in the source of a node, or of a call.
type Row struct {
	Node         int32
	File         uint32 // plus 1
	Line, Column uint32
}

// Begin begins the code of a chunk.
func (c *Encoder) Begin(start uint64) {
	*c = Encoder{nodes: c.nodes[:0], rows: c.rows[:0], start: start, addr: start}
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

// Root adds the first node of the chunk.
func (c *Encoder) Root(name sym.Text, lang sym.Lang, entry, size uint64) {
	b := appendName(c.nodes, name)
	b = binary.AppendUvarint(b, zigzag(int64(entry-c.start)))
	c.nodes = binary.AppendUvarint(b, size)
	c.numNodes, c.lang = 1, lang
}

// Call adds the node of a call and returns its number.
func (c *Encoder) Call(parent int32, name sym.Text, lang sym.Lang, at Row) int32 {
	n := int32(c.numNodes)
	back := uint64(n-parent) << 1
	if lang != c.lang {
		back |= otherLang
	}
	b := binary.AppendUvarint(c.nodes, back)
	if lang != c.lang {
		b = append(b, byte(lang))
	}
	b = appendName(b, name)
	b = binary.AppendUvarint(b, uint64(at.File))
	b = binary.AppendUvarint(b, uint64(at.Line))
	c.nodes = binary.AppendUvarint(b, uint64(at.Column))
	c.numNodes++
	return n
}

// Row adds the place of the code from addr on. It writes nothing if that held before.
func (c *Encoder) Row(addr uint64, r Row) {
	if c.any && r == c.last {
		return
	}
	step, was := addr-c.addr, c.last
	head := byte(min(step, longStep)) << stepShift
	if r.Node != was.Node {
		head |= newNode
	}
	if r.File != was.File {
		head |= newFile
	}
	if r.Column != was.Column {
		head |= newColumn
	}
	b := append(c.rows, head)
	if step >= longStep {
		b = binary.AppendUvarint(b, step-longStep)
	}
	if head&newNode != 0 {
		b = binary.AppendUvarint(b, uint64(r.Node))
	}
	if head&newFile != 0 {
		b = binary.AppendUvarint(b, uint64(r.File))
	}
	if head&newColumn != 0 {
		b = binary.AppendUvarint(b, uint64(r.Column))
	}
	c.rows = binary.AppendUvarint(b, zigzag(int64(r.Line)-int64(was.Line)))
	c.addr, c.last, c.any = addr, r, true
}

// finish appends the code to dst.
func (c *Encoder) finish(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(c.numNodes))
	return append(append(dst, c.nodes...), c.rows...)
}

// decoder reads code that a Encoder has written.
type decoder struct {
	b    []byte
	p    int // in b
	unit int
	row  sym.Row // the last one
}

func (d *decoder) uleb() uint64 {
	if p := d.p; p < len(d.b) && d.b[p] < 0x80 {
		d.p++
		return uint64(d.b[p])
	}
	return d.long()
}

func (d *decoder) long() uint64 {
	v, n := binary.Uvarint(d.b[d.p:])
	if n <= 0 { // a scratch file that returns other data than was written
		d.p = len(d.b)
		return 0
	}
	d.p += n
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
		n := sym.Node{Parent: -1, Lang: c.lang}
		if i == 0 {
			n.Name = d.name()
			n.Entry = c.start + uint64(unzigzag(d.uleb()))
			n.Size = d.uleb()
		} else {
			back := d.uleb()
			n.Parent = int32(i) - int32(back>>1)
			if back&otherLang != 0 && d.p < len(d.b) {
				n.Lang = sym.Lang(d.b[d.p])
				d.p++
			}
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
	if d.p >= len(d.b) {
		return false
	}
	head := d.b[d.p]
	d.p++
	step := uint64(head >> stepShift)
	if step == longStep {
		step += d.uleb()
	}
	d.row.Addr += step
	if head&newNode != 0 {
		d.row.Node = int32(d.uleb())
	}
	if head&newFile != 0 {
		d.row.File = fileText(d.unit, uint32(d.uleb()))
	}
	if head&newColumn != 0 {
		d.row.Column = uint32(d.uleb())
	}
	d.row.Line += uint32(unzigzag(d.uleb()))
	return true
}

// decode makes the block of a chunk.
func decode(b *sym.Block, c *chunk, code []byte) {
	b.Reset()
	d, nodes := decoderOf(c, code, b.Nodes)
	rows := b.Rows
	for d.next() {
		rows = append(rows, d.row)
	}
	b.Nodes, b.Rows = nodes, rows
}

// The kinds of sym.Text of an image: those of dwarf.Name below 8, and ours.
const (
	kindFile    = 8  // unit << 40 | number of the file in it, plus 1, << 4
	kindSymbol  = 9  // a name in a symbol table: which table is the file
	kindGoName  = 10 // in the function names of a pclntab
	KindNamed   = 11 // of a source of units: no symbol has a better name
	KindUnnamed = 12 // of a source of units
	KindItem    = 13 // of a source of units
	kindLost    = 15 // something that has no name
	KindShift   = 20
	unitShift   = 40
	maxUnits    = 1 << (64 - unitShift)
)

// fileText returns the text of a file, given its number plus 1.
func fileText(unit int, file uint32) sym.Text {
	if file == 0 || unit >= maxUnits {
		return 0
	}
	return sym.Text(uint64(unit)<<unitShift | uint64(file)<<4 | kindFile)
}

// nameText returns the text of a name in DWARF.
func nameText(number int, n dwarf.Name) sym.Text {
	if n == 0 {
		return kindLost
	}
	return sym.Text(n) | sym.Text(number)<<4
}

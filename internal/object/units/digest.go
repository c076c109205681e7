package units

import (
	"math"

	"symbolon/internal/format/dwarf"
	"symbolon/internal/format/gopcln"
)

// Digest is what one unit says about addresses, in chunks.
type Digest struct {
	Full   bool // lines that only a symbol has are wanted
	unit   int
	chunks []chunk
	code   []byte
}

// Unit returns the number of the unit.
func (d *Digest) Unit() int { return d.unit }

// Layers of a part of the address space: functions hide symbols with lines,
// and these hide those without.
const (
	layerFunc = iota
	layerLines
	layerSymbol
	layersOfPart
)

// MaxParts is the largest number of parts of a Layout.
const MaxParts = math.MaxUint16 / layersOfPart

// Worker is the memory of one goroutine that makes digests.
type Worker struct {
	walker  dwarf.Walker
	program dwarf.Program
	lines   dwarf.Lines
	merger  merger
	body    gopcln.Body
	own     []dwarf.Range // of the functions of the unit
}

// AddFunc adds the code of a function in a range of the file.
func (g *Image) AddFunc(d *Digest, r dwarf.Range, code *Encoder) { g.add(d, r, layerFunc, code) }

// add adds a chunk, given its range in the file.
func (g *Image) add(d *Digest, r dwarf.Range, kind uint16, code *Encoder) {
	base, part, ok := g.Place(r.Start)
	if !ok {
		return
	}
	c := chunk{
		start: r.Start - base, end: r.End - base, off: uint32(len(d.code)), unit: int32(d.unit),
		layer: part*layersOfPart + kind, lang: code.lang,
	}
	if c.end <= c.start {
		return
	}
	d.code = code.finish(d.code)
	c.len = uint32(len(d.code)) - c.off
	d.chunks = append(d.chunks, c)
}

// digest makes the digest of a unit. With full it has also the lines of code that
// belongs to no function of the unit, but to a symbol.
func (g *Image) digest(w *Worker, d *Digest, u int, full bool) {
	*d = Digest{unit: u, chunks: d.chunks[:0], code: d.code[:0], Full: full}
	if in, n := g.linkedUnit(u); in != nil {
		in.digest(w, d, g, n)
		return
	}
	g.main.Digest(w, d, u)
}

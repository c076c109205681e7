package units

import (
	"math"
	"sync"

	"symbolon/internal/format/dwarf"
)

// Digest has the answers of one unit to addresses, in chunks.
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

// AddFunc adds the code of a function, given its range in the file.
func (d *Digest) AddFunc(l *Layout, r dwarf.Range, code *Encoder) { d.add(l, r, layerFunc, code) }

// add adds a chunk, given its range in the file.
func (d *Digest) add(l *Layout, r dwarf.Range, kind uint16, code *Encoder) {
	base, part, ok := l.Place(r.Start)
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

// maxDigests limits the bytes of digests that an image keeps for lookups.
const maxDigests = 16 << 20

// digests are the digests of recently used units.
type digests struct {
	mu    sync.Mutex
	units map[int]*kept
	size  int
	clock uint64
}

// kept is a digest, which does not change any more, with its chunks by start.
type kept struct {
	Digest
	most []uint64 // the greatest end of the chunks up to each
	used uint64
}

package units

import (
	"errors"
	"sync"
	"sync/atomic"

	"symbolon/internal/format/dwarf"
	"symbolon/internal/object"
	"symbolon/internal/sym"
)

// Source is a source of units: the debug information of one kind in a file.
type Source interface {
	NumUnits() int
	// Spans appends where the units have code.
	Spans(spans []Span) []Span
	// Digest adds the functions of a unit to d, and, if d.Full is set, lines that
	// only a symbol has.
	Digest(w *Worker, d *Digest, unit int)
	AppendName(dst []byte, t sym.Text) []byte
	AppendFile(dst []byte, unit int, file uint32) []byte
}

// Binary has the symbols of a file.
type Binary interface {
	EachSymbol(yield func(Symbol))
	// SymbolsAt calls yield with the symbols at an address, and maybe others. It
	// reports whether that is quicker than EachSymbol; if not it yields none.
	SymbolsAt(addr uint64, yield func(Symbol)) (quick bool)
	SymbolName(table uint8, off uint32) []byte
	// SymbolLimit returns where a symbol without size ends at the latest.
	SymbolLimit(addr uint64) uint64
	// SymbolRank returns the rank of a symbol; of those at one address the least
	// counts.
	SymbolRank(s *Symbol) uint8
}

// Renamer returns the names that a tool has replaced by numbers.
type Renamer interface {
	Symbol(name []byte) []byte
	Name(part []byte) []byte
}

// Traits are properties of a format.
type Traits struct {
	Unsized bool // no symbol has a size: one where a function is ends with that
	Renamed bool // functions have the names of their symbols
	Ordered bool // SymbolsAt yields the last symbol before an address too
}

// Image answers addresses from the symbols and the units of a file. It is an
// object.View.
type Image struct {
	Layout
	Found  object.Findings
	Memory int64 // bytes of memory that the sections take

	in     object.Input
	traits Traits
	binary Binary
	main   Source // of the file itself; nil: it has none
	linked []*linked
	number int // of an image that another one was linked from: which one, from 1 on
	hidden Renamer

	once  struct{ symbols, cover, nearest sync.Once }
	scans atomic.Int32
	syms  *symbols
	spans *cover
	roots []root
	cache digests
	paths object.Paths

	branches branches
}

// New returns an image without units.
func New(in object.Input, l Layout, b Binary, t Traits) *Image {
	return &Image{in: in, Layout: l, binary: b, traits: t}
}

// SetUnits sets the source of units of the file.
func (g *Image) SetUnits(s Source) { g.main = s }

// SetBinary sets whose symbols the image has.
func (g *Image) SetBinary(b Binary) { g.binary = b }

// SetHidden sets how hidden names are found.
func (g *Image) SetHidden(r Renamer) { g.hidden = r }

// numMain returns the number of units of the file itself.
func (g *Image) numMain() int {
	if g.main == nil {
		return 0
	}
	return g.main.NumUnits()
}

// numUnits returns the number of all units: those of the file itself come first.
func (g *Image) numUnits() int {
	if last := len(g.linked) - 1; last >= 0 {
		return g.linked[last].first + g.linked[last].image.numUnits()
	}
	return g.numMain()
}

// symbols returns the symbols of code, which are sorted when they are first needed.
func (g *Image) symbols() *symbols {
	g.once.symbols.Do(func() {
		g.syms = &symbols{} // if the file cannot be read
		var list []Symbol
		g.binary.EachSymbol(func(s Symbol) { list = append(list, s) })
		g.syms = newSymbols(list, g.binary)
		g.scans.Store(maxScans)
	})
	return g.syms
}

// workers is memory for digests.
var workers = sync.Pool{New: func() any { return new(Worker) }}

// Code returns nothing: formats without code have none.
func (g *Image) Code(addr, size uint64) []byte { return nil }

// Stretches returns an error: in most formats they are unknown.
func (g *Image) Stretches() (list []object.Stretch, whole bool, err error) {
	return nil, false, errors.ErrUnsupported
}

// Origin returns nothing: most formats do not have origins.
func (g *Image) Origin(string) object.Origin { return object.Origin{} }

// Describe adds the counts, once all was read, and the damage.
func (g *Image) Describe(info *object.Info) int64 {
	g.Found.Describe(info)
	return g.Memory + maxDigests + dwarf.MaxSpelled
}

// HasNativeLines marks the lines as those of machine code.
func (g *Image) HasNativeLines() {}

package units

import (
	"cmp"
	"errors"
	"slices"
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

	first, end int // parts that Lookup answers from

	once  struct{ symbols, cover, nearest sync.Once }
	scans atomic.Int32
	syms  *symbols
	spans *cover
	roots []root
	cache digests
	paths object.Paths

	details details
}

// New returns an image without units.
func New(in object.Input, l Layout, b Binary, t Traits) *Image {
	return &Image{in: in, Layout: l, binary: b, traits: t, end: len(l.Bases)}
}

// Restrict lets Lookup and Line answer only from the part that an address of the file
// is in, if any: the parts of a relocatable file have the same addresses.
func (g *Image) Restrict(addr uint64) {
	_, part, ok := g.Place(addr)
	if g.first, g.end = int(part), int(part)+1; !ok {
		g.end = g.first
	}
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

// HasNativeLines marks the lines as lines of machine code.
func (g *Image) HasNativeLines() {}

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

// covered returns where all units have code. It is made when it is first needed.
func (g *Image) covered() *cover {
	g.once.cover.Do(func() {
		g.spans = &cover{} // if the file cannot be read
		c := &cover{}
		if g.main != nil {
			c.spans = g.main.Spans(nil)
		}
		for _, in := range g.linked {
			c.spans = in.spans(c.spans)
		}
		slices.SortFunc(c.spans, func(a, b Span) int {
			return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Unit, b.Unit))
		})
		var most uint64
		for _, s := range c.spans {
			most = max(most, s.End)
			c.most = append(c.most, most)
		}
		g.spans = c
	})
	return g.spans
}

// unitsAt calls yield with the units that have code at an address.
func (g *Image) unitsAt(addr uint64, yield func(unit int)) {
	if d, ok := g.main.(*DWARF); ok && d.unitsAt(addr, yield) {
		return
	}
	g.covered().at(addr, yield)
}

// linked is an object file from which an image was linked, and which still has the debug
// information of its functions. The image has the addresses that the linker gave them.
type linked struct {
	image *Image
	first int     // its first unit among those of the image
	moved []Moved // by address in the object file
}

// Moved is a function in an object file, and its address in the image.
type Moved struct{ Start, End, To uint64 }

// linkedUnit returns the object file that a unit of the image is of, and the
// number of the unit there.
func (g *Image) linkedUnit(unit int) (*linked, int) {
	if len(g.linked) == 0 || unit < g.linked[0].first {
		return nil, 0
	}
	i, found := slices.BinarySearchFunc(g.linked, unit, func(in *linked, unit int) int { return cmp.Compare(in.first, unit) })
	for found && i+1 < len(g.linked) && g.linked[i+1].first == unit {
		i++ // this one has no units
	}
	if !found {
		i--
	}
	in := g.linked[i]
	if n := unit - in.first; n < in.image.numUnits() {
		return in, n
	}
	return nil, 0
}

// root is a function that Nearest finds.
type root struct {
	entry, size uint64
	name        sym.Text
	lang        sym.Lang
}

// appendName appends a name of the debug information.
func (g *Image) appendName(dst []byte, t sym.Text) []byte {
	const number = 0xffff << 4
	if n := int(t & number >> 4); n > 0 && n <= len(g.linked) {
		return g.linked[n-1].image.appendName(dst, t&^number)
	}
	if g.main == nil {
		return dst
	}
	return g.main.AppendName(dst, t)
}

// appendFile appends the path of a file of a unit.
func (g *Image) appendFile(dst []byte, unit int, file uint32) []byte {
	if in, n := g.linkedUnit(unit); in != nil {
		return in.image.appendFile(dst, n, file)
	}
	if unit >= g.numMain() {
		return dst
	}
	return g.main.AppendFile(dst, unit, file)
}

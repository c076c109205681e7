package object

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"symbolon/internal/format/dwarf"
	"symbolon/internal/format/macho"
	"symbolon/internal/format/pdb"
	"symbolon/internal/sym"
)

// image is a binary whose format keeps symbols, debug information and code
// apart.
type image struct {
	in Input
	// bases are what the addresses of the file have more than those of the
	// object, in each part. There is one part, or one for each section of a
	// relocatable file, where parts says from where to where it is laid.
	bases  []uint64
	parts  []dwarf.Range
	lifted bool   // those of the object are the greater ones: the base is negative
	odd    uint64 // the bit in addresses of functions that says which instruction set they are of

	dwarf        *dwarf.Data
	aranges      []byte // .debug_aranges
	glances      atomic.Int32
	lineSections dwarf.LineSections
	relocatable  bool // address 0 is an address like any other
	golang       *golang
	pdb          *pdb.File // has no other debug information beside it
	eachSymbol   func(yield func(symbol))
	symbolsAt    func(addr uint64, yield func(symbol)) // those at an address, and others; nil: there is no quicker way
	limit        func(addr uint64) uint64              // where a symbol without size ends at the latest
	rank         func(s *symbol) uint8
	scans        atomic.Int32
	names        func(table uint8, off uint32) []byte // of symbols
	plain        func(name []byte) []byte             // takes off what the system adds to names; nil: nothing
	cfi          func(yield func([]byte) error) error // writes the unwind information; nil: there is none
	hidden       *macho.SymbolMap                     // of a binary whose names were hidden
	buildID      []byte
	code         []byte                          // of WebAssembly
	codeAt       func(vaddr, size uint64) []byte // nil: it cannot be told
	stretches    func() ([]Stretch, bool, error) // of code for 32-bit ARM; nil: they cannot be told
	shared       []byte                          // the id by which others refer to it as what they share
	hasSymbols   bool
	unsized      bool // no symbol has a size: one where a function is ends with that
	renamed      bool // functions have the names of their symbols
	needs        []Need
	lineless     atomic.Pointer[map[int]bool] // units whose line program too many others have
	splits       int                          // split files that were supplied
	guests       []*guest
	supplied     []*image // in other files
	number       int      // of a guest: which one it is, from 1 on
	footing      int64    // bytes of memory that the sections take

	once     struct{ symbols, units, cover, nearest sync.Once }
	syms     *symbols
	spans    *cover
	roots    []root
	cache    digests
	found    Findings
	branches branches
	origins  Origins
	paths    Paths
}

// ownUnits are those of DWARF.
func (g *image) ownUnits() int {
	if g.dwarf == nil {
		return 0
	}
	return g.dwarf.NumUnits()
}

// numUnits are those of DWARF, behind them those of a pclntab, and those of
// guests.
func (g *image) numUnits() int {
	if last := len(g.guests) - 1; last >= 0 {
		return g.guests[last].first + g.guests[last].image.numUnits()
	}
	if g.pdb != nil {
		return len(g.pdb.Modules)
	}
	return g.ownUnits() + g.golang.units()
}

// symbols are the symbols of code, sorted when they are first needed.
func (g *image) symbols() *symbols {
	g.once.symbols.Do(func() {
		g.syms = &symbols{} // if the file cannot be read
		var list []symbol
		g.eachSymbol(func(s symbol) { list = append(list, s) })
		g.syms = newSymbols(list, g.limit, g.rank)
		g.scans.Store(maxScans)
	})
	return g.syms
}

// place tells what is to be taken from an address of the file, and which part
// it is in.
func (g *image) place(addr uint64) (base uint64, part uint16, ok bool) {
	if g.parts == nil {
		base = g.bases[0]
		return base, 0, g.lifted || addr >= base
	}
	i := rangeAt(g.parts, addr)
	if i < 0 || addr >= g.parts[i].End {
		return 0, 0, false
	}
	return g.bases[i], uint16(i), true
}

// together says whether two addresses of the file are in one part of the image: a
// symbol may start before that does, or be said to be longer.
func (g *image) together(a, b uint64) bool {
	_, part, ok := g.place(a)
	_, other, also := g.place(b)
	return ok && also && part == other
}

// object is the image as an Object.
func (g *image) object(info Info) *Object {
	if g.hasUnits() {
		info.Features |= HasDebug
	}
	if g.dwarf != nil && g.lineSections.HasSources() {
		info.Features |= HasSources
	}
	if g.golang != nil {
		info.Features |= HasSymbols
	}
	return New(info, g, g.in)
}

// hasUnits says whether there is debug information, be it what several files
// share.
func (g *image) hasUnits() bool {
	for range g.ownUnits() {
		return true
	}
	return false
}

// cut is an address, or the end of the part if that is before it.
func (g *image) cut(addr uint64, part uint16) uint64 {
	if g.parts == nil {
		return addr
	}
	return min(addr, g.parts[part].End)
}

// cover tells which units have code where.
type cover struct {
	spans []unitSpan
	most  []uint64 // the greatest end of spans up to each
	order []int32  // of spans by unit, for a PDB
	first []int32  // where in order those of each unit begin
}

type unitSpan struct {
	start, end uint64
	unit       int32
}

// at calls yield with the units that have code at addr.
func (c *cover) at(addr uint64, yield func(unit int)) {
	i, _ := slices.BinarySearchFunc(c.spans, addr, func(s unitSpan, addr uint64) int {
		if s.start <= addr {
			return -1
		}
		return 1
	})
	for i--; i >= 0 && c.most[i] > addr; i-- {
		if c.spans[i].end > addr {
			yield(int(c.spans[i].unit))
		}
	}
}

// sortByUnit makes ready for of.
func (c *cover) sortByUnit(units int) {
	c.first = make([]int32, units+1)
	for i := range c.spans {
		c.first[c.spans[i].unit+1]++
	}
	for u := range units {
		c.first[u+1] += c.first[u]
	}
	c.order = make([]int32, len(c.spans))
	next := slices.Clone(c.first)
	for i := range c.spans {
		u := c.spans[i].unit
		c.order[next[u]] = int32(i)
		next[u]++
	}
}

// of appends where a unit has code, in order.
func (c *cover) of(dst []dwarf.Range, unit int) []dwarf.Range {
	if unit+1 >= len(c.first) {
		return dst // if the file cannot be read
	}
	for _, i := range c.order[c.first[unit]:c.first[unit+1]] {
		dst = append(dst, dwarf.Range{Start: c.spans[i].start, End: c.spans[i].end})
	}
	return joinRanges(dst)
}

// covered is made when it is first needed. A unit that does not say where its
// code is must be read for that.
func (g *image) covered() *cover {
	g.once.cover.Do(func() {
		g.spans = &cover{} // if the file cannot be read
		c := &cover{}
		var w *worker
		var d digest
		g.readUnits()
		for u := range g.ownUnits() {
			unit := g.dwarf.Unit(u)
			limit := limitOf(unit)
			for _, r := range limit {
				c.spans = append(c.spans, unitSpan{r.Start, r.End, int32(u)})
			}
			if len(limit) > 0 || !hasCode(unit) {
				continue
			}
			if w == nil {
				w = workers.Get().(*worker)
				defer workers.Put(w)
			}
			g.digest(w, &d, u, true)
			var found []dwarf.Range
			for _, k := range d.chunks {
				base := g.bases[k.layer/layersOfPart]
				found = append(found, dwarf.Range{Start: k.start + base, End: k.end + base})
			}
			for _, r := range joinRanges(found) {
				c.spans = append(c.spans, unitSpan{r.Start, r.End, int32(u)})
			}
		}
		c.spans = g.golang.cover(c.spans, g.ownUnits())
		c.spans = g.pdbCover(c.spans)
		for _, in := range g.guests {
			c.spans = in.spans(c.spans)
		}
		slices.SortFunc(c.spans, func(a, b unitSpan) int {
			return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.unit, b.unit))
		})
		var most uint64
		for _, s := range c.spans {
			most = max(most, s.end)
			c.most = append(c.most, most)
		}
		if g.pdb != nil {
			c.sortByUnit(len(g.pdb.Modules))
		}
		g.spans = c
	})
	return g.spans
}

// maxGlances is how many questions are answered before the roots of all units
// are read.
const maxGlances = 8

// unitsAt calls yield with the units that have code at an address. For the first
// questions .debug_aranges tells which roots of units need not be read: one
// address of a kernel takes half of the time so.
func (g *image) unitsAt(addr uint64, yield func(unit int)) {
	if g.aranges != nil && g.parts == nil && g.glances.Load() < maxGlances {
		g.glances.Add(1)
		if units, ok := g.dwarf.UnitsAt(g.aranges, addr); ok {
			found := false
			for _, i := range units {
				u := g.dwarf.Unit(i)
				limit := limitOf(u)
				k := rangeAt(limit, addr)
				in := k >= 0 && limit[k].End > addr
				if in || len(limit) == 0 && hasCode(u) {
					found = found || in
					yield(i)
				}
			}
			if g.tellUnits(); found {
				return
			}
		}
	}
	g.covered().at(addr, yield)
}

// limitOf is where the code of a unit is, nil if that is not known: DWARF 2 has
// no way to name more than one range, and compilers then name only one.
func limitOf(u *dwarf.Unit) []dwarf.Range {
	if u.Version == 2 && len(u.Ranges) == 1 {
		return nil
	}
	return u.Ranges
}

// hasCode says whether a unit can have code.
func hasCode(u *dwarf.Unit) bool { return u.Kind == dwarf.UnitCompile || u.Kind == dwarf.UnitSkeleton }

// workers are those that nobody uses.
var workers = sync.Pool{New: func() any { return new(worker) }}

// rootName is the name of a function: that of the debug information, unless a
// symbol at its entry says more: what kind of copy it is, or, where the debug
// information has no linkage name, the mangled one. In WebAssembly it is that of
// the name section.
// List are the symbols there, and room is memory.
func (g *image) rootName(t sym.Text, list []symbol, room []byte) sym.Text {
	if len(list) == 0 || g.pdb != nil && uint64(t)&15 != kindBareProc {
		return t
	}
	if g.renamed {
		return list[0].text()
	}
	name := g.AppendText(room[:0], t)
	if len(name) == 0 {
		return list[0].text()
	}
	mangled := isMangled(name)
	best := t
	for i := range list {
		s := list[i].text()
		text := g.AppendText(name[len(name):], s)
		switch {
		case string(text) == string(name):
			return t
		case len(text) > len(name) && text[len(name)] == '.' && string(text[:len(name)]) == string(name):
			if suffix := text[len(name):]; !isPart(suffix) && (g.in.Written || !isNumber(suffix)) {
				best = s
			}
		case best == t && !mangled && isMangled(text) && mangles(text, name), best == t && decorates(text, name):
			best = s
		}
	}
	return best
}

// isMangled says whether a name is one of C++, Rust or Swift as the linker
// sees it.
func isMangled(name []byte) bool {
	for _, prefix := range [...]string{"_Z", "_R", "__Z", "$s", "_$s", "$S", "_$S", "_T0"} {
		if bytes.HasPrefix(name, []byte(prefix)) {
			return true
		}
	}
	return false
}

// isPart says whether a suffix of a name is that of a piece of the function
// (of clang), or of how it is called (of Go), and not of a copy.
func isPart(suffix []byte) bool {
	return bytes.HasPrefix(suffix, []byte(".__part.")) || bytes.HasPrefix(suffix, []byte(".abi"))
}

// isNumber says whether a suffix is a number alone. Compilers add one to make
// names differ that the source does not tell apart.
func isNumber(suffix []byte) bool {
	return len(bytes.Trim(suffix, ".0123456789")) == 0
}

// mangles says whether a mangled name can be that of a plain one: it holds its
// last part, unless that is an operator.
func mangles(mangled, name []byte) bool {
	if i := bytes.IndexByte(name, '<'); i > 0 {
		name = name[:i]
	}
	if i := bytes.LastIndex(name, []byte("::")); i >= 0 {
		name = name[i+2:]
	}
	if bytes.HasPrefix(name, []byte("operator")) {
		return true // which has no name when it is mangled
	}
	name = bytes.TrimPrefix(name, []byte("~"))
	for {
		at := bytes.Index(mangled, name)
		if at < 0 || len(name) == 0 {
			return false
		}
		// Its length stands before it, in Rust sometimes with a line between.
		before := bytes.TrimSuffix(mangled[:at], []byte("_"))
		if bytes.HasSuffix(before, strconv.AppendInt(nil, int64(len(name)), 10)) {
			return true
		}
		mangled = mangled[at+1:]
	}
}

// Code returns what the file has of size bytes of code at an address.
func (g *image) Code(addr, size uint64) []byte {
	if g.codeAt == nil {
		return nil
	}
	return g.codeAt(addr+g.bases[0], size)
}

// Stretches returns the instruction sets of code for 32-bit ARM.
func (g *image) Stretches() (list []Stretch, whole bool, err error) {
	if g.stretches == nil {
		return nil, false, errors.ErrUnsupported
	}
	return g.stretches()
}

// CFI writes the unwind information.
func (g *image) CFI(yield func(records []byte) error) error {
	if g.cfi == nil {
		return nil
	}
	return g.cfi(yield)
}

// Describe adds the damage that is known of the file and of those supplied.
func (g *image) Describe(info *Info) int64 {
	g.found.Describe(info)
	for _, h := range g.supplied {
		var own Info
		h.Describe(&own)
		info.BadRecords += own.BadRecords
		info.Damage = append(info.Damage, own.Damage...)
	}
	return g.footing + maxDigests + dwarf.MaxSpelled
}

// HasNativeLines marks the lines as those of machine code.
func (g *image) HasNativeLines() {}

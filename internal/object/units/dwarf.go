package units

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"

	"symbolon/internal/fault"
	"symbolon/internal/format/dwarf"
	"symbolon/internal/object"
	"symbolon/internal/sym"
)

// DWARF is the Source of the units in DWARF sections.
type DWARF struct {
	Odd        uint64                   // the bit of addresses of functions that names their instruction set
	Undecorate func(name []byte) []byte // removes the prefix that the system adds to names; nil: there is none

	image       *Image
	data        *dwarf.Data
	aranges     []byte // .debug_aranges
	early       atomic.Int32
	lines       dwarf.LineSections
	relocatable bool // address 0 is an address like any other
	once        sync.Once
	lineless    atomic.Pointer[map[int]bool] // units whose line program too many others have
	splits      int                          // attached split files
}

// Indexes of files beside the one that was opened: an alternate file, and split
// files from firstSplit on.
const (
	altIndex   = 1
	firstSplit = 2
	maxIndex   = 1<<16 - 1
)

// NewDWARF opens the units of an image, given its .debug_info and a way to the
// other sections. It returns nil without units.
func NewDWARF(g *Image, s *dwarf.Sections, data func(name string) []byte) *DWARF {
	if len(s.Info) == 0 {
		return nil
	}
	s.Types, s.Abbrev = data("types"), data("abbrev")
	s.Line, s.LineStr, s.Str = data("line"), data("line_str"), data("str")
	s.StrOffsets, s.Addr = data("str_offsets"), data("addr")
	s.Ranges, s.Rnglists = data("ranges"), data("rnglists")
	if s.Split {
		s.CUIndex, s.TUIndex = data("cu_index"), data("tu_index")
	}
	s.Relax, s.Late = g.in.Relax, data
	u := &DWARF{image: g, relocatable: s.Relocatable, aranges: data("aranges")}
	u.lines = dwarf.LineSections{Line: s.Line, LineStr: s.LineStr, Str: s.Str, Order: s.Order}
	u.data = dwarf.Open(*s, g.in.Index)
	u.reportUnits()
	g.SetUnits(u)
	return u
}

// MoveTo moves the units to another image with the same code.
func (u *DWARF) MoveTo(g *Image) *DWARF {
	moved := &DWARF{image: g, data: u.data, relocatable: u.relocatable, aranges: u.aranges, lines: u.lines}
	g.SetUnits(moved)
	return moved
}

// Features returns the features of the units.
func (u *DWARF) Features() (f object.Features) {
	if u.NumUnits() > 0 {
		f |= object.HasDebug
	}
	if u.lines.HasSources() {
		f |= object.HasSources
	}
	return f
}

// Needs returns the split files of the skeletons that have none.
func (u *DWARF) Needs() (needs []object.Need) {
	for _, m := range u.data.Missing() {
		if u := u.data.Unit(m.Unit); len(u.Ranges) == 0 && !u.HasLines {
			continue // a module of clang, which has no code
		}
		needs = append(needs, object.Need{
			Kind: object.NeedSplit, Name: string(m.Name), Dir: string(m.Dir), ID: binary.BigEndian.AppendUint64(nil, m.DwoID),
		})
	}
	return needs
}

// RoleOf returns the role of a needed file beside these units.
func (u *DWARF) RoleOf(kind object.NeedKind) (object.Role, error) {
	role := object.Role{Index: altIndex}
	if kind == object.NeedSplit {
		role = object.Role{Index: firstSplit + u.splits, Split: true}
	}
	if role.Index > maxIndex {
		return object.Role{}, fault.New(fault.Unsupported, "debug file", "it has more than %d files beside it", maxIndex)
	}
	return role, nil
}

// Attach attaches the units in a split file to their skeletons. It reports whether there
// are any.
func (u *DWARF) Attach(split *DWARF) bool {
	if u.data.Attach(split.data) == 0 {
		return false
	}
	u.splits++
	return true
}

// SetAlt sets the file with the debug information that several files share.
func (u *DWARF) SetAlt(alt *DWARF) { u.data.SetAlt(alt.data) }

// NumUnits returns the number of units.
func (u *DWARF) NumUnits() int { return u.data.NumUnits() }

// readUnits reads the roots of all units, if that was not done.
func (u *DWARF) readUnits() {
	u.once.Do(func() {
		u.findSharers(u.data.Units())
		u.reportUnits()
	})
}

// reportUnits adds the damage of the units that were read.
func (u *DWARF) reportUnits() {
	for _, p := range u.data.Problems() {
		u.image.Found.At("damaged units", p.Section, int64(p.Off), p.Reason)
	}
}

// Spans appends where the units have code. A unit that does not tell is read for
// that.
func (u *DWARF) Spans(spans []Span) []Span {
	var w *Worker
	var d Digest
	u.readUnits()
	for i := range u.NumUnits() {
		unit := u.data.Unit(i)
		found := limitOf(unit)
		if len(found) == 0 && hasCode(unit) {
			if w == nil {
				w = workers.Get().(*Worker)
				defer workers.Put(w)
			}
			u.image.digest(w, &d, i, true)
			for _, k := range d.chunks {
				base := u.image.Bases[k.layer/layersOfPart]
				found = append(found, dwarf.Range{Start: k.start + base, End: k.end + base})
			}
			// Between functions, the line program of DWARF 2 has rows as well.
			found = JoinRanges(append(found, unit.Ranges...))
		}
		for _, r := range found {
			spans = append(spans, Span{r.Start, r.End, int32(i)})
		}
	}
	return spans
}

// maxEarly is how many lookups are answered before the roots of all units are
// read.
const maxEarly = 8

// unitsAt calls yield with the units that have code at an address, for the first lookups
// only and if .debug_aranges lists them. So the roots of other units need not be read,
// which halves the time for one address of a kernel.
func (u *DWARF) unitsAt(addr uint64, yield func(unit int)) (found bool) {
	if u.aranges == nil || u.image.Parts != nil || u.early.Load() >= maxEarly {
		return false
	}
	u.early.Add(1)
	units, ok := u.data.UnitsAt(u.aranges, addr)
	if !ok {
		return false
	}
	for _, i := range units {
		unit := u.data.Unit(i)
		limit := limitOf(unit)
		k := rangeAt(limit, addr)
		in := k >= 0 && limit[k].End > addr
		if in || len(limit) == 0 && hasCode(unit) {
			found = found || in
			yield(i)
		}
	}
	u.reportUnits()
	return found
}

// limitOf returns the ranges of the code of a unit, nil if they are unknown: DWARF 2 has
// no way to name more than one range, and compilers then name only one.
func limitOf(u *dwarf.Unit) []dwarf.Range {
	if u.Version == 2 && len(u.Ranges) == 1 {
		return nil
	}
	return u.Ranges
}

// hasCode reports whether a unit can have code.
func hasCode(u *dwarf.Unit) bool { return u.Kind == dwarf.UnitCompile || u.Kind == dwarf.UnitSkeleton }

// Digest adds the functions of a unit.
func (u *DWARF) Digest(w *Worker, d *Digest, number int) {
	unit := u.data.Unit(number)
	u.readLines(w, number)
	if !hasCode(unit) {
		return
	}
	limit := limitOf(unit)
	m := &w.merger
	m.layout, m.number, m.odd = &u.image.Layout, u.image.number, u.Odd
	m.columns, m.version = u.image.in.Columns, unit.Version
	m.lines.reset(&w.lines)
	tree, err := w.walker.Walk(u.data, number)
	if err != nil {
		u.image.Found.Add("damaged units", fmt.Sprintf("unit at %#x: %v", unit.Off, err))
	}
	if tree != nil {
		for i := range tree.Funcs {
			m.function(d, tree, &tree.Funcs[i], limit)
		}
	}
	if d.Full {
		u.addLines(w, d, limit)
	}
}

// AppendName appends a name.
func (u *DWARF) AppendName(dst []byte, t sym.Text) []byte {
	from := len(dst)
	dst = u.data.AppendName(dst, dwarf.Name(t))
	if u.Undecorate != nil {
		dst = append(dst[:from], u.Undecorate(dst[from:])...)
	}
	return dst
}

// maxSharers is how many units with code may have one line program. Producers
// write one for each; a file in which all units name the same large one would
// take forever.
const maxSharers = 16

// findSharers finds the units that do not get their line program.
func (u *DWARF) findSharers(units []dwarf.Unit) {
	sharers, lineless := map[uint64]int{}, map[int]bool{}
	for i := range units {
		unit := &units[i]
		if !unit.HasLines || !hasCode(unit) {
			continue
		}
		if sharers[unit.LineOff]++; sharers[unit.LineOff] > maxSharers {
			lineless[i] = true
			u.image.Found.At("line programs of too many units", ".debug_line", int64(unit.LineOff), "it is the program of more than 16 units")
		}
	}
	u.lineless.Store(&lineless)
}

// readLines runs the line program of a unit.
func (u *DWARF) readLines(w *Worker, number int) {
	unit := u.data.Unit(number)
	w.lines.Reset()
	w.merger.noZero, w.merger.noFiles = unit.Version < 5, !unit.HasLines
	if !unit.HasLines {
		return
	}
	if lineless := u.lineless.Load(); lineless != nil && (*lineless)[number] {
		return
	}
	err := w.program.Read(&u.lines, unit.LineOff)
	w.merger.noZero = w.program.Version < 5
	ran := w.program.Run(&w.lines, dwarf.RunOptions{Columns: u.image.in.Columns, Relocatable: u.relocatable})
	if err = cmp.Or(err, ran); err != nil {
		u.image.Found.Add("damaged line programs", err.Error())
	}
}

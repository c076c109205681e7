package pdb

import (
	"cmp"
	"slices"
	"strings"

	"symbolon/internal/format/dwarf"
	"symbolon/internal/format/pdb"
	"symbolon/internal/object"
	"symbolon/internal/object/units"
	"symbolon/internal/sym"
)

// NumUnits returns the number of modules.
func (f *pdbFile) NumUnits() int { return len(f.pdb.Modules) }

// Spans appends where the modules have code.
func (f *pdbFile) Spans(spans []units.Span) []units.Span { return append(spans, f.cover().spans...) }

// modules are the ranges in which modules have code.
type modules struct {
	spans []units.Span // by address
	order []int32      // of spans by module
	first []int32      // where in order those of each module begin
}

func (f *pdbFile) findCover() *modules {
	m := &modules{spans: f.findSpans()}
	slices.SortFunc(m.spans, func(a, b units.Span) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Unit, b.Unit)) })
	m.sortByModule(f.NumUnits())
	return m
}

// findSpans returns what the modules contributed to the sections. Only where none
// is declared to have contributed anything they are read for that.
func (f *pdbFile) findSpans() (spans []units.Span) {
	f.pdb.Parts(func(p pdb.Part) bool {
		if n := len(spans); n > 0 && spans[n-1].Unit == int32(p.Module) && spans[n-1].End == uint64(p.Start) {
			spans[n-1].End = uint64(p.End)
		} else if p.End > p.Start {
			spans = append(spans, units.Span{Start: uint64(p.Start), End: uint64(p.End), Unit: int32(p.Module)})
		}
		return true
	})
	if len(spans) > 0 {
		return joinSpans(spans)
	}
	w := pdbWorkers.Get().(*pdbWorker)
	defer pdbWorkers.Put(w)
	for u := range f.pdb.Modules {
		_ = f.pdb.Body(u, &w.body) // damage is reported when the code is read
		for i := range w.body.Procs {
			p := &w.body.Procs[i]
			w.ranges = f.pdb.Ranges(w.ranges[:0], p.Section, p.Off, p.Size)
			for _, r := range w.ranges {
				spans = append(spans, units.Span{Start: uint64(r.Start), End: uint64(r.End), Unit: int32(u)})
			}
		}
	}
	return joinSpans(spans)
}

// sortByModule makes ready for rangesOf.
func (m *modules) sortByModule(n int) {
	m.first = make([]int32, n+1)
	for i := range m.spans {
		m.first[m.spans[i].Unit+1]++
	}
	for u := range n {
		m.first[u+1] += m.first[u]
	}
	m.order = make([]int32, len(m.spans))
	next := slices.Clone(m.first)
	for i := range m.spans {
		u := m.spans[i].Unit
		m.order[next[u]] = int32(i)
		next[u]++
	}
}

// rangesOf appends where a module has code, in order.
func (m *modules) rangesOf(dst []dwarf.Range, module int) []dwarf.Range {
	for _, i := range m.order[m.first[module]:m.first[module+1]] {
		dst = append(dst, dwarf.Range{Start: m.spans[i].Start, End: m.spans[i].End})
	}
	return units.JoinRanges(dst)
}

// endAt returns the end of the range that an address is in.
func (m *modules) endAt(addr uint64) (end uint64, ok bool) {
	i, found := slices.BinarySearchFunc(m.spans, addr, func(s units.Span, addr uint64) int { return cmp.Compare(s.Start, addr) })
	if !found {
		i--
	}
	if i < 0 || m.spans[i].End <= addr {
		return 0, false
	}
	return m.spans[i].End, true
}

// joinSpans makes one of those of a unit that overlap or touch, so that an
// address is in one of them at most.
func joinSpans(spans []units.Span) []units.Span {
	apart := true // as nearly always
	for i := 1; i < len(spans) && apart; i++ {
		apart = spans[i-1].End <= spans[i].Start
	}
	if apart {
		return spans
	}
	slices.SortFunc(spans, func(a, b units.Span) int { return cmp.Or(cmp.Compare(a.Unit, b.Unit), cmp.Compare(a.Start, b.Start)) })
	n := 0
	for _, s := range spans {
		if n > 0 && spans[n-1].Unit == s.Unit && s.Start <= spans[n-1].End {
			spans[n-1].End = max(spans[n-1].End, s.End)
			continue
		}
		spans[n] = s
		n++
	}
	return spans[:n]
}

// Digest adds the procedures of a module.
func (f *pdbFile) Digest(_ *units.Worker, d *units.Digest, u int) {
	p := pdbWorkers.Get().(*pdbWorker)
	defer pdbWorkers.Put(p)
	d.Full, p.columns = true, f.in.Columns
	if err := f.pdb.Body(u, &p.body); err != nil {
		f.Found.At("damaged modules", "module "+f.pdb.Modules[u].Name, int64(u), err.Error())
	}
	p.limit = f.cover().rangesOf(p.limit[:0], u)
	p.work = piecesFree + maxPieces*(len(p.body.Lines)+len(p.body.Procs))
	// Of functions that the linker made one of the last counts, but of those
	// without lines the first, if none has lines.
	for i := len(p.body.Procs) - 1; i >= 0; i-- {
		if proc := &p.body.Procs[i]; proc.NumLines == 0 {
			f.addProc(p, d, proc)
		}
	}
	for i := range p.body.Procs {
		if proc := &p.body.Procs[i]; proc.NumLines > 0 {
			f.addProc(p, d, proc)
		}
	}
}

const (
	// maxPieces is into how many pieces a procedure may be torn, on average.
	maxPieces = 16
	// piecesFree may be those of any module, counted with their lines.
	piecesFree = 1 << 20
)

// addProc makes the chunks of a procedure.
func (f *pdbFile) addProc(p *pdbWorker, d *units.Digest, proc *pdb.Proc) {
	p.ranges = f.pdb.Ranges(p.ranges[:0], proc.Section, proc.Off, proc.Size)
	if p.work -= len(p.ranges) * (1 + p.linesOf(proc)); p.work < 0 {
		f.Found.Add("damaged modules", "module "+f.pdb.Modules[d.Unit()].Name+": its procedures are torn into too many pieces")
		return
	}
	for _, r := range p.ranges {
		p.whole = append(p.whole[:0], dwarf.Range{Start: uint64(r.Start), End: uint64(r.End)})
		for _, part := range units.Intersect(p.whole, p.limit) {
			p.begin(proc, proc.Off+r.From+uint32(part.Start)-r.Start, part)
			p.makeCode()
			f.AddFunc(d, part, &p.code)
		}
	}
}

// AppendName appends the name of a procedure or of an inlined function.
func (f *pdbFile) AppendName(dst []byte, t sym.Text) []byte {
	at := int64(t >> units.KindShift)
	switch uint64(t) & 15 {
	case units.KindNamed, units.KindUnnamed:
		return f.pdb.AppendProc(dst, at)
	case units.KindItem:
		return f.pdb.AppendItem(dst, uint32(at))
	}
	return dst
}

// AppendFile appends the path of a source file.
func (f *pdbFile) AppendFile(dst []byte, _ int, file uint32) []byte {
	var room [512]byte
	return f.AppendPath(dst, f.pdb.AppendString(room[:0], file))
}

// Origin returns where a source file is kept.
func (f *pdbFile) Origin(path string) object.Origin { return f.origins.Of(path, f.readOrigins) }

// readOrigins reads the origins of a PDB.
func (f *pdbFile) readOrigins(l *object.Origins) {
	if s := f.pdb.SourceServer(); s != nil {
		l.Server = func(path string) (o object.Origin) {
			if target := s.Target(path); strings.HasPrefix(target, "https://") || strings.HasPrefix(target, "http://") {
				o.URL = target
			}
			o.Path, o.Revision = s.Perforce(path)
			return o
		}
	}
	l.Read(f.sourceLink())
}

// sourceLink is the text of the source link of a PDB, if it has one.
func (f *pdbFile) sourceLink() []byte {
	const most = 16 << 20
	link := f.pdb.Named("sourcelink")
	text, _ := link.Bytes(0, int(min(link.Size(), most)), nil) // without it the links are missing
	return text
}

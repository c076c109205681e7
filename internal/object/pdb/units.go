package pdb

import (
	"sync"

	"symbolon/internal/format/dwarf"
	"symbolon/internal/format/pdb"
	"symbolon/internal/object"
	"symbolon/internal/object/units"
	"symbolon/internal/sym"
)

// Units is the Source of the modules of a PDB, or of the one of an object file
// with CodeView.
type Units struct {
	*units.Image
	pdb     *pdb.File
	columns bool
	cover   func() *modules
}

// NewUnits makes the modules those of an image, and reports their damage there.
func NewUnits(g *units.Image, p *pdb.File, in object.Input) *Units {
	u := &Units{Image: g, pdb: p, columns: in.Columns}
	u.cover = sync.OnceValue(func() *modules { return findModules(p) })
	for _, x := range p.Problems {
		g.Found.At("damaged headers", x.Place, x.Off, x.Reason)
	}
	g.SetUnits(u)
	return u
}

// NumUnits returns the number of modules.
func (u *Units) NumUnits() int { return len(u.pdb.Modules) }

// Spans appends where the modules have code.
func (u *Units) Spans(spans []units.Span) []units.Span { return append(spans, u.cover().spans...) }

// Digest adds the procedures of a module.
func (u *Units) Digest(_ *units.Worker, d *units.Digest, module int) {
	p := pdbWorkers.Get().(*pdbWorker)
	defer pdbWorkers.Put(p)
	d.Full, p.columns = true, u.columns
	if err := u.pdb.Body(module, &p.body); err != nil {
		u.Found.At("damaged modules", "module "+u.pdb.Modules[module].Name, int64(module), err.Error())
	}
	p.limit = u.cover().rangesOf(p.limit[:0], module)
	p.work = piecesFree + maxPieces*(len(p.body.Lines)+len(p.body.Procs))
	// Of functions that the linker made one of the last counts, but of those
	// without lines the first, if none has lines.
	for i := len(p.body.Procs) - 1; i >= 0; i-- {
		if proc := &p.body.Procs[i]; proc.NumLines == 0 {
			u.addProc(p, d, proc)
		}
	}
	for i := range p.body.Procs {
		if proc := &p.body.Procs[i]; proc.NumLines > 0 {
			u.addProc(p, d, proc)
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
func (u *Units) addProc(p *pdbWorker, d *units.Digest, proc *pdb.Proc) {
	p.ranges = u.pdb.Ranges(p.ranges[:0], proc.Section, proc.Off, proc.Size)
	if p.work -= len(p.ranges) * (1 + p.linesOf(proc)); p.work < 0 {
		u.Found.Add("damaged modules", "module "+u.pdb.Modules[d.Unit()].Name+": its procedures are torn into too many pieces")
		return
	}
	for _, r := range p.ranges {
		p.whole = append(p.whole[:0], dwarf.Range{Start: uint64(r.Start), End: uint64(r.End)})
		for _, part := range units.Intersect(p.whole, p.limit) {
			p.begin(proc, proc.Off+r.From+uint32(part.Start)-r.Start, part)
			p.makeCode()
			d.AddFunc(&u.Layout, part, &p.code)
		}
	}
}

// AppendName appends the name of a procedure or of an inlined function.
func (u *Units) AppendName(dst []byte, t sym.Text) []byte {
	at := int64(t >> units.KindShift)
	switch uint64(t) & 15 {
	case units.KindNamed, units.KindUnnamed:
		return u.pdb.AppendProc(dst, at)
	case units.KindItem:
		return u.pdb.AppendItem(dst, uint32(at))
	}
	return dst
}

// AppendFile appends the path of a source file.
func (u *Units) AppendFile(dst []byte, _ int, file uint32) []byte {
	var room [512]byte
	return u.AppendPath(dst, u.pdb.AppendString(room[:0], file))
}

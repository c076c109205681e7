package pdb

import (
	"cmp"
	"slices"
	"sync"

	"symbolon/internal/format/dwarf"
	"symbolon/internal/format/pdb"
	"symbolon/internal/object/units"
	"symbolon/internal/sym"
)

// pdbWorker is memory for the digests of modules of a PDB, and the state for one piece of
// a procedure.
//
// A procedure has lines for its code, and each inlined call has lines for its own code.
// Where they overlap, the lines of the innermost call are used, and those of its caller
// are the call site: the line that covers the start of the line of the call, or the next
// one, as some compilers omit the former.
type pdbWorker struct {
	columns bool
	code    units.Encoder
	body    pdb.Body
	ranges  []pdb.Range
	limit   []dwarf.Range
	whole   []dwarf.Range
	work    int // that is left for pieces of procedures of the module

	proc   *pdb.Proc
	off    uint32 // where in the section the piece begins
	piece  dwarf.Range
	spans  []lineSpan
	open   []lineSpan // those that hold where the work is, the one that counts last
	called []called   // by site of the procedure
}

// lineSpan is where a line counts.
type lineSpan struct {
	start, end uint32
	line       int32
	site       int32 // of the procedure, -1: itself
}

// pdbWorkers is memory for digests.
var pdbWorkers = sync.Pool{New: func() any { return new(pdbWorker) }}

// called is the node of a site, and the position that it was made for.
type called struct{ line, parent, node int32 }

// linesOf returns the number of lines for the code of a procedure.
func (p *pdbWorker) linesOf(proc *pdb.Proc) (n int) {
	n = proc.NumLines
	for i := range p.body.Sites[proc.FirstSite:][:proc.NumSites] {
		n += p.body.Sites[proc.FirstSite+i].NumLines
	}
	return n
}

// begin takes a piece of a procedure that begins at off in its section.
func (p *pdbWorker) begin(proc *pdb.Proc, off uint32, piece dwarf.Range) {
	p.proc, p.off, p.piece = proc, off, piece
	p.spans, p.open, p.called = p.spans[:0], p.open[:0], p.called[:0]
	p.take(proc.FirstLine, proc.NumLines, -1)
	for i := range p.body.Sites[proc.FirstSite:][:proc.NumSites] {
		s := &p.body.Sites[proc.FirstSite+i]
		p.take(s.FirstLine, s.NumLines, int32(i))
		p.called = append(p.called, called{node: -1})
	}
	byStart := func(a, b lineSpan) int { return cmp.Compare(a.start, b.start) }
	if !slices.IsSortedFunc(p.spans, byStart) {
		slices.SortStableFunc(p.spans, byStart)
	}
}

// take takes the lines that reach into the piece.
func (p *pdbWorker) take(first, n int, site int32) {
	end := p.off + uint32(p.piece.End-p.piece.Start)
	for i := first; i < first+n; i++ {
		l := &p.body.Lines[i]
		if s := (lineSpan{max(l.Off, p.off), min(l.End, end), int32(i), site}); s.start < s.end {
			p.spans = append(p.spans, s)
		}
	}
}

// hides reports whether the line of a counts where both do: that of the later site,
// which is not around the other one, then the one that starts last.
func (a lineSpan) hides(b lineSpan) bool {
	return a.site > b.site || a.site == b.site && a.line > b.line
}

// makeCode makes the code of the piece that was begun.
func (p *pdbWorker) makeCode() {
	p.code.Begin(p.piece.Start)
	kind := sym.Text(units.KindUnnamed)
	if p.proc.Typed {
		kind = units.KindNamed
	}
	p.code.Root(sym.Text(p.proc.Record)<<units.KindShift|kind, sym.LangNone, p.piece.Start, p.piece.End-p.piece.Start)
	if len(p.spans) == 0 || p.spans[0].start > p.off {
		p.code.Row(p.piece.Start, units.Row{})
	}
	i, inCall := 0, false
	for pos := p.off; ; {
		for ; i < len(p.spans) && p.spans[i].start <= pos; i++ {
			p.push(p.spans[i])
		}
		for len(p.open) > 0 && p.open[len(p.open)-1].end <= pos {
			p.open = p.open[:len(p.open)-1]
		}
		if len(p.open) == 0 {
			if at := p.piece.Start + uint64(pos-p.off); inCall && at < p.piece.End {
				p.code.Row(at, units.Row{})
				inCall = false
			}
			if i == len(p.spans) {
				return
			}
			pos = p.spans[i].start // a line of the procedure goes on up to there
			continue
		}
		top := p.open[len(p.open)-1]
		l := &p.body.Lines[top.line]
		row := units.Row{Node: p.call(top.site, l.Off), File: l.File, Line: l.Line}
		if p.columns {
			row.Column = uint32(l.Column)
		}
		p.code.Row(p.piece.Start+uint64(pos-p.off), row)
		inCall = top.site >= 0
		pos = top.end
		if i < len(p.spans) {
			pos = min(pos, p.spans[i].start)
		}
	}
}

// maxOpen is how many lines may overlap.
const maxOpen = 1 << 10

// push opens a line.
func (p *pdbWorker) push(s lineSpan) {
	if len(p.open) == maxOpen {
		return
	}
	at := len(p.open)
	for at > 0 && p.open[at-1].hides(s) {
		at--
	}
	p.open = slices.Insert(p.open, at, s)
}

// call returns the node of a site for its line that begins at off. It makes those
// of the calls around it that it needs.
func (p *pdbWorker) call(site int32, off uint32) int32 {
	if site < 0 {
		return 0
	}
	s := &p.body.Sites[p.proc.FirstSite+int(site)]
	around, lines := int32(-1), p.body.Lines[p.proc.FirstLine:][:p.proc.NumLines]
	if s.Parent >= 0 {
		around = s.Parent - int32(p.proc.FirstSite)
		outer := &p.body.Sites[s.Parent]
		lines = p.body.Lines[outer.FirstLine:][:outer.NumLines]
	}
	line := callLine(lines, off)
	if line >= 0 {
		off = lines[line].Off
	}
	parent := p.call(around, off)
	c := &p.called[site]
	if c.node < 0 || c.line != int32(line) || c.parent != parent {
		var at units.Row
		if line >= 0 {
			at = units.Row{File: lines[line].File, Line: lines[line].Line, Column: uint32(lines[line].Column)}
		}
		if !p.columns {
			at.Column = 0
		}
		*c = called{int32(line), parent, p.code.Call(parent, sym.Text(s.Item)<<units.KindShift|units.KindItem, sym.LangNone, at)}
	}
	return c.node
}

// callLine returns the line of the caller that is the call site, given the start of the
// line of the call: the one that covers it, or the next, or else the last, or -1.
func callLine(lines []pdb.Line, off uint32) int {
	i, _ := slices.BinarySearchFunc(lines, off, func(l pdb.Line, off uint32) int {
		if l.End <= off {
			return -1
		}
		return 1
	})
	return min(i, len(lines)-1)
}

package units

import (
	"symbolon/internal/format/dwarf"
	"symbolon/internal/format/gopcln"
	"symbolon/internal/object"
	"symbolon/internal/sym"
)

// Go is the Source of a Go program's function table, for programs without other
// debug information.
type Go struct {
	image *Image
	table *gopcln.Table
}

// NewGo sets a function table as the units of an image.
func NewGo(g *Image, table *gopcln.Table) { g.SetUnits(&Go{g, table}) }

// goBatch is how many functions make a unit.
const goBatch = 64

// NumUnits returns the number of units.
func (t *Go) NumUnits() int { return (t.table.NumFuncs() + goBatch - 1) / goBatch }

// Spans appends where the units have code.
func (t *Go) Spans(spans []Span) []Span {
	for u := range t.NumUnits() {
		last := min((u+1)*goBatch, t.table.NumFuncs()) - 1
		start, end := t.table.Func(u*goBatch).Entry, t.table.Func(last).End
		if start < end {
			spans = append(spans, Span{start, end, int32(u)})
		}
	}
	return spans
}

// AppendName appends the name of a function.
func (t *Go) AppendName(dst []byte, n sym.Text) []byte {
	return append(dst, t.table.Name(uint32(n>>KindShift))...)
}

// AppendFile appends the path of a file.
func (t *Go) AppendFile(dst []byte, _ int, file uint32) []byte {
	return object.ValidTail(object.AppendPath(dst, t.table.File(file)), len(dst))
}

// Digest adds the functions of a unit.
func (t *Go) Digest(w *Worker, d *Digest, u int) {
	d.Full = true
	for i := u * goBatch; i < min((u+1)*goBatch, t.table.NumFuncs()); i++ {
		f := t.table.Func(i)
		if f.Entry >= f.End {
			continue
		}
		if err := t.table.Body(i, &w.body); err != nil {
			t.image.Found.Add("damaged functions", err.Error())
			continue
		}
		rows := w.body.Rows
		for len(rows) > 0 {
			n := 0
			for n < len(rows) && rows[n].Node != gopcln.Hole {
				n++
			}
			end := f.End
			if n < len(rows) {
				end = rows[n].Addr
			}
			if n > 0 {
				goChunk(&w.merger.code, &w.body, f, rows[:n])
				d.AddFunc(&t.image.Layout, dwarf.Range{Start: rows[0].Addr, End: end}, &w.merger.code)
			}
			rows = rows[min(n+1, len(rows)):]
		}
	}
}

// goChunk makes the code of rows that follow one another.
func goChunk(c *Encoder, b *gopcln.Body, f gopcln.Func, rows []gopcln.Row) {
	c.Begin(rows[0].Addr)
	file := func(n uint32) uint32 { return n + 1 } // None becomes 0
	for i, n := range b.Nodes {
		name := sym.Text(uint64(n.Name)<<KindShift | kindGoName)
		if i == 0 {
			c.Root(name, sym.LangGo, f.Entry, f.End-f.Entry)
			continue
		}
		c.Call(n.Parent, name, sym.LangGo, Row{File: file(n.CallFile), Line: n.CallLine})
	}
	for _, r := range rows {
		c.Row(r.Addr, Row{Node: r.Node, File: file(r.File), Line: r.Line})
	}
}

package object

import (
	"math"

	"symbolon/internal/bin"
	"symbolon/internal/format/elf"
	"symbolon/internal/format/gopcln"
	"symbolon/internal/sym"
)

// golang is the function table of a Go program, which is asked where there is
// no other debug information.
type golang struct{ table *gopcln.Table }

// goBatch is how many functions make a unit.
const goBatch = 64

func (t *golang) units() int {
	if t == nil {
		return 0
	}
	return (t.table.NumFuncs() + goBatch - 1) / goBatch
}

// cover appends where the units have code. They are numbered from first on.
func (t *golang) cover(spans []unitSpan, first int) []unitSpan {
	for u := range t.units() {
		last := min((u+1)*goBatch, t.table.NumFuncs()) - 1
		start, end := t.table.Func(u*goBatch).Entry, t.table.Func(last).End
		if start < end {
			spans = append(spans, unitSpan{start, end, int32(first + u)})
		}
	}
	return spans
}

// goDigest makes what a unit of the function table says.
func (g *image) goDigest(w *worker, d *digest, u int) {
	t := g.golang.table
	for i := u * goBatch; i < min((u+1)*goBatch, t.NumFuncs()); i++ {
		f := t.Func(i)
		if f.Entry >= f.End {
			continue
		}
		if err := t.Body(i, &w.body); err != nil {
			g.found.Add("damaged functions", err.Error())
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
				w.merger.goChunk(&w.body, f, rows[:n])
				g.add(d, rows[0].Addr, end, layerFunc, &w.merger.code)
			}
			rows = rows[min(n+1, len(rows)):]
		}
	}
}

// goChunk makes the code of rows that follow one another.
func (m *merger) goChunk(b *gopcln.Body, f gopcln.Func, rows []gopcln.Row) {
	m.code.begin(rows[0].Addr)
	file := func(n uint32) uint32 { return n + 1 } // None becomes 0
	for i, n := range b.Nodes {
		name := sym.Text(uint64(n.Name)<<kindShift | kindGoName)
		if i == 0 {
			m.code.root(name, sym.LangGo, f.Entry, f.End-f.Entry)
			continue
		}
		m.code.call(n.Parent, name, sym.LangGo, codedRow{file: file(n.CallFile), line: n.CallLine})
	}
	for _, r := range rows {
		m.code.row(r.Addr, codedRow{node: r.Node, file: file(r.File), line: r.Line})
	}
}

// openGo looks for the function table of a Go program without other debug
// information.
func (b *elfBinary) openGo() {
	if b.image.dwarf != nil || b.addrs != nil {
		return
	}
	data := b.goTable()
	if data == nil {
		return
	}
	t, err := gopcln.Open(data)
	if err != nil {
		b.image.found.Add("damaged section", err.Error())
		return
	}
	if err := t.Problem(); err != nil {
		b.image.found.Add("damaged section", err.Error())
	}
	t.ReadAt = b.readAt
	for i := range b.f.Sections {
		s := &b.f.Sections[i]
		if s.Name != ".go.module" && s.Name != ".noptrdata" && s.Name != ".data" && s.Name != ".data.rel.ro" {
			continue
		}
		raw, err := b.f.Raw(s)
		if err != nil {
			continue
		}
		if m, ok := t.Module(raw); ok {
			t.Text, t.End, t.GoFunc = b.slot(s, m.Text), b.slot(s, m.End), b.slot(s, m.GoFunc)
			break
		}
	}
	if text := b.f.Section(".text"); text != nil {
		if t.Text == 0 {
			t.Text = text.Addr
		}
		if t.End == 0 || t.End == math.MaxUint64 {
			t.End = text.Addr + text.Size
		}
	}
	b.image.golang = &golang{t}
}

// goTable is the section of the function table, or what is found of it where
// the section has another name.
func (b *elfBinary) goTable() []byte {
	for _, name := range [...]string{".gopclntab", ".data.rel.ro.gopclntab"} {
		if s := b.f.Section(name); s != nil {
			raw, _ := b.f.Raw(s)
			return raw
		}
	}
	if b.f.Section(".note.go.buildid") == nil && b.f.Section(".go.buildinfo") == nil && b.f.GoBuildID() == "" {
		return nil
	}
	for _, name := range [...]string{".data.rel.ro", ".rodata"} {
		s := b.f.Section(name)
		if s == nil {
			continue
		}
		if raw, err := b.f.Raw(s); err == nil {
			if off, ok := gopcln.Find(raw); ok {
				return raw[off:]
			}
		}
	}
	return nil
}

// readAt is n bytes at an address.
func (b *elfBinary) readAt(addr uint64, n int) []byte {
	for i := range b.f.Sections {
		s := &b.f.Sections[i]
		if s.Flags&elf.FlagAlloc == 0 || addr < s.Addr || addr-s.Addr >= s.Size || s.Size-(addr-s.Addr) < uint64(n) {
			continue
		}
		raw, err := b.f.Raw(s)
		if at := addr - s.Addr; err == nil && at+uint64(n) <= uint64(len(raw)) {
			return raw[at : at+uint64(n)]
		}
		return nil
	}
	return nil
}

// slot is an address in a section as the loader leaves it.
func (b *elfBinary) slot(s *elf.Section, at gopcln.Slot) uint64 {
	relocs := b.f.Section(".rela.dyn")
	if relocs == nil || b.f.Class != 64 {
		return at.Value
	}
	raw, err := b.f.Raw(relocs)
	if err != nil {
		return at.Value
	}
	const size = 24
	for c := bin.NewCursor(raw, b.f.Order); c.Len() >= size; {
		off, _, addend := c.U64(), c.U64(), c.U64()
		if off == s.Addr+uint64(at.Off) {
			return addend
		}
	}
	return at.Value
}

func (b *machoBinary) openGo() {
	if b.image.dwarf != nil {
		return
	}
	s := b.f.Section("", "__gopclntab")
	if s == nil {
		return
	}
	data, err := b.f.Data(s)
	if err != nil || data == nil {
		return
	}
	t, err := gopcln.Open(data)
	if err != nil {
		b.image.found.Add("damaged sections", err.Error())
		return
	}
	if text := b.f.Section("__TEXT", "__text"); text != nil {
		t.Text, t.End = text.Addr, text.Addr+text.Size
	}
	b.image.golang = &golang{t}
}

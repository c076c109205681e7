package breakpad

import (
	"symbolon/internal/format/breakpad"
	"symbolon/internal/sym"
)

// text returns the text of a FUNC and its records.
func (f *file) text(s *scratch, fn breakpad.Span) ([]byte, error) {
	if f.whole != nil {
		if end := fn.Off + int64(fn.Len); end <= int64(len(f.whole)) {
			return f.whole[fn.Off:end], nil
		}
	}
	return s.read(f.src, fn.Off, int(fn.Len))
}

// resolve parses the text of a FUNC into r.
func (f *file) resolve(s *scratch, r *resolved, fn breakpad.Span, text []byte, bad *breakpad.Report) {
	r.block.Reset()
	f.ix.ParseFunc(fn, text, &s.fn, bad)
	// The index is right even if the file has changed under our hands.
	s.fn.Addr, s.fn.Size = fn.Addr, fn.Size
	r.block.Nodes = append(r.block.Nodes, sym.Node{
		Parent: -1, Name: textOf(textFunc, fn.Off), Entry: fn.Addr, Size: fn.Size,
	})
	s.keys = s.keys[:0]
	n := &s.nest
	n.reset(&s.fn, fn.End())
	n.takeInlines(bad, fn.Line)
	n.takeLines(f.ix.Old, func(id uint64) sym.Text { return f.fileText(id, fn.Off) })
	for i := range n.calls {
		f.emit(s, &r.block, i, fn.Off)
	}
	s.keys = append(s.keys, key{addr: fn.Addr, rank: rankEntry}, key{addr: fn.End(), node: sym.Hole})
	r.weak = s.fold(&r.block)
}

// fold makes rows of the keys. It reports whether the first row is only the entry.
func (s *scratch) fold(b *sym.Block) (weak bool) {
	s.settle()
	for _, p := range s.order {
		k := &s.keys[p.index]
		b.Rows = append(b.Rows, sym.Row{Addr: k.addr, Node: k.node, File: k.file, Line: k.line})
	}
	return s.keys[s.order[0].index].rank == rankEntry
}

// fileText returns the path for a file id in a FUNC.
func (f *file) fileText(id uint64, before int64) sym.Text {
	ref, ok := f.ix.Files.Find(id, before)
	if !ok {
		return 0
	}
	if _, gone := f.nowhere[ref.Off]; gone {
		return 0
	}
	return textOf(textFile, ref.Off)
}

// originText returns the name for the origin of an INLINE in a FUNC. One that is not
// defined has the empty name.
func (f *file) originText(id uint64, before int64) sym.Text {
	if ref, ok := f.ix.Origins.Find(id, before); ok {
		return textOf(textOrigin, ref.Off)
	}
	return textOf(textEmpty, 0)
}

package object

import (
	"symbolon/internal/format/il2cpp"
	"symbolon/internal/sym"
)

// maxSpelled is how many files of a mapping are cached.
const maxSpelled = 64 << 10

// Mapped returns a copy of the object in which places in generated C++ are replaced
// by those in C#, in frames and inlined calls, where m has them. Functions keep
// their names; columns, which are of C++, are dropped. It returns the object itself
// if that is not Native.
func (o *Object) Mapped(m *il2cpp.Map) *Object {
	if _, ok := o.view.(Native); !ok {
		return o
	}
	return &Object{info: o.info, view: o.view, mapping: m, size: o.size, mapped: o.mapped, relax: o.relax}
}

// mapFrames replaces the places of frames. It returns false if the disk under
// mapped memory fails.
func (o *Object) mapFrames(frames []sym.Frame) (ok bool) {
	defer RecoverFault(new(error))()
	var room [512]byte
	for i := range frames {
		f := &frames[i]
		if f.File != 0 {
			o.mapPlace(o.mapping.Of(CleanPath(o.view.AppendText(room[:0], f.File), 0)), &f.File, &f.Line, &f.Column)
		}
	}
	return true
}

// mapPlace replaces one place in a file of these lines.
func (o *Object) mapPlace(lines il2cpp.Lines, file *sym.Text, line, column *uint32) {
	if n, cs, ok := lines.At(*line); ok {
		*file, *line, *column = sym.Text(n)<<4|TextMapped, cs, 0
	}
}

// mapBlocks replaces the places of blocks on their way to yield.
func (o *Object) mapBlocks(yield func(*sym.Block) error) func(*sym.Block) error {
	known := map[sym.Text]il2cpp.Lines{}
	var path []byte
	of := func(file sym.Text) il2cpp.Lines {
		lines, ok := known[file]
		if !ok && file != 0 {
			if len(known) == maxSpelled {
				clear(known)
			}
			path = CleanPath(o.view.AppendText(path[:0], file), 0)
			lines = o.mapping.Of(path)
			known[file] = lines
		}
		return lines
	}
	replace := func(b *sym.Block) (err error) {
		defer RecoverFault(&err)()
		for i := range b.Rows {
			r := &b.Rows[i]
			o.mapPlace(of(r.File), &r.File, &r.Line, &r.Column)
		}
		for i := range b.Nodes {
			n := &b.Nodes[i]
			o.mapPlace(of(n.CallFile), &n.CallFile, &n.CallLine, &n.CallColumn)
		}
		return nil
	}
	return func(b *sym.Block) error {
		if err := replace(b); err != nil {
			return err
		}
		return yield(b)
	}
}

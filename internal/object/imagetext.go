package object

import (
	"bytes"
	"sync"

	"symbolon/internal/format/dwarf"
	"symbolon/internal/sym"
)

// AppendText appends the string behind t to dst.
func (g *image) AppendText(dst []byte, t sym.Text) []byte {
	from := len(dst)
	switch kind := uint64(t) & 15; {
	case t == 0 || kind == kindLost:
		return dst
	case kind == kindFile:
		return g.appendFile(dst, t)
	case kind == kindSymbol:
		dst = append(dst, g.names(uint8(t>>4), uint32(t>>kindShift))...)
	case kind == kindGoName && g.golang != nil:
		dst = append(dst, g.golang.table.Name(uint32(t>>kindShift))...)
	case g.pdb != nil:
		dst = g.appendPDBName(dst, t)
	case len(g.guests) > 0:
		dst = g.appendGuestName(dst, t)
	case g.dwarf != nil:
		dst = g.dwarf.AppendName(dst, dwarf.Name(t))
		if g.plain != nil {
			dst = append(dst[:from], g.plain(dst[from:])...)
		}
	}
	return ValidTail(g.unhide(dst, from), from)
}

// Source is the content of a file, if the debug information has it.
func (g *image) Source(t sym.Text) (text []byte) {
	unit, file := int(t>>unitShift), uint32(t>>4)-1
	if t&15 != kindFile {
		return nil
	}
	if in, n := g.guestOf(unit); in != nil {
		return in.image.Source(fileText(n, file+1))
	}
	f := filers.Get().(*filer)
	defer filers.Put(f)
	if f.read(g, unit) {
		text = bytes.Clone(f.program.Source(file))
	}
	return text
}

// filer reads the paths of one line program after the other.
type filer struct {
	image   *image
	unit    int
	program dwarf.Program
	dir     []byte
	path    []byte
}

var filers = sync.Pool{New: func() any { return new(filer) }}

// read reads the line program of a unit. It is false if there is none.
func (f *filer) read(g *image, unit int) bool {
	if unit >= g.ownUnits() || !g.dwarf.Unit(unit).HasLines {
		return false
	}
	if f.image != g || f.unit != unit {
		f.image = nil                                                   // if the file cannot be read
		_ = f.program.Read(&g.lineSections, g.dwarf.Unit(unit).LineOff) // has been told when the rows were read
		f.dir = append(f.dir[:0], g.dwarf.UnitText(unit, dwarf.AttrCompDir)...)
		f.image, f.unit = g, unit
	}
	return true
}

// appendFile appends the path of a file of a unit's line program.
func (g *image) appendFile(dst []byte, t sym.Text) []byte {
	unit, file := int(t>>unitShift), uint32(t>>4)-1
	if g.pdb != nil {
		return g.appendPDBFile(dst, file)
	}
	if in, n := g.guestOf(unit); in != nil {
		return in.image.appendFile(dst, fileText(n, file+1))
	}
	if unit >= g.ownUnits() && g.golang != nil {
		return ValidTail(AppendPath(dst, g.golang.table.File(file)), len(dst))
	}
	f := filers.Get().(*filer)
	defer filers.Put(f)
	if !f.read(g, unit) {
		return dst
	}
	return f.appendPath(dst, file)
}

// appendPath appends the path of a file of the program that was read.
func (f *filer) appendPath(dst []byte, file uint32) []byte {
	from := len(dst)
	if f.image.in.Short {
		return ValidTail(f.program.AppendRelative(dst, file), from)
	}
	if f.image.in.Written {
		return ValidTail(f.program.AppendWritten(dst, file, f.dir), from)
	}
	f.path = f.program.AppendPath(f.path[:0], file, f.dir)
	return ValidTail(AppendPath(dst, f.image.unhidePath(f.path)), from)
}

// eachSource gives the files whose content the line programs have. Each program
// is read once: a file in which many units name the same one would take forever.
func (g *image) eachSource(yield func(t sym.Text, path []byte) bool) {
	if g.dwarf == nil || !g.lineSections.HasSources() {
		return
	}
	g.readUnits()
	read := map[uint64]bool{}
	f := filers.Get().(*filer)
	defer filers.Put(f)
	var room []byte
	for u := range g.ownUnits() {
		unit := g.dwarf.Unit(u)
		if !unit.HasLines || read[unit.LineOff] || !f.read(g, u) {
			continue
		}
		read[unit.LineOff] = true
		for i := range f.program.NumFiles() {
			if f.program.Source(uint32(i)) == nil {
				continue
			}
			room = f.appendPath(room[:0], uint32(i))
			if !yield(fileText(u, uint32(i)+1), room) {
				return
			}
		}
	}
}

// SourceByPath returns the content of a file, if it is not too large.
func (g *image) SourceByPath(path string) []byte {
	text := g.Source(g.paths.Find(path, g.eachSource, g.AppendText))
	if len(text) > MaxSource {
		return nil
	}
	return text
}

// Origin returns where a file is kept, which only PDBs tell.
func (g *image) Origin(path string) Origin { return g.origins.Of(path, g.readOrigins) }

package units

import (
	"bytes"
	"sync"

	"symbolon/internal/format/dwarf"
	"symbolon/internal/object"
	"symbolon/internal/sym"
)

// filer reads the paths of one line program after the other.
type filer struct {
	units   *DWARF
	unit    int
	program dwarf.Program
	dir     []byte
	path    []byte
}

var filers = sync.Pool{New: func() any { return new(filer) }}

// read reads the line program of a unit. It is false if the unit has none.
func (f *filer) read(u *DWARF, unit int) bool {
	if unit >= u.NumUnits() || !u.data.Unit(unit).HasLines {
		return false
	}
	if f.units != u || f.unit != unit {
		f.units = nil                                           // if the file cannot be read
		_ = f.program.Read(&u.lines, u.data.Unit(unit).LineOff) // has been told when the rows were read
		f.dir = append(f.dir[:0], u.data.UnitText(unit, dwarf.AttrCompDir)...)
		f.units, f.unit = u, unit
	}
	return true
}

// AppendFile appends the path of a file of a unit's line program.
func (u *DWARF) AppendFile(dst []byte, unit int, file uint32) []byte {
	f := filers.Get().(*filer)
	defer filers.Put(f)
	if !f.read(u, unit) {
		return dst
	}
	return f.appendPath(dst, file)
}

// appendPath appends the path of a file of the program that was read.
func (f *filer) appendPath(dst []byte, file uint32) []byte {
	from := len(dst)
	if f.units.image.in.Short {
		return object.ValidTail(f.program.AppendRelative(dst, file), from)
	}
	if f.units.image.in.Written && f.units.image.in.GNU {
		return object.ValidTail(f.program.AppendGNU(dst, file, f.dir), from)
	}
	if f.units.image.in.Written {
		return object.ValidTail(f.program.AppendWritten(dst, file, f.dir, f.units.image.in.Once), from)
	}
	f.path = f.program.AppendPath(f.path[:0], file, f.dir)
	return object.ValidTail(object.AppendPath(dst, f.units.image.unhidePath(f.path)), from)
}

// source returns the content of a file, if the line program of the unit has it.
func (u *DWARF) source(unit int, file uint32) (text []byte) {
	f := filers.Get().(*filer)
	defer filers.Put(f)
	if f.read(u, unit) {
		text = bytes.Clone(f.program.Source(file))
	}
	return text
}

// eachSource gives the files whose content the line programs have. Each program
// is read once: a file in which many units name the same one would take forever.
func (u *DWARF) eachSource(yield func(t sym.Text, path []byte) bool) {
	if !u.lines.HasSources() {
		return
	}
	u.readUnits()
	read := map[uint64]bool{}
	f := filers.Get().(*filer)
	defer filers.Put(f)
	var room []byte
	for i := range u.NumUnits() {
		unit := u.data.Unit(i)
		if !unit.HasLines || read[unit.LineOff] || !f.read(u, i) {
			continue
		}
		read[unit.LineOff] = true
		for k := range f.program.NumFiles() {
			if f.program.Source(uint32(k)) == nil {
				continue
			}
			room = f.appendPath(room[:0], uint32(k))
			if !yield(fileText(i, uint32(k)+1), room) {
				return
			}
		}
	}
}

package units

import (
	"symbolon/internal/object"
	"symbolon/internal/sym"
)

// AppendText appends the string of t to dst.
func (g *Image) AppendText(dst []byte, t sym.Text) []byte {
	from := len(dst)
	switch kind := uint64(t) & 15; {
	case t == 0 || kind == kindLost:
		return dst
	case kind == kindFile:
		return g.appendFile(dst, int(t>>unitShift), uint32(t>>4)-1)
	case kind == kindSymbol:
		dst = append(dst, g.binary.SymbolName(uint8(t>>4), uint32(t>>KindShift))...)
	default:
		dst = g.appendName(dst, t)
	}
	return object.ValidTail(g.unhide(dst, from), from)
}

// AppendPath appends the displayed form of a path of the file.
func (g *Image) AppendPath(dst, path []byte) []byte {
	from := len(dst)
	if g.in.Written {
		return object.ValidTail(append(dst, path...), from)
	}
	return object.ValidTail(object.AppendPath(dst, path), from)
}

// Source returns the content of a file, if the debug information has it.
func (g *Image) Source(t sym.Text) []byte {
	if t&15 != kindFile {
		return nil
	}
	unit, file := int(t>>unitShift), uint32(t>>4)-1
	if in, n := g.linkedUnit(unit); in != nil {
		return in.image.Source(fileText(n, file+1))
	}
	if d, ok := g.main.(*DWARF); ok {
		return d.source(unit, file)
	}
	return nil
}

// SourceByPath returns the content of a file, if it is not too large.
func (g *Image) SourceByPath(path string) []byte {
	d, ok := g.main.(*DWARF)
	if !ok {
		return nil
	}
	text := g.Source(g.paths.Find(path, d.eachSource, g.AppendText))
	if len(text) > object.MaxSource {
		return nil
	}
	return text
}

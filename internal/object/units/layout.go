package units

import "symbolon/internal/format/dwarf"

// Layout relates the addresses in a file to those of its object.
type Layout struct {
	// Bases are subtracted from the addresses of the file, in each part. There is
	// one part, or one for each section of a relocatable file, and Parts has the
	// ranges that the sections are laid out at.
	Bases  []uint64
	Parts  []dwarf.Range
	Lifted bool // the base is negative: the addresses of the object are the greater ones
}

// Place returns the base of an address of the file, and the part that it is in.
func (l *Layout) Place(addr uint64) (base uint64, part uint16, ok bool) {
	if l.Parts == nil {
		base = l.Bases[0]
		return base, 0, l.Lifted || addr >= base
	}
	i := rangeAt(l.Parts, addr)
	if i < 0 || addr >= l.Parts[i].End {
		return 0, 0, false
	}
	return l.Bases[i], uint16(i), true
}

// together reports whether two addresses of the file are in one part of the image: a
// symbol may start before that does, or be said to be longer.
func (l *Layout) together(a, b uint64) bool {
	_, part, ok := l.Place(a)
	_, other, also := l.Place(b)
	return ok && also && part == other
}

// cut returns an address, or the end of the part if that is before it.
func (l *Layout) cut(addr uint64, part uint16) uint64 {
	if l.Parts == nil {
		return addr
	}
	return min(addr, l.Parts[part].End)
}

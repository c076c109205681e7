package units

import (
	"cmp"
	"slices"

	"symbolon/internal/format/dwarf"
)

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

// isIn reports whether a part contains the address of the file that is place there.
func (l *Layout) isIn(part int, addr, place uint64) bool {
	if l.Parts != nil && (place < l.Parts[part].Start || place >= l.Parts[part].End) {
		return false
	}
	return place < addr == l.Lifted // else it is beyond one of the ends of all addresses
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

// JoinRanges sorts ranges and joins those that touch or overlap.
func JoinRanges(rs []dwarf.Range) []dwarf.Range {
	if len(rs) < 2 {
		return rs
	}
	byStart := func(a, b dwarf.Range) int { return cmp.Compare(a.Start, b.Start) }
	if !slices.IsSortedFunc(rs, byStart) {
		slices.SortFunc(rs, byStart)
	}
	n := 0
	for _, r := range rs[1:] {
		if r.Start <= rs[n].End {
			rs[n].End = max(rs[n].End, r.End)
			continue
		}
		n++
		rs[n] = r
	}
	return rs[:n+1]
}

// Intersect returns the parts of rs that are in a range of limit. Both are sorted and
// joined.
func Intersect(rs, limit []dwarf.Range) []dwarf.Range {
	inside := true
	for _, r := range rs {
		if i := rangeAt(limit, r.Start); i < 0 || limit[i].End < r.End {
			inside = false
			break
		}
	}
	if inside {
		return rs
	}
	var out []dwarf.Range
	for _, r := range rs {
		for i := max(rangeAt(limit, r.Start), 0); i < len(limit) && limit[i].Start < r.End; i++ {
			if part := (dwarf.Range{Start: max(r.Start, limit[i].Start), End: min(r.End, limit[i].End)}); part.Start < part.End {
				out = append(out, part)
			}
		}
	}
	return out
}

// rangeAt returns the last of rs that starts at or before addr, or -1.
func rangeAt(rs []dwarf.Range, addr uint64) int {
	i, found := slices.BinarySearchFunc(rs, addr, func(r dwarf.Range, addr uint64) int {
		return cmp.Compare(r.Start, addr)
	})
	if found {
		return i
	}
	return i - 1
}

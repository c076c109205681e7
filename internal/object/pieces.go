package object

import (
	"cmp"
	"slices"
)

// A Piece is a range of code with unwind information. Ref is the place of that in
// the terms of the format.
type Piece struct {
	Start, End uint64
	Ref        uint64
}

// Pieces finds the piece that has an address. They are in ascending order and do
// not overlap.
type Pieces []Piece

// FirstPieces makes Pieces of a list, which it changes. Where pieces overlap, the
// one that starts first has the code, at equal starts the first in the list.
func FirstPieces(list []Piece) Pieces {
	sortPieces(list)
	kept, end := list[:0], uint64(0)
	for _, p := range list {
		if p.Start = max(p.Start, end); p.Start < p.End {
			kept, end = append(kept, p), p.End
		}
	}
	return Pieces(kept)
}

// LastPieces makes Pieces of a list, which it changes. A piece ends where the next one
// starts; of equal starts the first in the list has the code.
func LastPieces(list []Piece) Pieces {
	sortPieces(list)
	kept := list[:0]
	for _, p := range list {
		n := len(kept)
		if p.Start >= p.End || n > 0 && kept[n-1].Start == p.Start {
			continue
		}
		if n > 0 {
			kept[n-1].End = min(kept[n-1].End, p.Start)
		}
		kept = append(kept, p)
	}
	return Pieces(kept)
}

func sortPieces(list []Piece) {
	byStart := func(a, b Piece) int { return cmp.Compare(a.Start, b.Start) }
	if !slices.IsSortedFunc(list, byStart) {
		slices.SortStableFunc(list, byStart)
	}
}

// At returns the piece that has an address.
func (p Pieces) At(addr uint64) (Piece, bool) {
	i, found := slices.BinarySearchFunc(p, addr, func(p Piece, addr uint64) int { return cmp.Compare(p.Start, addr) })
	if !found {
		i--
	}
	if i < 0 || addr >= p[i].End {
		return Piece{}, false
	}
	return p[i], true
}

package breakpad

import (
	"cmp"
	"slices"
)

// Span is a record that covers addresses, with the records that belong to it.
type Span struct {
	Addr uint64
	Size uint64
	Off  int64  // where its line begins
	Len  uint32 // bytes up to the end of the last record that belongs to it
	Line uint32 // number of its line, counted from 1
}

// End is the first address behind the span, or the last one there is.
func (s Span) End() uint64 {
	if end := s.Addr + s.Size; end >= s.Addr {
		return end
	}
	return 1<<64 - 1
}

// Symbol is the place of a PUBLIC.
type Symbol struct {
	Addr uint64
	Off  int64
}

// Ref is the place of a FILE or INLINE_ORIGIN.
type Ref struct {
	ID  uint64
	Off int64
}

// Refs are sorted by id and place.
type Refs []Ref

// Find is the record that an id means to a record at the offset before: the
// last one above it that defines the id, else the first one below.
func (r Refs) Find(id uint64, before int64) (Ref, bool) {
	// Most files number without gaps, and define before they use.
	if id < uint64(len(r)) && r[id].ID == id && (id+1 == uint64(len(r)) || r[id+1].ID != id) &&
		(id == 0 || r[id-1].ID != id) {
		return r[id], true
	}
	i, _ := slices.BinarySearchFunc(r, Ref{id, before}, compareRef)
	if i > 0 && r[i-1].ID == id {
		return r[i-1], true
	}
	if i < len(r) && r[i].ID == id {
		return r[i], true
	}
	return Ref{}, false
}

func compareRef(a, b Ref) int {
	return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Off, b.Off))
}

// Info is an INFO record.
type Info struct {
	Scope  string // CODE_ID, GENERATOR, URL, ...
	Text   string // the rest of the line
	Header bool   // it stands above the first FILE, FUNC and PUBLIC
}

// Module is the MODULE record.
type Module struct {
	OS, Arch, ID string
	Name         string // Unknown where there is none
}

// Index is where things are in a file. Funcs, Publics, CFI and Win are in the
// order of the file.
type Index struct {
	Size    int64 // bytes of the file
	Module  Module
	Infos   []Info // the first ones
	Funcs   []Span
	Publics []Symbol
	Files   Refs
	Origins Refs
	Vague   []int64 // FILE records, by offset, whose path may be nothing: it ends in no name
	CFI     []Span  // STACK CFI INIT
	Win     []Span  // STACK WIN
	Unwind  int     // how many of both there are
	Old     bool    // the older dialect, in which an INLINE_ORIGIN has a file
	Bad     Report
}

// Footprint is about how many bytes of memory the index takes.
func (x *Index) Footprint() int64 {
	return int64(cap(x.Funcs)+cap(x.CFI)+cap(x.Win))*32 +
		int64(cap(x.Publics)+cap(x.Files)+cap(x.Origins))*16 + 4096
}

// usable tells whether the file says anything.
func (x *Index) usable() bool {
	return len(x.Funcs)+len(x.Publics)+x.Unwind > 0
}

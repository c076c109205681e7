package breakpad

import (
	"cmp"
	"slices"
)

// Span is a record that covers addresses, with the records that belong to it.
type Span struct {
	Addr uint64
	Size uint64
	Off  int64  // offset of its line
	Len  uint32 // bytes up to the end of the last record that belongs to it
	Line uint32 // number of its line, counted from 1
}

// End returns the first address after the span, or the last address on
// overflow.
func (s Span) End() uint64 {
	if end := s.Addr + s.Size; end >= s.Addr {
		return end
	}
	return 1<<64 - 1
}

// Symbol is the position of a PUBLIC.
type Symbol struct {
	Addr uint64
	Off  int64
}

// Ref is the position of a FILE or INLINE_ORIGIN.
type Ref struct {
	ID  uint64
	Off int64
}

// Refs are sorted by id and offset.
type Refs []Ref

// Find returns the definition of id for a record at offset before: the last one
// above it, or else the first one below.
func (r Refs) Find(id uint64, before int64) (Ref, bool) {
	// Most files use consecutive ids, and define before they use.
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
	Header bool   // it precedes the first FILE, FUNC and PUBLIC
}

// Module is the MODULE record.
type Module struct {
	OS, Arch, ID string
	Name         string // Unknown if the record has none
}

// Index has the positions of the records of a file. Funcs, Publics, CFI, Win
// and WinFPO are in the order of the file.
type Index struct {
	Size    int64 // bytes of the file
	Module  Module
	Infos   []Info // the first ones
	Funcs   []Span
	Publics []Symbol
	Files   Refs
	Origins Refs
	Vague   []int64 // offsets of FILE records whose path does not end in a name, in ascending order
	CFI     []Span  // STACK CFI INIT
	Win     []Span  // STACK WIN with a program
	WinFPO  []Span  // STACK WIN without one
	Unwind  int     // number of STACK CFI INIT and STACK WIN records
	Old     bool    // the older dialect, in which an INLINE_ORIGIN has a file
	Bad     Report
}

// Footprint estimates the memory of the index in bytes.
func (x *Index) Footprint() int64 {
	return int64(cap(x.Funcs)+cap(x.CFI)+cap(x.Win)+cap(x.WinFPO))*32 +
		int64(cap(x.Publics)+cap(x.Files)+cap(x.Origins))*16 + 4096
}

// usable reports whether the file has any symbol or unwinding record.
func (x *Index) usable() bool {
	return len(x.Funcs)+len(x.Publics)+x.Unwind > 0
}

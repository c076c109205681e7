package breakpad

import (
	"cmp"
	"slices"
)

// Kind is the kind of a damaged record.
type Kind uint8

const (
	BadModule Kind = iota // a second MODULE
	BadInfo               // INFO
	BadFile               // FILE
	BadOrigin             // INLINE_ORIGIN
	BadFunc               // FUNC
	BadInline             // INLINE
	BadRow                // line record
	BadPublic             // PUBLIC
	BadStack              // STACK
	TooLong               // longer than MaxLine, or too much for one FUNC
	TooDeep               // a FUNC inside too many others, an INLINE inside too many others
	Orphan                // an INLINE, line or STACK CFI record without a parent
	Unknown               // an unknown record
	kinds                 // the number of kinds
)

var kindNames = [kinds]string{
	"MODULE", "INFO", "FILE", "INLINE_ORIGIN", "FUNC", "INLINE", "line", "PUBLIC", "STACK",
	"too long", "too deep", "orphan", "unknown",
}

func (k Kind) String() string { return kindNames[k] }

// maxBad limits the bad records that a Report lists with their lines.
const maxBad = 100

// Bad is a bad record.
type Bad struct {
	Line uint32 // counted from 1
	Kind Kind
}

// Report counts bad records. The zero value is ready to use.
type Report struct {
	Counts [kinds]uint64
	First  []Bad // the first ones of the file, by line
}

// Add counts a record.
func (r *Report) Add(k Kind, line uint32) {
	r.Counts[k]++
	if len(r.First) < maxBad || line < r.First[len(r.First)-1].Line {
		r.keep(Bad{line, k})
	}
}

func (r *Report) keep(b Bad) {
	i, _ := slices.BinarySearchFunc(r.First, b, compareBad)
	if len(r.First) == maxBad {
		r.First = r.First[:maxBad-1]
	}
	r.First = slices.Insert(r.First, i, b)
}

func compareBad(a, b Bad) int {
	return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Kind, b.Kind))
}

// Merge adds the counts of other. The result does not depend on the order in
// which reports are merged.
func (r *Report) Merge(other *Report) {
	for k, n := range other.Counts {
		r.Counts[k] += n
	}
	for _, b := range other.First {
		if len(r.First) < maxBad || compareBad(b, r.First[len(r.First)-1]) < 0 {
			r.keep(b)
		}
	}
}

// Total returns the number of bad records.
func (r *Report) Total() (n uint64) {
	for _, c := range r.Counts {
		n += c
	}
	return n
}

// damaged reports whether a record was damaged, not just unknown or an orphan.
func (r *Report) damaged() bool {
	return r.Total() > r.Counts[Orphan]+r.Counts[Unknown]
}

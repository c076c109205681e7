package pdb

import (
	"cmp"
	"slices"

	"symbolon/internal/format/dwarf"
	"symbolon/internal/format/pdb"
	"symbolon/internal/object/units"
)

// modules are the ranges in which modules have code.
type modules struct {
	spans []units.Span // by address
	order []int32      // of spans by module
	first []int32      // where in order those of each module begin
}

// findModules finds where the modules have code.
func findModules(f *pdb.File) *modules {
	m := &modules{spans: findSpans(f)}
	slices.SortFunc(m.spans, func(a, b units.Span) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Unit, b.Unit)) })
	m.sortByModule(len(f.Modules))
	return m
}

// findSpans returns the contributions of the modules to the sections. Only where none is
// declared to have contributed anything they are read for that.
func findSpans(f *pdb.File) (spans []units.Span) {
	f.Parts(func(p pdb.Part) bool {
		if n := len(spans); n > 0 && spans[n-1].Unit == int32(p.Module) && spans[n-1].End == uint64(p.Start) {
			spans[n-1].End = uint64(p.End)
		} else if p.End > p.Start {
			spans = append(spans, units.Span{Start: uint64(p.Start), End: uint64(p.End), Unit: int32(p.Module)})
		}
		return true
	})
	if len(spans) > 0 {
		return joinSpans(spans)
	}
	w := pdbWorkers.Get().(*pdbWorker)
	defer pdbWorkers.Put(w)
	for u := range f.Modules {
		_ = f.Body(u, &w.body) // damage is reported when the code is read
		for i := range w.body.Procs {
			p := &w.body.Procs[i]
			w.ranges = f.Ranges(w.ranges[:0], p.Section, p.Off, p.Size)
			for _, r := range w.ranges {
				spans = append(spans, units.Span{Start: uint64(r.Start), End: uint64(r.End), Unit: int32(u)})
			}
		}
	}
	return joinSpans(spans)
}

// sortByModule makes ready for rangesOf.
func (m *modules) sortByModule(n int) {
	m.first = make([]int32, n+1)
	for i := range m.spans {
		m.first[m.spans[i].Unit+1]++
	}
	for u := range n {
		m.first[u+1] += m.first[u]
	}
	m.order = make([]int32, len(m.spans))
	next := slices.Clone(m.first)
	for i := range m.spans {
		u := m.spans[i].Unit
		m.order[next[u]] = int32(i)
		next[u]++
	}
}

// rangesOf appends where a module has code, in order.
func (m *modules) rangesOf(dst []dwarf.Range, module int) []dwarf.Range {
	for _, i := range m.order[m.first[module]:m.first[module+1]] {
		dst = append(dst, dwarf.Range{Start: m.spans[i].Start, End: m.spans[i].End})
	}
	return units.JoinRanges(dst)
}

// endAt returns the end of the range that an address is in.
func (m *modules) endAt(addr uint64) (end uint64, ok bool) {
	i, found := slices.BinarySearchFunc(m.spans, addr, func(s units.Span, addr uint64) int { return cmp.Compare(s.Start, addr) })
	if !found {
		i--
	}
	if i < 0 || m.spans[i].End <= addr {
		return 0, false
	}
	return m.spans[i].End, true
}

// joinSpans joins spans of a unit that overlap or touch, so that an address is in at most
// one of them.
func joinSpans(spans []units.Span) []units.Span {
	apart := true // as nearly always
	for i := 1; i < len(spans) && apart; i++ {
		apart = spans[i-1].End <= spans[i].Start
	}
	if apart {
		return spans
	}
	slices.SortFunc(spans, func(a, b units.Span) int { return cmp.Or(cmp.Compare(a.Unit, b.Unit), cmp.Compare(a.Start, b.Start)) })
	n := 0
	for _, s := range spans {
		if n > 0 && spans[n-1].Unit == s.Unit && s.Start <= spans[n-1].End {
			spans[n-1].End = max(spans[n-1].End, s.End)
			continue
		}
		spans[n] = s
		n++
	}
	return spans[:n]
}

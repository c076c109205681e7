package macho

import (
	"cmp"
	"slices"
)

// Label is a function, data or a label of the assembler in the symbol table.
type Label struct {
	Addr, Size uint64
	NameOff    uint32 // for SymbolName, with the underscore of C
}

// Labels returns the labels of all sections by address, those at one address by size. A
// label extends to the next entry of the table, which
// may be one for debuggers, or to the end of its section.
func (f *File) Labels() []Label {
	var labels []Label
	var sections []uint8
	starts := make([][]uint64, len(f.Sections)) // of the entries of a section, and its end
	for i := range f.entries() {
		n := f.entry(i)
		isDebugging := n.kind&symbolStab != 0
		if n.sect == 0 || int(n.sect) > len(f.Sections) || !isDebugging && n.kind&symbolKind != symbolSection {
			continue
		}
		starts[n.sect-1] = append(starts[n.sect-1], n.value)
		if !isDebugging {
			labels, sections = append(labels, Label{Addr: n.value, NameOff: n.name}), append(sections, n.sect)
		}
	}
	for i := range starts {
		s := &f.Sections[i]
		starts[i] = append(starts[i], s.Addr+s.Size)
		slices.Sort(starts[i])
	}
	for i := range labels {
		l, list := &labels[i], starts[sections[i]-1]
		if next, _ := slices.BinarySearchFunc(list, l.Addr, func(start, addr uint64) int { return cmp.Or(cmp.Compare(start, addr), -1) }); next < len(list) {
			l.Size = list[next] - l.Addr
		}
	}
	slices.SortStableFunc(labels, func(a, b Label) int { return cmp.Or(cmp.Compare(a.Addr, b.Addr), cmp.Compare(a.Size, b.Size)) })
	return labels
}

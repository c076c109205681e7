package image

import (
	"fmt"
	"math"

	"symbolon/internal/bin"
	"symbolon/internal/format/dwarf"
	"symbolon/internal/format/pe"
	"symbolon/internal/object"
	"symbolon/internal/object/units"
)

// OpenCOFF opens an object file of Windows, with DWARF or CodeView in it.
func OpenCOFF(src bin.Source, in object.Input) (*object.Object, error) {
	f, err := pe.OpenObject(src)
	if err != nil {
		return nil, err
	}
	b := &peFile{f: f, budget: in.Budget, starts: func() []uint32 { return nil }}
	layout, left := layCode(f)
	b.common = common{Image: units.New(in, layout, b, units.Traits{}), in: in}
	if left > 0 {
		b.Found.Add("sections of code without place", fmt.Sprintf("%d beyond the first %d", left, len(layout.Parts)))
	}
	b.openDWARF()
	for _, p := range f.Problems {
		b.Found.At("damaged headers", p.Place, p.Off, p.Reason)
	}
	if b.budget.Failed != nil {
		return nil, b.budget.Failed
	}
	b.Memory = b.budget.Heap
	info := b.info()
	info.Kind, info.Module.CodeID = "coff", "" // which identifies the linked file
	return object.New(info, b, in), nil
}

// layCode gives the sections of code of an object addresses of their own, which
// are not 0. Each becomes a part of the image. It returns the number of those for
// which there is no place.
func layCode(f *pe.File) (l units.Layout, left int) {
	at := uint64(layGap)
	for i := range f.Sections {
		s := &f.Sections[i]
		if !s.Code() || s.Size == 0 {
			continue
		}
		if len(l.Parts) == units.MaxParts || at+uint64(s.Size) > math.MaxUint32 {
			left++
			continue
		}
		s.Addr = uint32(at)
		end := at + uint64(s.Size)
		l.Bases, l.Parts = append(l.Bases, at), append(l.Parts, dwarf.Range{Start: at, End: end})
		at = (end + layGap) &^ (layGap - 1)
	}
	if len(l.Parts) == 0 {
		l = units.Layout{Bases: []uint64{0}, Parts: []dwarf.Range{{}}}
	}
	return l, left
}

// relocate applies the relocations of a section to its bytes.
func (b *peFile) relocate(s *pe.Section, data []byte) {
	for _, p := range b.f.Relocate(s, data) {
		b.Found.At("damaged relocations", p.Place, p.Off, p.Reason)
	}
}

package image

import (
	"math"
	"slices"
	"strings"

	"symbolon/internal/bin"
	"symbolon/internal/format/dwarf"
	"symbolon/internal/format/pdb"
	"symbolon/internal/format/pe"
	"symbolon/internal/ident"
	"symbolon/internal/object"
	objectpdb "symbolon/internal/object/pdb"
	"symbolon/internal/object/units"
	"symbolon/internal/unpack"
)

// OpenCOFF opens an object file of Windows, with DWARF or CodeView in it.
func OpenCOFF(src bin.Source, in object.Input) (*object.Object, error) {
	f, err := pe.OpenObject(src)
	if err != nil {
		return nil, err
	}
	b := &peFile{f: f, budget: in.Budget, starts: func() []uint32 { return nil }}
	layout, left := layCode(f)
	if i := slices.IndexFunc(f.Sections, func(s pe.Section) bool { return isGCC(s.Name) }); i >= 0 {
		if head, _ := f.Data(&f.Sections[i]); isSlim(layout, head) {
			return nil, missingCode("coff")
		}
	}
	// CodeView has readable names only; the mangled ones are those of symbols.
	traits := units.Traits{Renamed: in.Written && has(f, ".debug$S") && !has(f, ".debug_info")}
	b.common = common{Image: units.New(in, layout, b, traits), in: in}
	b.indexFrames()
	b.foundLeft(left)
	if b.openDWARF(); b.dwarf == nil {
		b.openCodeView(src.Size())
	}
	for _, p := range f.Problems {
		b.Found.At("damaged headers", p.Place, p.Off, p.Reason)
	}
	if b.budget.Failed != nil {
		return nil, b.budget.Failed
	}
	b.Memory = b.budget.Heap
	info := b.info()
	info.Kind, info.Module.CodeID = "coff", "" // which identifies the linked file
	if b.codeView != nil && b.codeView.HasCode() {
		info.Features |= object.HasDebug
	}
	return object.New(info, b, in), nil
}

// has reports whether a file has a section with a name.
func has(f *pe.File, name string) bool {
	return slices.ContainsFunc(f.Sections, func(s pe.Section) bool { return s.Name == name })
}

// layCode gives the sections of code of an object addresses of their own, which are not
// 0. Each becomes a part of the image. It returns the number of sections that do not fit.
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

// openCodeView opens the units in the sections .debug$S of a file of some size.
// Functions that may be dropped have their own.
func (b *peFile) openCodeView(fileSize int64) {
	const name = ".debug$S"
	size := int64(0)
	b.eachSection(name, func(_ *pe.Section, data []byte) { size += unpack.Aligned(int64(len(data))) })
	if size == 0 || size > 2*fileSize {
		return // only sections that overlap have that many bytes
	}
	all, err := b.budget.Memory(int(size))
	if err != nil {
		return // and Budget.Failed is set
	}
	at := 0
	b.eachSection(name, func(s *pe.Section, data []byte) {
		own := all[at:][:copy(all[at:], data)]
		b.relocate(s, own)
		whole, err := pdb.TrimSymbols(own)
		if err != nil {
			b.Found.At("damaged sections", name, s.Off, err.Error())
		}
		at += (len(whole) + 3) &^ 3
	})
	o := pdb.Object{Machine: b.f.Machine, Symbols: all[:at], Types: b.data(".debug$T")}
	for _, r := range b.Parts {
		o.Code = append(o.Code, pdb.Range{Start: uint32(r.Start), End: uint32(r.End)})
	}
	b.codeView = pdb.OpenObject(o)
	objectpdb.NewUnits(b.Image, b.codeView, b.in)
	if t := b.codeView.TypeFile; t != nil {
		file := ident.FileName(t.Path)
		n := object.Need{Kind: object.NeedTypes, Name: file, Dir: strings.TrimSuffix(t.Path, file)}
		if t.GUID != [16]byte{} {
			n.DebugID = ident.NewGUID(t.GUID, t.Age)
		}
		b.needs = append(b.needs, n)
	}
}

// Supply takes in the PDB with the types of an object.
func (b *peFile) Supply(n object.Need, src bin.Source, info *object.Info) (used bool, err error) {
	if n.Kind != object.NeedTypes {
		return b.common.Supply(n, src, info)
	}
	p, err := pdb.Open(src)
	if err != nil || b.codeView == nil || !b.codeView.SetTypes(p) {
		return false, err
	}
	b.Memory += p.Footprint()
	b.drop(func(n object.Need) bool { return n.Kind == object.NeedTypes })
	return true, nil
}

// eachSection calls yield with the sections of a name.
func (b *peFile) eachSection(name string, yield func(s *pe.Section, data []byte)) {
	for i := range b.f.Sections {
		if s := &b.f.Sections[i]; s.Name == name {
			data, err := b.f.Data(s)
			if err != nil {
				b.Found.Add("damaged sections", name+": "+err.Error())
			}
			yield(s, data)
		}
	}
}

// relocate applies the relocations of a section to its bytes.
func (b *peFile) relocate(s *pe.Section, data []byte) {
	for _, p := range b.f.Relocate(s, data) {
		b.Found.At("damaged relocations", p.Place, p.Off, p.Reason)
	}
}

package image

import (
	"symbolon/internal/format/frame"
	"symbolon/internal/ident"
	"symbolon/internal/object"
	"symbolon/internal/object/cfi"
	"symbolon/internal/object/units"
	"symbolon/internal/sym"
)

// frameSections are the sections of FDEs of ELF and PE files. If both have code, the
// first counts.
var frameSections = [...]string{".debug_frame", ".eh_frame"}

// A cfiReader yields the records of FDEs.
type cfiReader struct {
	image *units.Image
	text  cfi.Text
	yield func(*sym.Unwind) error
}

func (c *common) newCFIReader(arch ident.Arch, yield func(*sym.Unwind) error) *cfiReader {
	return &cfiReader{image: c.Image, yield: yield, text: cfi.Text{Registers: cfi.RegistersOf(arch)}}
}

// frames yields the records of the FDEs of a section that want accepts.
func (r *cfiReader) frames(s *frame.Section, want func(f *frame.FDE) bool) (err error) {
	problems := eachFDE(r.image, s, want, func(f *frame.FDE, base uint64) bool {
		r.text.Base = base
		var damage error
		if damage, err = r.text.Each(f, r.yield); damage != nil {
			r.image.Found.Add("damaged unwind entries", damage.Error())
		}
		return err == nil
	})
	for _, p := range problems {
		r.image.Found.At("damaged unwind entries", p.Section, int64(p.Off), p.Reason)
	}
	return err
}

// eachFDE yields the FDEs of a section whose code is in the image and that want
// accepts, with the base of their addresses, until yield returns false.
func eachFDE(image *units.Image, s *frame.Section, want func(*frame.FDE) bool, yield func(f *frame.FDE, base uint64) bool) []frame.Problem {
	if len(s.Data) == 0 {
		return nil
	}
	return s.Each(func(f *frame.FDE) bool {
		base, _, ok := image.Place(f.Start)
		return !ok || want != nil && !want(f) || yield(f, base)
	})
}

// A frameIndex finds the FDE of an address.
type frameIndex struct {
	sections []frame.Section
	list     []object.Piece // of those added
	pieces   object.Pieces
}

// sectionBits are the lowest bits of the Ref of a piece, the number of a section. The
// others are the offset of an FDE in it.
const sectionBits = 2

// addIndexMemory counts the memory of the index of a section, which is made when it is
// needed. An FDE has about 40 bytes, and its piece 24 in a list that has grown: factor
// is 1 for FDEs, and more for entries that have fewer bytes.
func (c *common) addIndexMemory(size, factor uint64) {
	c.Memory += int64(min(size, uint64(c.in.Size)) * factor)
}

// add adds the FDEs of a section that want accepts.
func (x *frameIndex) add(image *units.Image, s frame.Section, want func(*frame.FDE) bool) {
	n := uint64(len(x.sections))
	eachFDE(image, &s, want, func(f *frame.FDE, base uint64) bool {
		if start := f.Start - base; f.Start >= base {
			x.list = append(x.list, object.Piece{Start: start, End: start + f.Size, Ref: f.Off<<sectionBits | n})
		}
		return true
	})
	x.sections = append(x.sections, s)
}

// finish sorts the added FDEs.
func (x *frameIndex) finish() *frameIndex {
	x.pieces, x.list = object.FirstPieces(x.list), nil
	return x
}

// frameAt yields the records of the FDE of a piece of an index.
func (r *cfiReader) frameAt(x *frameIndex, p object.Piece) error {
	f, ok := x.sections[p.Ref&(1<<sectionBits-1)].At(p.Ref >> sectionBits)
	if !ok {
		return nil
	}
	r.text.Base, _, _ = r.image.Place(f.Start)
	_, err := r.text.Each(&f, r.yield)
	return err
}

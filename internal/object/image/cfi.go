package image

import (
	"symbolon/internal/format/frame"
	"symbolon/internal/ident"
	"symbolon/internal/object/cfi"
	"symbolon/internal/object/units"
	"symbolon/internal/sym"
)

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
	if len(s.Data) == 0 {
		return nil
	}
	problems := s.Each(func(f *frame.FDE) bool {
		base, _, ok := r.image.Place(f.Start)
		if !ok || want != nil && !want(f) {
			return true
		}
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

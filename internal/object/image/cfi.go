package image

import (
	"symbolon/internal/format/dwarf"
	"symbolon/internal/ident"
	"symbolon/internal/object/cfi"
	"symbolon/internal/object/units"
)

// cfiWriter collects records and hands them on in pieces.
type cfiWriter struct {
	image *units.Image
	text  cfi.Text
	buf   []byte
	yield func([]byte) error
	err   error
}

func (c *common) newCFIWriter(arch ident.Arch, yield func([]byte) error) *cfiWriter {
	return &cfiWriter{image: c.Image, yield: yield, text: cfi.Text{Registers: cfi.RegistersOf(arch)}}
}

func (w *cfiWriter) flush(least int) bool {
	if w.err == nil && len(w.buf) >= max(least, 1) {
		w.err = w.yield(w.buf)
		w.buf = w.buf[:0]
	}
	return w.err == nil
}

// cfiPiece is how many bytes of records are handed on at least.
const cfiPiece = 64 << 10

// frames writes the FDEs of a section that want accepts.
func (w *cfiWriter) frames(s *dwarf.FrameSection, want func(f *dwarf.FDE) bool) error {
	if len(s.Data) == 0 {
		return w.err
	}
	problems := s.Each(func(f *dwarf.FDE) bool {
		base, _, ok := w.image.Place(f.Start)
		if !ok || want != nil && !want(f) {
			return true
		}
		w.text.Base = base
		var err error
		if w.buf, err = w.text.Append(w.buf, f); err != nil {
			w.image.Found.Add("damaged unwind entries", err.Error())
		}
		return w.flush(cfiPiece)
	})
	for _, p := range problems {
		w.image.Found.At("damaged unwind entries", p.Section, int64(p.Off), p.Reason)
	}
	return w.err
}

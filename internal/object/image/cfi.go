package image

import (
	"strconv"

	"symbolon/internal/format/dwarf"
	"symbolon/internal/format/macho"
	"symbolon/internal/ident"
	"symbolon/internal/object/units"
)

// cfiWriter collects records and hands them on in pieces.
type cfiWriter struct {
	image *units.Image
	text  dwarf.CFIText
	buf   []byte
	yield func([]byte) error
	err   error
}

func (c *common) newCFIWriter(arch ident.Arch, yield func([]byte) error) *cfiWriter {
	return &cfiWriter{image: c.Image, yield: yield, text: dwarf.CFIText{Registers: dwarf.RegistersOf(arch)}}
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

// CFI writes the FDEs of a file.
func (b *elfFile) CFI(yield func([]byte) error) error {
	w := b.newCFIWriter(b.f.Arch(), yield)
	for _, name := range [...]string{".debug_frame", ".eh_frame"} {
		s := b.frameSection(name)
		if err := w.frames(&s, nil); err != nil {
			return err
		}
	}
	w.flush(0)
	return w.err
}

// frameSection is a section of FDEs of an ELF file.
func (b *elfFile) frameSection(name string) dwarf.FrameSection {
	return dwarf.FrameSection{
		Data: b.data(name), EH: name == ".eh_frame", Relocatable: b.addrs != nil,
		Order: b.f.Order, AddrSize: b.f.Class / 8, Text: b.addr(".text"), DataBase: b.addr(".got"),
		Addr: b.addr(name),
	}
}

// addr is where a section is.
func (b *elfFile) addr(name string) uint64 {
	s := b.f.Section(name)
	switch {
	case s == nil:
		return 0
	case b.addrs != nil:
		return b.addrs[s.Index]
	}
	return s.Addr
}

// CFI writes the compact entries of an image and those FDEs that they refer to, or
// else all FDEs.
func (b *machoFile) CFI(yield func([]byte) error) error {
	arch := b.f.Arch()
	w := b.newCFIWriter(arch, yield)
	eh, debug := b.frameSection("__eh_frame"), b.frameSection("__debug_frame")
	entries := 0
	wanted := map[uint64]bool{}
	problems := b.f.UnwindEntries(func(e macho.Entry) bool {
		entries++
		if e.DWARF {
			wanted[e.Start] = true
			return true
		}
		base, _, ok := b.Place(e.Start)
		if !ok || e.End <= e.Start {
			return true
		}
		w.buf = appendCompact(w.buf, e, base, arch)
		return w.flush(cfiPiece)
	})
	for _, p := range problems {
		b.Found.At("damaged unwind entries", p.Place, p.Off, p.Reason)
	}
	want := func(f *dwarf.FDE) bool { return b.inSection(f.Start) }
	if entries > 0 {
		want = func(f *dwarf.FDE) bool { return wanted[f.Start] }
	}
	if err := w.frames(&eh, want); err != nil {
		return err
	}
	if err := w.frames(&debug, nil); err != nil {
		return err
	}
	w.flush(0)
	return w.err
}

// appendCompact appends the record of a compact entry, if it has one.
func appendCompact(dst []byte, e macho.Entry, base uint64, arch ident.Arch) []byte {
	from := len(dst)
	dst = append(strconv.AppendUint(append(dst, "STACK CFI INIT "...), e.Start-base, 16), ' ')
	dst = append(strconv.AppendUint(dst, e.End-e.Start, 16), ' ')
	dst, ok := macho.AppendCompact(dst, e, arch)
	if !ok {
		return dst[:from]
	}
	return append(dst, '\n')
}

// frameSection is a section of FDEs of a Mach-O image.
func (b *machoFile) frameSection(name string) dwarf.FrameSection {
	s := dwarf.FrameSection{EH: name == "__eh_frame", Relocatable: b.f.Kind() == "rel", Order: b.f.Order, AddrSize: 4}
	if b.f.Is64 {
		s.AddrSize = 8
	}
	if section := b.f.Section("", name); section != nil {
		s.Data, s.Addr = b.data(name), section.Addr
	}
	return s
}

package elf

// descriptors is the section .opd of 64-bit PowerPC with the first ABI. The address of a
// function symbol refers to a descriptor in it, whose first word is the address of the
// code.
type descriptors struct {
	section int32 // zero: the file has no descriptors
	addr    uint64
	words   []target // all words of the section
}

// target is the destination of a word.
type target struct {
	section int32 // zero: unknown
	addr    uint64
}

func (f *File) readDescriptors() (d descriptors) {
	s := f.Section(".opd")
	if s == nil || f.Machine != machinePPC64 {
		return d
	}
	b, _ := f.Raw(s)
	d = descriptors{int32(s.Index), s.Addr, make([]target, len(b)/8)}
	if f.Type == TypeRel {
		f.relocations(s, func(r reloc) {
			// The kind is R_PPC64_ADDR64.
			if sym, section, ok := f.relocSymbol(r.sym); ok && r.kind == 38 && r.off/8 < uint64(len(d.words)) {
				d.words[r.off/8] = target{section, sym.value + uint64(r.addend)}
			}
		})
		return d
	}
	text := f.Section(".text") // contains most of the code
	for i := range d.words {
		addr := f.Order.Uint64(b[i*8:])
		switch {
		case text != nil && addr-text.Addr < text.Size:
			d.words[i] = target{int32(text.Index), addr}
		case addr != 0:
			d.words[i] = target{SectionOther, addr}
		}
	}
	return d
}

// resolve moves a symbol from its descriptor to its code. It returns false if
// the descriptor is unknown, as in a debug file, which does not contain the
// bytes.
func (d *descriptors) resolve(s *Symbol) bool {
	if d.section == 0 || s.Section != d.section {
		return true
	}
	i := (s.Addr - d.addr) / 8
	if i >= uint64(len(d.words)) {
		return false
	}
	s.Section, s.Addr = d.words[i].section, d.words[i].addr
	return s.Section != 0
}

package elf

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"symbolon/internal/bin"
)

// reloc is a relocation.
type reloc struct {
	off    uint64 // in the section
	sym    uint32
	kind   uint32
	addend int64
	rela   bool // the addend is in the relocation, not in the section
}

// relocs calls each for the relocations of a table, in their order.
func (f *File) relocs(b []byte, rela bool, each func(reloc)) {
	size := f.pick(8, 16)
	if rela {
		size = f.pick(12, 24)
	}
	for ; uint64(len(b)) >= size; b = b[size:] {
		each(f.reloc(b, rela))
	}
}

// reloc reads a relocation of b, which is long enough. The three types of a
// MIPS64 relocation become one number, the first one lowest.
func (f *File) reloc(b []byte, rela bool) (r reloc) {
	w := f.Class / 8
	info := f.address(b[w:])
	r.off, r.rela = f.address(b), rela
	if rela {
		r.addend = int64(f.address(b[2*w:]))
	}
	switch {
	case w == 4:
		r.sym, r.kind, r.addend = uint32(info)>>8, uint32(info)&0xff, int64(int32(r.addend))
	case f.Machine == machineMIPS && f.big:
		r.sym, r.kind = uint32(info>>32), uint32(info)&0xffffff // without the special symbol
	case f.Machine == machineMIPS:
		r.sym, r.kind = uint32(info), bits.ReverseBytes32(uint32(info>>32))&0xffffff
	default:
		r.sym, r.kind = uint32(info>>32), uint32(info)
	}
	return r
}

// address reads a number of the size of an address from the start of b.
func (f *File) address(b []byte) uint64 {
	if f.Class == 64 {
		return f.Order.Uint64(b)
	}
	return uint64(f.Order.Uint32(b))
}

// relocations calls each for all relocations of a section, in their order.
func (f *File) relocations(s *Section, each func(reloc)) {
	budget := uint64(f.src.Size()) // headers may claim the same bytes repeatedly
	for i := range f.Sections {
		from := &f.Sections[i]
		rela := from.Type == SectionRela
		if int64(from.Info) != int64(s.Index) || !rela && from.Type != SectionRel {
			continue
		}
		b, _ := f.Raw(from)
		b = b[:min(uint64(len(b)), budget)]
		budget -= uint64(len(b))
		f.relocs(b, rela, each)
	}
}

// relocSymbol returns a symbol of a relocation and its section. Symbols of
// other files have the section 0.
func (f *File) relocSymbol(i uint32) (s rawSymbol, section int32, ok bool) {
	t, size := &f.tables[0], f.pick(16, 24)
	if uint64(i) >= uint64(len(t.syms))/size {
		return s, 0, false
	}
	s = f.symbol(t.syms[uint64(i)*size:])
	return s, f.sectionOf(t, s, int(i)), true
}

// Relocate applies the relocations of a section of a relocatable file. data is
// the unpacked content of the section; the result is a copy, or data itself
// without relocations. Section i has the address addrs[i], or 0 without one.
//
// Symbols of other files have the address 0. A relocation that cannot be applied
// leaves data unchanged, and is counted in the problems. On a machine whose types
// of relocations are unknown the result is nil if all numbers are in relocations,
// since data has zeros in their places.
func (f *File) Relocate(s *Section, data []byte, addrs []uint64) ([]byte, bin.Problems) {
	m := relocator{file: f, forms: relocForms[f.Machine], addrs: addrs, data: data}
	if f.Type != TypeRel {
		return data, nil
	}
	if m.forms == nil {
		return f.unrelocated(s, data)
	}
	if uint64(s.Index) < uint64(len(addrs)) {
		m.base = addrs[s.Index]
	}
	clone := f.Clone
	if clone == nil {
		clone = slices.Clone[[]byte]
	}
	count, failed, first := 0, 0, reloc{}
	f.relocations(s, func(r reloc) {
		if count++; count == 1 {
			m.data = clone(data)
		}
		if !m.apply(r) {
			if failed++; failed == 1 {
				first = r
			}
		}
	})
	if failed == 0 {
		return m.data, nil
	}
	var problems bin.Problems
	problems.Add("section "+s.Label()+", relocations", clamp(first.off),
		"%d of unsupported type or range; the first has type %d and symbol %d", failed, first.kind, first.sym)
	return m.data, problems
}

// unrelocated returns the usable part of a section without its relocations.
func (f *File) unrelocated(s *Section, data []byte) ([]byte, bin.Problems) {
	count, isEmpty := 0, false
	f.relocations(s, func(r reloc) { count, isEmpty = count+1, isEmpty || r.rela })
	if count == 0 {
		return data, nil
	}
	if isEmpty {
		data = nil
	}
	var problems bin.Problems
	problems.Add("section "+s.Label()+", relocations", 0, "%d for an unsupported machine, %d", count, f.Machine)
	return data, problems
}

// relocator applies relocations to one section.
type relocator struct {
	file  *File
	forms *[relocKinds]relocForm
	addrs []uint64
	base  uint64 // address of the section
	data  []byte
}

// apply returns false if a relocation cannot be applied.
func (m *relocator) apply(r reloc) bool {
	if r.kind >= relocKinds {
		return false
	}
	form := m.forms[r.kind]
	if r.kind == 0 || form.op == opNothing || form.op == opUnknown {
		return r.kind == 0 || form.op == opNothing
	}
	sym, section, ok := m.file.relocSymbol(r.sym)
	if !ok || r.off > uint64(len(m.data)) || uint64(len(m.data))-r.off < uint64(form.size) {
		return false
	}
	at, v := m.data[r.off:], sym.value
	if section > 0 && int(section) < len(m.addrs) {
		v += m.addrs[section]
	}
	if m.file.Machine == machineARM && sym.info&15 == SymbolFunc {
		v &^= 1 // the Thumb bit
	}
	if r.rela {
		v += uint64(r.addend)
	} else {
		v += m.get(at, form.size)
	}
	m.write(at, form, v, m.base+r.off)
	return true
}

// write writes the value v in the given form at an address of pc.
func (m *relocator) write(at []byte, form relocForm, v, pc uint64) {
	switch form.op {
	case opAbs:
	case opRel:
		v -= pc
	case opAdd:
		v += m.get(at, form.size)
	case opSub:
		v = m.get(at, form.size) - v
	case opSet6:
		v = uint64(at[0])&0xc0 | v&0x3f
	case opSub6:
		v = uint64(at[0])&0xc0 | (uint64(at[0])-v)&0x3f
	case opSetUleb:
		putUleb(at, v)
		return
	case opSubUleb:
		old, _ := binary.Uvarint(at)
		putUleb(at, old-v)
		return
	}
	m.put(at, form.size, v)
}

// get reads a signed number.
func (m *relocator) get(b []byte, size uint8) uint64 {
	switch size {
	case 1:
		return uint64(int8(b[0]))
	case 2:
		return uint64(int16(m.file.Order.Uint16(b)))
	case 4:
		return uint64(int32(m.file.Order.Uint32(b)))
	}
	return m.file.Order.Uint64(b)
}

func (m *relocator) put(b []byte, size uint8, v uint64) {
	switch size {
	case 1:
		b[0] = byte(v)
	case 2:
		m.file.Order.PutUint16(b, uint16(v))
	case 4:
		m.file.Order.PutUint32(b, uint32(v))
	case 8:
		m.file.Order.PutUint64(b, v)
	}
}

// putUleb overwrites a number by one of the same length. No other byte of b
// changes.
func putUleb(b []byte, v uint64) {
	for i := range b {
		more := b[i] & 0x80
		b[i] = byte(v)&0x7f | more
		if v >>= 7; more == 0 {
			return
		}
	}
}

package elf

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
)

// reloc is one relocation.
type reloc struct {
	off    uint64 // in the section
	sym    uint32
	kind   uint32
	addend int64
	rela   bool // else the addend is what is in the section
}

// relocs gives the relocations of a table, in their order.
func (f *File) relocs(b []byte, rela bool, each func(reloc)) {
	size := f.pick(8, 16)
	if rela {
		size = f.pick(12, 24)
	}
	for ; uint64(len(b)) >= size; b = b[size:] {
		each(f.reloc(b, rela))
	}
}

// reloc reads one relocation, of which all bytes are there. The three kinds
// that one of MIPS64 has are one number here, the first one lowest.
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

// address is the number as wide as an address that b begins with.
func (f *File) address(b []byte) uint64 {
	if f.Class == 64 {
		return f.Order.Uint64(b)
	}
	return uint64(f.Order.Uint32(b))
}

// relocations gives all relocations of a section, in their order.
func (f *File) relocations(s *Section, each func(reloc)) {
	budget := uint64(f.src.Size()) // headers that claim the same bytes cost once
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

// relocSymbol is the symbol that a relocation names, and its section. Symbols
// of other files have the section 0.
func (f *File) relocSymbol(i uint32) (s rawSymbol, section int32, ok bool) {
	t, size := &f.tables[0], f.pick(16, 24)
	if uint64(i) >= uint64(len(t.syms))/size {
		return s, 0, false
	}
	s = f.symbol(t.syms[uint64(i)*size:])
	return s, f.sectionOf(t, s, int(i)), true
}

// Relocate applies the relocations of a section of a relocatable file. The data
// is that of the section, unpacked; the result is a copy, or data itself if
// there is nothing to apply. Section i is laid at addrs[i], or at 0 if there is
// no such number.
//
// Symbols of other files have the address 0. What cannot be applied leaves the
// data as it is, and is counted in the problems.
func (f *File) Relocate(s *Section, data []byte, addrs []uint64) ([]byte, []Problem) {
	m := mover{file: f, forms: forms[f.Machine], addrs: addrs, data: data}
	if f.Type != TypeRel || m.forms == nil {
		return data, nil
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
	return m.data, []Problem{{"section " + s.Label() + ", relocations", clamp(first.off), fmt.Sprintf(
		"%d cannot be applied; the first has the kind %d and names symbol %d", failed, first.kind, first.sym)}}
}

// mover applies relocations to one section.
type mover struct {
	file  *File
	forms *[relocKinds]form
	addrs []uint64
	base  uint64 // where the section is laid
	data  []byte
}

// apply is false for a relocation that cannot be applied.
func (m *mover) apply(r reloc) bool {
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
		v &^= 1 // which says that it is Thumb
	}
	if r.rela {
		v += uint64(r.addend)
	} else {
		v += m.get(at, form.size)
	}
	m.write(at, form, v, m.base+r.off)
	return true
}

// write puts the value v where and as the form says; pc is the address there.
func (m *mover) write(at []byte, form form, v, pc uint64) {
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
func (m *mover) get(b []byte, size uint8) uint64 {
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

func (m *mover) put(b []byte, size uint8, v uint64) {
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

// putUleb writes a number over one that has at least as many bytes, and keeps
// their count. Nothing else of b changes.
func putUleb(b []byte, v uint64) {
	for i := range b {
		more := b[i] & 0x80
		b[i] = byte(v)&0x7f | more
		if v >>= 7; more == 0 {
			return
		}
	}
}

package pe

import "strconv"

// maxRegisters is the number of registers of a frame.
const maxRegisters = 48

// registers has the names of registers by number. One of them is the return
// address.
type registers struct {
	names [maxRegisters]string
	stack uint8
	ret   uint8
	link  string // holds the return address until it is saved; empty: it is always saved
}

// frame describes how the registers of the caller are restored.
type frame struct {
	base     uint8               // the register that the frame address is relative to
	off      int64               // offset of the frame address from base
	depth    int64               // offset of the frame address from the stack pointer
	saved    uint64              // bit set of saved registers
	relative uint64              // those of saved that are relative to base
	at       [maxRegisters]int64 // of saved: offset from the frame address
}

// save records that a register is saved at an offset from the stack pointer.
func (f *frame) save(reg uint8, off int64) {
	if reg < maxRegisters {
		f.saved |= 1 << reg
		f.relative &^= 1 << reg
		f.at[reg] = off - f.depth
	}
}

// alloc grows the stack.
func (f *frame) alloc(size int64, stack uint8) {
	f.depth += size
	if f.base == stack {
		f.off = f.depth
	}
}

// rules appends the rules of f that differ from those of last.
func (r *registers) rules(dst []byte, f, last *frame) []byte {
	if f.base != last.base || f.off != last.off {
		dst = append(dst, " .cfa: "...)
		dst = r.sum(dst, r.names[f.base], f.off)
	}
	for i, bit := 0, uint64(1); i < maxRegisters; i, bit = i+1, bit<<1 {
		is, was := f.saved&bit != 0, last.saved&bit != 0
		if is == was && (!is || f.at[i] == last.at[i] && f.relative&bit == last.relative&bit && (f.relative&bit == 0 || f.off == last.off)) {
			continue
		}
		dst = append(append(append(dst, ' '), r.names[i]...), ": "...)
		switch {
		case !is && uint8(i) == r.ret:
			dst = append(dst, r.link...)
		case !is:
			dst = append(dst, r.names[i]...)
		case f.relative&bit != 0:
			dst = append(r.sum(dst, r.names[f.base], f.off+f.at[i]), " ^"...)
		default:
			dst = append(r.sum(dst, ".cfa", f.at[i]), " ^"...)
		}
	}
	return dst
}

// sum appends a register and an offset.
func (*registers) sum(dst []byte, name string, off int64) []byte {
	dst = append(append(dst, name...), ' ')
	return append(strconv.AppendInt(dst, off, 10), " +"...)
}

package pe

import "strconv"

// maxRegisters is how many registers a frame tells about.
const maxRegisters = 48

// registers are the names of registers by number. One of them is the return
// address.
type registers struct {
	names [maxRegisters]string
	stack uint8
	ret   uint8
	link  string // has the return address before that is saved; empty: it is always saved
}

// frame tells where the registers of the caller are.
type frame struct {
	base  uint8 // the register that the frame address is told from
	off   int64 // how much that is below the frame address
	depth int64 // how much the stack pointer is below it
	saved uint64
	based uint64              // those of saved that are told from base
	at    [maxRegisters]int64 // of saved: where, relative to the frame address
}

// save notes that a register is saved at an offset to the stack pointer.
func (f *frame) save(reg uint8, off int64) {
	if reg < maxRegisters {
		f.saved |= 1 << reg
		f.based &^= 1 << reg
		f.at[reg] = off - f.depth
	}
}

// alloc makes the stack deeper.
func (f *frame) alloc(size int64, stack uint8) {
	f.depth += size
	if f.base == stack {
		f.off = f.depth
	}
}

// rules appends what the rules of a frame have that those of another have not.
func (r *registers) rules(dst []byte, f, last *frame) []byte {
	if f.base != last.base || f.off != last.off {
		dst = append(dst, " .cfa: "...)
		dst = r.sum(dst, r.names[f.base], f.off)
	}
	for i, bit := 0, uint64(1); i < maxRegisters; i, bit = i+1, bit<<1 {
		is, was := f.saved&bit != 0, last.saved&bit != 0
		if is == was && (!is || f.at[i] == last.at[i] && f.based&bit == last.based&bit && (f.based&bit == 0 || f.off == last.off)) {
			continue
		}
		dst = append(append(append(dst, ' '), r.names[i]...), ": "...)
		switch {
		case !is && uint8(i) == r.ret:
			dst = append(dst, r.link...)
		case !is:
			dst = append(dst, r.names[i]...)
		case f.based&bit != 0:
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

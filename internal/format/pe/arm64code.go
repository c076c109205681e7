package pe

// codeARM64 applies a code to the frame.
func (u *unwinder) codeARM64(c []byte, pair *savedPair) bool {
	f, op := &u.now, c[0]
	switch {
	case op < 0x20: // alloc_s
		f.alloc(int64(op)*16, arm64Stack)
	case op < 0x40: // save_r19r20_x
		f.pair(pair, 19, 20, -int64(op&31)*8)
	case op < 0x80: // save_fplr
		f.pair(pair, arm64Frame, arm64Return, int64(op&63)*8)
	case op < 0xc0: // save_fplr_x
		f.pair(pair, arm64Frame, arm64Return, -int64(op&63)*8-8)
	case op < 0xc8: // alloc_m
		f.alloc(int64(op&7)<<12|int64(c[1])<<4, arm64Stack)
	case op < 0xdf:
		return f.saveARM64(uint16(op)<<8|uint16(c[1]), pair)
	case op == 0xe0: // alloc_l
		f.alloc((int64(c[1])<<16|int64(c[2])<<8|int64(c[3]))*16, arm64Stack)
	case op == 0xe1: // set_fp
		f.base, f.off = arm64Frame, f.depth
	case op == 0xe2: // add_fp
		f.base, f.off = arm64Frame, f.depth-int64(c[1])*8
	case op == 0xe6: // save_next
		next := pair.first + 2
		f.pair(pair, next, next+1, pair.off+16)
		return next >= 21 && next < arm64Frame || next >= arm64Double+10 && next < maxRegisters
	case op == 0xe7:
		return f.saveAny(c[1], c[2], pair)
	case op == 0xe3, op == 0xfc: // nop, pac_sign_lr: debuggers remove the signature
	default: // frames of the system, alloc_z, whose size only the processor knows, and reserved codes
		return false
	}
	return true
}

// pair saves two registers at an offset from the stack pointer. A negative
// offset allocates space first.
func (f *frame) pair(last *savedPair, first, second uint8, off int64) {
	off = f.reserve(off)
	f.save(first, off)
	f.save(second, off+8)
	*last = savedPair{first, off}
}

// reserve allocates space for a negative offset, and returns the new offset.
func (f *frame) reserve(off int64) int64 {
	if off < 0 {
		f.alloc(-off, arm64Stack)
		return 0
	}
	return off
}

// saveARM64 applies the codes of two bytes that save registers from x19 or d8
// on. Those with x allocate space first.
func (f *frame) saveARM64(w uint16, pair *savedPair) bool {
	reg, off := 19+uint8(w>>6&15), int64(w&63)*8
	double := arm64Double + 8 + uint8(w>>6&7)
	switch w >> 10 {
	case 0x32: // save_regp
		f.pair(pair, reg, reg+1, off)
		return reg < arm64Return
	case 0x33: // save_regp_x
		f.pair(pair, reg, reg+1, -off-8)
		return reg < arm64Return
	case 0x34: // save_reg
		f.save(reg, off)
		return reg <= arm64Return
	case 0x35: // save_reg_x, save_lrpair
		if w>>9&1 != 0 {
			f.pair(pair, 19+2*uint8(w>>6&7), arm64Return, off)
			return w>>6&7 < 5
		}
		reg = 19 + uint8(w>>5&15)
		f.save(reg, f.reserve(-int64(w&31)*8-8))
		return reg <= arm64Return
	case 0x36: // save_fregp, save_fregp_x
		if w>>9&1 != 0 {
			off = -off - 8
		}
		f.pair(pair, double, double+1, off)
	case 0x37: // save_freg, save_freg_x
		if w>>9&1 != 0 {
			double, off = arm64Double+8+uint8(w>>5&7), f.reserve(-int64(w&31)*8-8)
		}
		f.save(double, off)
	}
	return true
}

// saveAny applies save_any_reg: {pair, allocate, register} and {kind of
// register, offset}. Registers of 128 bits are ignored, since stack walkers do
// not need them.
func (f *frame) saveAny(a, b byte, last *savedPair) bool {
	two, first, reg, kind := a&0x40 != 0, a&0x20 != 0, a&31, b>>6
	unit := int64(8)
	if two || first || kind == 2 {
		unit = 16
	}
	off := int64(b&63) * unit
	if first {
		off = f.reserve(-off - unit)
	}
	switch {
	case a&0x80 != 0 || kind == 3 || kind == 1 && reg > 15 || kind == 0 && reg >= arm64Stack:
		return false
	case kind == 2:
		return true
	case kind == 1:
		reg += arm64Double
	}
	if two {
		f.pair(last, reg, reg+1, off)
	} else {
		f.save(reg, off)
	}
	return true
}

package disas

import "encoding/binary"

// arm64Call reports whether a word of A64 is a call.
func arm64Call(w uint32) bool {
	switch {
	case w>>26 == 0x94000000>>26: // BL
		return true
	case w>>25 != 0xd6000000>>25 && w>>24 != 0xd4:
		// Neither a branch to a register nor an exception.
		return false
	}
	return w&0xfffffc1f == 0xd63f0000 || // BLR
		w&0xfffff800 == 0xd73f0800 || // BLRAA, BLRAB
		w&0xfffff81f == 0xd63f081f || // BLRAAZ, BLRABZ
		w&0xffe0001f == 0xd4000001 // SVC
}

// wordCalls appends the calls in code from at on, which is A64: all its
// instructions have four bytes, and any word is accepted.
func wordCalls(dst []Call, code []byte, at int) []Call {
	for ; len(code)-at >= 4; at += 4 {
		if arm64Call(binary.LittleEndian.Uint32(code[at:])) {
			dst = append(dst, Call{At: uint32(at), Len: 4})
		}
	}
	return dst
}

func arm64Length(code []byte) (n int, call bool) {
	if len(code) < 4 {
		return 0, false
	}
	return 4, arm64Call(binary.LittleEndian.Uint32(code))
}

// riscvLength decodes RV64. A call is a jump that stores its return address in
// x1, or in x5 for the helpers that save registers.
func riscvLength(code []byte) (n int, call bool) {
	if len(code) < 2 {
		return 0, false
	}
	switch w := binary.LittleEndian.Uint16(code); {
	case w&3 != 3:
		return 2, w&0xf07f == 0x9002 && w&0x0f80 != 0 // C.JALR; C.EBREAK has the same encoding with register 0
	case w&0x1f != 0x1f:
	case w&0x3f == 0x1f:
		return 6, false
	case w&0x7f == 0x3f:
		return 8, false
	default:
		return 0, false
	}
	if len(code) < 4 {
		return 0, false
	}
	w := binary.LittleEndian.Uint32(code)
	link := w>>7&0x1b == 1
	return 4, link && (w&0x7f == 0x6f || w&0x707f == 0x67) || // JAL, JALR
		w == 0x73 // ECALL
}

// a32Length decodes A32, whose instructions all have four bytes. The condition
// "never" marks other instructions, among them BLX with a displacement.
func a32Length(code []byte) (n int, call bool) {
	if len(code) < 4 {
		return 0, false
	}
	w := binary.LittleEndian.Uint32(code)
	if w>>28 == 0xf {
		return 4, w>>25 == 0xfa>>1 // BLX
	}
	return 4, w>>24&0xf == 0xb || // BL
		w&0x0ffffff0 == 0x012fff30 || // BLX
		w>>24&0xf == 0xf // SVC
}

// t32Length decodes T32.
func t32Length(code []byte) (n int, call bool) {
	if len(code) < 2 {
		return 0, false
	}
	w := binary.LittleEndian.Uint16(code)
	if w>>11 < 0x1d {
		return 2, w&0xff87 == 0x4780 || // BLX
			w>>8 == 0xdf // SVC
	}
	if len(code) < 4 {
		return 0, false
	}
	next := binary.LittleEndian.Uint16(code[2:])
	return 4, w>>11 == 0x1e && (next&0xd000 == 0xd000 || // BL
		next&0xd001 == 0xc000) // BLX
}

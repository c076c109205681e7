package disas

// vector decodes the rest, at n, of a prefix VEX, EVEX or XOP, of which op is the
// first byte. It gives the form of what is behind the opcode, and where that is.
func (x *x86) vector(code []byte, n int, op byte) (int, byte) {
	size := 2
	switch op {
	case 0xc5:
		size = 1
	case 0x62:
		size = 3
	}
	// The opcode is there, and behind EVEX also ModRM.
	if n+size >= len(code) || op == 0x62 && n+size+1 >= len(code) || x.operand || x.lock || x.repeat != 0 || x.rex {
		return n, '-'
	}
	payload, next := code[n:n+size], code[n+size]
	n += size + 1
	switch op {
	case 0xc5:
		return n, vexForm(1, next)
	case 0xc4:
		return n, vexForm(payload[0]&0x1f, next)
	case 0x62:
		return n, x.evexForm(payload, code[n-1:])
	}
	return n, xopForm(payload[0]&0x1f, next)
}

// vexForm is the form of an opcode in one of the maps of VEX.
func vexForm(page, op byte) byte {
	switch page {
	case 1:
		return x86VEX1[op]
	case 2:
		return x86VEX2[op]
	case 3:
		return x86VEX3[op]
	case 5:
		return when(op == 0xfd, 'm')
	case 7:
		return when(op == 0xf6 || op == 0xf8, 'D')
	}
	return '-'
}

// evexForm is the form of the opcode that code begins with, behind what is said
// before it.
func (x *x86) evexForm(payload, code []byte) byte {
	op := code[0]
	switch payload[0] & 7 {
	case 1:
		return x86EVEX1[op]
	case 2:
		return x86EVEX2[op]
	case 3:
		return x86EVEX3[op]
	case 4:
		x.operand, x.wide = payload[1]&3 == 1, payload[1]&0x80 != 0
		form := x86EVEX4[op]
		if form == 'g' {
			form = groupOne(op, code[1])
		}
		return form
	case 5:
		return x86EVEX5[op]
	case 6:
		return x86EVEX6[op]
	case 7:
		return when(op == 0xf6 || op == 0xf8, 'D')
	}
	return '-'
}

// xopForm is the form of an opcode in one of the maps of XOP.
func xopForm(page, op byte) byte {
	row, column := op>>4, op&15
	switch page {
	case 8:
		switch row {
		case 0x8, 0x9:
			return when(column >= 0xe || column >= 5 && column <= 7, 'M')
		case 0xc:
			return when(column < 4 || column >= 0xc, 'M')
		case 0xe:
			return when(column >= 0xc, 'M')
		}
		return when(op == 0xa2 || op == 0xa3 || op == 0xa6 || op == 0xb6, 'M')
	case 9:
		switch row {
		case 0x8:
			return when(column < 4, 'm')
		case 0x9:
			return when(column < 0xc, 'm')
		case 0xc, 0xd:
			return when(0x08ce>>column&1 != 0, 'm')
		case 0xe:
			return when(0x000e>>column&1 != 0, 'm')
		}
		return when(op == 0x01 || op == 0x02 || op == 0x12, 'm')
	case 10:
		return when(op == 0x10 || op == 0x12, 'D')
	}
	return '-'
}

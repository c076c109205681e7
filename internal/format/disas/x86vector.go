package disas

// vector decodes the rest, from n on, of a VEX, EVEX or XOP prefix whose first
// byte is op. It returns the offset after the opcode, and the opcode's form.
func (x *x86) vector(code []byte, n int, op byte) (int, byte) {
	size := 2
	switch op {
	case 0xc5:
		size = 1
	case 0x62:
		size = 3
	}
	// The opcode must be there, and after EVEX also ModRM.
	if n+size >= len(code) || op == 0x62 && n+size+1 >= len(code) || x.operand || x.lock || x.repeat != 0 || x.rex {
		return n, formInvalid
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

// vexForm returns the form of an opcode in a map of VEX.
func vexForm(page, op byte) byte {
	switch page {
	case 1:
		return x86VEX1[op]
	case 2:
		return x86VEX2[op]
	case 3:
		return x86VEX3[op]
	case 5:
		return formIf(op == 0xfd, formModRM)
	case 7:
		return formIf(op == 0xf6 || op == 0xf8, formModRMFour)
	}
	return formInvalid
}

// evexForm returns the form of the opcode at the start of code after an EVEX
// prefix.
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
		if form == formGroup {
			form = group1Form(op, code[1])
		}
		return form
	case 5:
		return x86EVEX5[op]
	case 6:
		return x86EVEX6[op]
	case 7:
		return formIf(op == 0xf6 || op == 0xf8, formModRMFour)
	}
	return formInvalid
}

// xopForm returns the form of an opcode in a map of XOP.
func xopForm(page, op byte) byte {
	row, column := op>>4, op&15
	switch page {
	case 8:
		switch row {
		case 0x8, 0x9:
			return formIf(column >= 0xe || column >= 5 && column <= 7, formModRMByte)
		case 0xc:
			return formIf(column < 4 || column >= 0xc, formModRMByte)
		case 0xe:
			return formIf(column >= 0xc, formModRMByte)
		}
		return formIf(op == 0xa2 || op == 0xa3 || op == 0xa6 || op == 0xb6, formModRMByte)
	case 9:
		switch row {
		case 0x8:
			return formIf(column < 4, formModRM)
		case 0x9:
			return formIf(column < 0xc, formModRM)
		case 0xc, 0xd:
			return formIf(0x08ce>>column&1 != 0, formModRM)
		case 0xe:
			return formIf(0x000e>>column&1 != 0, formModRM)
		}
		return formIf(op == 0x01 || op == 0x02 || op == 0x12, formModRM)
	case 10:
		return formIf(op == 0x10 || op == 0x12, formModRMFour)
	}
	return formInvalid
}

package disas

// groupForm returns the form of an opcode of a map that depends on ModRM. page
// is the number of the map.
func (x *x86) groupForm(page, op, modrm byte) byte {
	switch page {
	case 0:
		return group1Form(op, modrm)
	case 1:
		return x.group2Form(op, modrm)
	}
	return memoryForm(modrm, formModRM)
}

// memoryForm returns form for a memory operand; a register is invalid.
func memoryForm(modrm, form byte) byte { return formIf(modrm < 0xc0, form) }

// registerForm returns form for a register operand; memory is invalid.
func registerForm(modrm, form byte) byte { return formIf(modrm >= 0xc0, form) }

func formIf(ok bool, form byte) byte {
	if ok {
		return form
	}
	return formInvalid
}

func group1Form(op, modrm byte) byte {
	reg := modrm >> 3 & 7
	switch op {
	case 0x8c:
		return formIf(reg < 6, formModRM)
	case 0x8d:
		return memoryForm(modrm, formModRM)
	case 0x8e:
		return formIf(reg < 6 && reg != 1, formModRM)
	case 0x8f:
		return formIf(reg == 0, formModRM)
	case 0xc6: // also XABORT
		return formIf(reg == 0 || modrm == 0xf8, formModRMByte)
	case 0xc7: // also XBEGIN
		return formIf(reg == 0 || modrm == 0xf8, formModRMSize)
	case 0xf6:
		if reg < 2 {
			return formModRMByte
		}
		return formModRM
	case 0xf7:
		if reg < 2 {
			return formModRMSize
		}
		return formModRM
	case 0xfe:
		return formIf(reg < 2, formModRM)
	case 0xff:
		return formIf(reg < 3 || reg == 4 || reg == 6 || reg != 7 && modrm < 0xc0, formModRM)
	}
	return floatForm(op, modrm)
}

// floatForm returns the form of the floating-point opcodes, D8 to DF.
func floatForm(op, modrm byte) byte {
	reg := modrm >> 3 & 7
	if modrm < 0xc0 {
		return formIf(op != 0xd9 && op != 0xdb && op != 0xdd ||
			op == 0xd9 && reg != 1 || op == 0xdb && reg != 4 && reg != 6 || op == 0xdd && reg != 5, formModRM)
	}
	ok := true
	switch op {
	case 0xd9: // from D0 on, one operation each
		ok = reg < 2 || reg == 3 || reg > 5 || modrm == 0xd0 || reg >= 4 && 0x7f33>>(modrm&15)&1 != 0
	case 0xda:
		ok = reg < 4 || modrm == 0xe9
	case 0xdb:
		ok = reg < 4 || reg == 4 && modrm < 0xe6 || reg == 5 || reg == 6
	case 0xdd:
		ok = reg < 6
	case 0xde:
		ok = reg < 3 || modrm == 0xd9 || reg > 3
	case 0xdf:
		ok = reg < 4 || modrm < 0xe3 || reg == 5 || reg == 6
	}
	return formIf(ok, formModRM)
}

// systemModRM has a bit for each valid ModRM byte from C0 on after 0F 01.
const systemModRM uint64 = 0xff<<(0xf8-0xc0) | 0xff<<(0xf0-0xc0) | 0xf7<<(0xe8-0xc0) | 0xff<<(0xe0-0xc0) |
	0xff<<(0xd8-0xc0) | 0xf3<<(0xd0-0xc0) | 0xff<<(0xc8-0xc0) | 0xff

func (x *x86) group2Form(op, modrm byte) byte {
	reg := modrm >> 3 & 7
	switch op {
	case 0x00:
		return formIf(reg < 6 || reg == 6 && x.repeat == 0xf2, formModRM)
	case 0x01:
		return formIf(modrm < 0xc0 && (reg != 5 || x.repeat == 0xf3) || modrm >= 0xc0 && systemModRM>>(modrm&0x3f)&1 != 0, formModRM)
	case 0x13, 0x17, 0x2b, 0xb2, 0xb4, 0xb5, 0xc3, 0xe7:
		return memoryForm(modrm, formModRM)
	case 0x20, 0x22:
		return formIf(0x1d>>reg&1 != 0, formByte)
	case 0x21, 0x23:
		// These four take two registers, whatever the mode bits are.
		return formByte
	case 0x50, 0xd7, 0xf7:
		return registerForm(modrm, formModRM)
	case 0x71, 0x72:
		return formIf(modrm >= 0xc0 && reg&1 == 0 && reg != 0, formModRMByte)
	case 0x73:
		return formIf(modrm >= 0xc0 && reg&2 != 0, formModRMByte)
	case 0x78:
		if x.operand || x.repeat == 0xf2 {
			return registerForm(modrm, formThree) // EXTRQ, INSERTQ
		}
		return formModRM
	case 0xa6, 0xa7:
		return formIf(modrm >= 0xc0 && modrm&7 == 0, formModRM)
	case 0x7c, 0x7d, 0xd0:
		return formIf(x.operand || x.repeat == 0xf2, formModRM)
	case 0xd6, 0xe6:
		return formIf(x.operand || x.repeat != 0, formModRM)
	case 0xf0:
		return formIf(x.repeat == 0xf2 && modrm < 0xc0, formModRM)
	case 0xae:
		return formIf(modrm < 0xc0 || reg > 4 || x.repeat == 0xf3, formModRM)
	case 0xc7:
		return formIf(reg > 5 || modrm < 0xc0 && reg != 0 && reg != 2, formModRM)
	case 0xb8:
		return formIf(x.repeat == 0xf3, formModRM)
	case 0xba:
		return formIf(reg >= 4, formModRMByte)
	case 0xc5:
		return registerForm(modrm, formModRMByte)
	}
	return formModRM
}

package disas

// group is the form of an opcode of a page, which is a map of opcodes, behind which
// ModRM says more.
func (x *x86) group(page, op, modrm byte) byte {
	switch page {
	case 0:
		return groupOne(op, modrm)
	case 1:
		return x.groupTwo(op, modrm)
	}
	return memory(modrm, 'm')
}

// memory is the form for an operand in memory; a register is invalid.
func memory(modrm, form byte) byte { return when(modrm < 0xc0, form) }

// register is the form for an operand in a register; memory is invalid.
func register(modrm, form byte) byte { return when(modrm >= 0xc0, form) }

func when(ok bool, form byte) byte {
	if ok {
		return form
	}
	return '-'
}

func groupOne(op, modrm byte) byte {
	reg := modrm >> 3 & 7
	switch op {
	case 0x8c:
		return when(reg < 6, 'm')
	case 0x8d:
		return memory(modrm, 'm')
	case 0x8e:
		return when(reg < 6 && reg != 1, 'm')
	case 0x8f:
		return when(reg == 0, 'm')
	case 0xc6: // also XABORT
		return when(reg == 0 || modrm == 0xf8, 'M')
	case 0xc7: // also XBEGIN
		return when(reg == 0 || modrm == 0xf8, 'Z')
	case 0xf6:
		if reg < 2 {
			return 'M'
		}
		return 'm'
	case 0xf7:
		if reg < 2 {
			return 'Z'
		}
		return 'm'
	case 0xfe:
		return when(reg < 2, 'm')
	case 0xff:
		return when(reg < 3 || reg == 4 || reg == 6 || reg != 7 && modrm < 0xc0, 'm')
	}
	return floating(op, modrm)
}

// floating is the form of the opcodes of the floating-point unit, D8 to DF.
func floating(op, modrm byte) byte {
	reg := modrm >> 3 & 7
	if modrm < 0xc0 {
		return when(op != 0xd9 && op != 0xdb && op != 0xdd ||
			op == 0xd9 && reg != 1 || op == 0xdb && reg != 4 && reg != 6 || op == 0xdd && reg != 5, 'm')
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
	return when(ok, 'm')
}

// system has a bit for each ModRM from C0 on that is an instruction behind 0F 01.
const system uint64 = 0xff<<(0xf8-0xc0) | 0xff<<(0xf0-0xc0) | 0xf7<<(0xe8-0xc0) | 0xff<<(0xe0-0xc0) |
	0xff<<(0xd8-0xc0) | 0xf3<<(0xd0-0xc0) | 0xff<<(0xc8-0xc0) | 0xff

func (x *x86) groupTwo(op, modrm byte) byte {
	reg := modrm >> 3 & 7
	switch op {
	case 0x00:
		return when(reg < 6 || reg == 6 && x.repeat == 0xf2, 'm')
	case 0x01:
		return when(modrm < 0xc0 && (reg != 5 || x.repeat == 0xf3) || modrm >= 0xc0 && system>>(modrm&0x3f)&1 != 0, 'm')
	case 0x13, 0x17, 0x2b, 0xb2, 0xb4, 0xb5, 0xc3, 0xe7:
		return memory(modrm, 'm')
	case 0x20, 0x22:
		return when(0x1d>>reg&1 != 0, 'b')
	case 0x21, 0x23:
		// These four have two registers, whatever is said of memory.
		return 'b'
	case 0x50, 0xd7, 0xf7:
		return register(modrm, 'm')
	case 0x71, 0x72:
		return when(modrm >= 0xc0 && reg&1 == 0 && reg != 0, 'M')
	case 0x73:
		return when(modrm >= 0xc0 && reg&2 != 0, 'M')
	case 0x78:
		if x.operand || x.repeat == 0xf2 {
			return register(modrm, 'e') // EXTRQ, INSERTQ
		}
		return 'm'
	case 0xa6, 0xa7:
		return when(modrm >= 0xc0 && modrm&7 == 0, 'm')
	case 0x7c, 0x7d, 0xd0:
		return when(x.operand || x.repeat == 0xf2, 'm')
	case 0xd6, 0xe6:
		return when(x.operand || x.repeat != 0, 'm')
	case 0xf0:
		return when(x.repeat == 0xf2 && modrm < 0xc0, 'm')
	case 0xae:
		return when(modrm < 0xc0 || reg > 4 || x.repeat == 0xf3, 'm')
	case 0xc7:
		return when(reg > 5 || modrm < 0xc0 && reg != 0 && reg != 2, 'm')
	case 0xb8:
		return when(x.repeat == 0xf3, 'm')
	case 0xba:
		return when(reg >= 4, 'M')
	case 0xc5:
		return register(modrm, 'M')
	}
	return 'm'
}

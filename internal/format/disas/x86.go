package disas

// x86MaxLength is the largest length of an instruction.
const x86MaxLength = 15

// x86 is the state of the prefixes of an instruction.
type x86 struct {
	long    bool // 64-bit mode
	wide    bool // REX.W or an equivalent: operands have 64 bits
	rex     bool // a REX prefix precedes the opcode
	operand bool // 66
	address bool // 67
	lock    bool // F0
	repeat  byte // F2, F3 or 0
}

func x86Length(code []byte, long bool) (int, bool) {
	code = code[:min(len(code), x86MaxLength)]
	x := x86{long: long}
	for n, op := range code {
		form := x86Map1[op]
		if !long {
			form = x86Map1Legacy[op]
		}
		switch form {
		case formPrefix:
			x.prefix(op)
			continue
		case formREX:
			x.rex, x.wide = true, op&8 != 0
			continue
		case formModRM, formNone, formByte, formSize, formJump:
			// The most frequent forms.
			n = x.after(code, n+1, form)
		default:
			return x.decodeRare(code, n+1, op, form)
		}
		if n > len(code) {
			return 0, false
		}
		return n, op == 0xe8 || op == 0xcd || op == 0xce
	}
	return 0, false
}

// prefix records a legacy prefix. It cancels a REX prefix before it.
func (x *x86) prefix(op byte) {
	x.rex, x.wide = false, false
	switch op {
	case 0x66:
		x.operand = true
	case 0x67:
		x.address = true
	case 0xf0:
		x.lock = true
	case 0xf2, 0xf3:
		x.repeat = op
	}
}

// decodeRare decodes an instruction whose opcode in the first map has a less
// frequent form. n is the offset after the opcode.
func (x *x86) decodeRare(code []byte, n int, op, form byte) (int, bool) {
	page := byte(0)
	if form == formREX2 {
		if x.rex || n+2 > len(code) {
			return 0, false
		}
		x.rex, x.wide, page = true, code[n]&8 != 0, code[n]>>7
		op = code[n+1]
		form = rex2Form(page, op)
		n += 2
	}
	for form == formMap0F || form == formMap38 || form == formMap3A {
		if n >= len(code) {
			return 0, false
		}
		page, op = pageOf(form), code[n]
		form = [...]string{1: x86Map0F, 2: x86Map38, 3: x86Map3A}[page][op]
		n++
	}
	if form == formGroup || form == formVEX || form == formEVEX {
		if n >= len(code) {
			return 0, false
		}
		switch {
		case page == 0 && op == 0x8f && code[n]&0x1f >= 8, form != formGroup && (x.long || code[n] >= 0xc0):
			n, form = x.vector(code, n, op)
		case form != formGroup:
			form = formModRM // BOUND, LDS and LES of 32-bit mode
		default:
			form = x.groupForm(page, op, code[n])
		}
	}
	switch {
	case form != formModRM66 && form != formModRMByte66:
	case !x.operand:
		return 0, false
	case form == formModRM66:
		form = formModRM
	default:
		form = formModRMByte
	}
	call := false
	switch {
	case form == formInvalid:
		return 0, false
	case page == 0 && op == 0xff:
		reg := code[n] >> 3 & 7
		call = reg == 2 || reg == 3
	case page == 0:
		call = op == 0x9a
	case page == 1:
		call = op == 0x05
	}
	if n = x.after(code, n, form); n > len(code) {
		return 0, false
	}
	return n, call
}

func pageOf(form byte) byte {
	switch form {
	case formMap0F:
		return 1
	case formMap38:
		return 2
	}
	return 3
}

// rex2Form returns the form of an opcode after a REX2 prefix, where prefixes,
// escapes and jumps are invalid, and A1 is another instruction.
func rex2Form(page, op byte) byte {
	row := op >> 4
	switch {
	case page == 0 && op == 0xa1:
		return formEight
	case page == 0 && (row == 4 || row == 7 || row == 0xa || row == 0xe), page == 1 && (row == 3 || row == 8):
		return formInvalid
	case page == 1:
		return x86Map0F[op]
	}
	switch form := x86Map1[op]; form {
	case formPrefix, formREX2, formVEX, formEVEX, formMap0F:
		return formInvalid
	default:
		return form
	}
}

// after returns the end of an instruction whose form begins at n. The end
// exceeds the code if the instruction is truncated.
func (x *x86) after(code []byte, n int, form byte) int {
	switch form {
	case formModRM:
		return x.modrm(code, n)
	case formNone:
		return n
	case formModRMByte:
		return x.modrm(code, n) + 1
	case formModRMSize:
		return x.modrm(code, n) + x.size()
	case formByte:
		return n + 1
	case formTwo:
		return n + 2
	case formThree:
		return n + 3
	case formSize:
		return n + x.size()
	case formSizeWide:
		if x.wide {
			return n + 8
		}
		return n + x.size()
	case formEight:
		return n + 8
	case formJump:
		// In 64-bit mode Intel's processors ignore the prefix 66 here.
		if x.long {
			return n + 4
		}
		return n + x.size()
	case formPointer:
		return n + x.pointer()
	case formFar:
		return n + x.size() + 2
	case formModRMFour:
		return x.modrm(code, n) + 4
	}
	return x86MaxLength + 1
}

// size returns the number of bytes of an operand.
func (x *x86) size() int {
	if x.operand && !x.wide {
		return 2
	}
	return 4
}

// pointer returns the number of bytes of an address.
func (x *x86) pointer() int {
	switch {
	case x.long && !x.address:
		return 8
	case x.long || !x.address:
		return 4
	}
	return 2
}

// modrm returns the end of an operand whose ModRM byte is at n.
func (x *x86) modrm(code []byte, n int) int {
	if n >= len(code) {
		return x86MaxLength + 1
	}
	mod, rm := code[n]>>6, code[n]&7
	n++
	switch {
	case mod == 3:
		return n
	case x.address && !x.long:
		if mod == 2 || mod == 0 && rm == 6 {
			return n + 2
		}
		return n + int(mod)
	case rm == 4:
		if n >= len(code) {
			return x86MaxLength + 1
		}
		rm = code[n] & 7 // the base register of SIB
		n++
	}
	if mod == 2 || mod == 0 && rm == 5 {
		return n + 4
	}
	return n + int(mod)
}

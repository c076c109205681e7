package disas

// x86Most is the number of bytes that an instruction may have.
const x86Most = 15

// x86 is what the prefixes of an instruction say of its length.
type x86 struct {
	long    bool // 64-bit mode
	wide    bool // REX.W or its like: operands have 64 bits
	rex     bool // a REX prefix stands before the opcode
	operand bool // 66
	address bool // 67
	lock    bool // F0
	repeat  byte // F2, F3 or 0
}

func x86Length(code []byte, long bool) (int, bool) {
	code = code[:min(len(code), x86Most)]
	x := x86{long: long}
	for n, op := range code {
		form := x86One[op]
		if !long {
			form = x86Old[op]
		}
		switch form {
		case 'p':
			x.prefix(op)
			continue
		case 'r':
			x.rex, x.wide = true, op&8 != 0
			continue
		case 'm', '.', 'b', 'z', 'j':
			// Most instructions need nothing more.
			n = x.behind(code, n+1, form)
		default:
			return x.rare(code, n+1, op, form)
		}
		if n > len(code) {
			return 0, false
		}
		return n, op == 0xe8 || op == 0xcd || op == 0xce
	}
	return 0, false
}

// prefix notes a legacy prefix. A REX prefix before it counts for nothing.
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

// rare decodes what is behind an opcode of the first map, at n, if it is more than
// what has no conditions.
func (x *x86) rare(code []byte, n int, op, form byte) (int, bool) {
	page := byte(0)
	if form == 'R' {
		if x.rex || n+2 > len(code) {
			return 0, false
		}
		x.rex, x.wide, page = true, code[n]&8 != 0, code[n]>>7
		op = code[n+1]
		form = rex2Form(page, op)
		n += 2
	}
	for form == 'x' || form == 'X' || form == 'Y' {
		if n >= len(code) {
			return 0, false
		}
		page, op = pageOf(form), code[n]
		form = [...]string{1: x86Two, 2: x86Three, 3: x86Four}[page][op]
		n++
	}
	if form == 'g' || form == 'V' || form == 'E' {
		if n >= len(code) {
			return 0, false
		}
		switch {
		case page == 0 && op == 0x8f && code[n]&0x1f >= 8, form != 'g' && (x.long || code[n] >= 0xc0):
			n, form = x.vector(code, n, op)
		case form != 'g':
			form = 'm' // BOUND, LDS and LES of 32-bit mode
		default:
			form = x.group(page, op, code[n])
		}
	}
	if form == 's' || form == 'S' {
		if !x.operand {
			return 0, false
		}
		form -= 's' - 'm'
	}
	call := false
	switch {
	case form == '-':
		return 0, false
	case page == 0 && op == 0xff:
		reg := code[n] >> 3 & 7
		call = reg == 2 || reg == 3
	case page == 0:
		call = op == 0x9a
	case page == 1:
		call = op == 0x05
	}
	if n = x.behind(code, n, form); n > len(code) {
		return 0, false
	}
	return n, call
}

func pageOf(form byte) byte {
	switch form {
	case 'x':
		return 1
	case 'X':
		return 2
	}
	return 3
}

// rex2Form is the form of an opcode behind a REX2 prefix, which has no use for
// prefixes, escapes, and jumps, and one of its own for A1.
func rex2Form(page, op byte) byte {
	row := op >> 4
	switch {
	case page == 0 && op == 0xa1:
		return 'q'
	case page == 0 && (row == 4 || row == 7 || row == 0xa || row == 0xe), page == 1 && (row == 3 || row == 8):
		return '-'
	case page == 1:
		return x86Two[op]
	}
	switch form := x86One[op]; form {
	case 'p', 'R', 'V', 'E', 'x':
		return '-'
	default:
		return form
	}
}

// behind is where the instruction ends that has this at n; more than there is when
// it is cut off.
func (x *x86) behind(code []byte, n int, form byte) int {
	switch form {
	case 'm':
		return x.modrm(code, n)
	case '.':
		return n
	case 'M':
		return x.modrm(code, n) + 1
	case 'Z':
		return x.modrm(code, n) + x.size()
	case 'b':
		return n + 1
	case 'w':
		return n + 2
	case 'e':
		return n + 3
	case 'z':
		return n + x.size()
	case 'v':
		if x.wide {
			return n + 8
		}
		return n + x.size()
	case 'q':
		return n + 8
	case 'j':
		// In 64-bit mode Intel's processors ignore the prefix 66 here.
		if x.long {
			return n + 4
		}
		return n + x.size()
	case 'o':
		return n + x.pointer()
	case 'f':
		return n + x.size() + 2
	case 'D':
		return x.modrm(code, n) + 4
	}
	return x86Most + 1
}

// size is how many bytes an operand has.
func (x *x86) size() int {
	if x.operand && !x.wide {
		return 2
	}
	return 4
}

// pointer is how many bytes an address has.
func (x *x86) pointer() int {
	switch {
	case x.long && !x.address:
		return 8
	case x.long || !x.address:
		return 4
	}
	return 2
}

// modrm is where the operand ends that begins at n with a byte ModRM.
func (x *x86) modrm(code []byte, n int) int {
	if n >= len(code) {
		return x86Most + 1
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
			return x86Most + 1
		}
		rm = code[n] & 7 // the base in SIB
		n++
	}
	if mod == 2 || mod == 0 && rm == 5 {
		return n + 4
	}
	return n + int(mod)
}

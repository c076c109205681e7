package pe

// Operations of an x64 unwind code. Those of kind 6 and 7 describe epilogs, or
// are unused.
const (
	x64Push         = 0
	x64AllocLarge   = 1
	x64AllocSmall   = 2
	x64SetFrame     = 3
	x64Save         = 4
	x64SaveFar      = 5
	x64Epilog       = 6
	x64Spare        = 7
	x64SaveXMM      = 8
	x64SaveXMMFar   = 9
	x64MachineFrame = 10
)

const (
	// x64Chained is the flag of an entry that continues another one.
	x64Chained = 4
	// maxChain limits the length of a chain of entries.
	maxChain = 32
)

const (
	x64Stack  = 4
	x64Return = 16
)

var x64Registers = registers{
	names: [maxRegisters]string{"$rax", "$rcx", "$rdx", "$rbx", "$rsp", "$rbp", "$rsi", "$rdi",
		"$r8", "$r9", "$r10", "$r11", "$r12", "$r13", "$r14", "$r15", x64Return: ".ra"},
	stack: x64Stack, ret: x64Return,
}

// infoX64 is the unwind information of an entry: {version and flags, size of
// the prolog, number of codes, frame register and its offset}, the codes of two
// bytes each from the last one to the first, and the entry that it continues.
type infoX64 struct {
	flags    uint8
	frame    uint8 // register; 0: none
	frameOff int64 // distance from the stack pointer when it is set
	codes    []byte
	parent   entry
}

func (f *File) infoX64(e entry) (x infoX64, why string) {
	for n := 0; e.info&1 != 0; n++ { // refers to another entry
		b := f.Mapped(e.info&^1, 12)
		if len(b) < 12 || n == maxChain {
			return x, "invalid reference to another entry"
		}
		e.info = le.Uint32(b[8:])
	}
	head := f.Mapped(e.info, 4)
	if len(head) < 4 {
		return x, "unwind information is beyond the end of the file"
	}
	if version := head[0] & 7; version != 1 && version != 2 {
		return x, "unknown version of unwind information"
	}
	x.flags, x.frame, x.frameOff = head[0]>>3, head[3]&15, int64(head[3]>>4)*16
	size := int64(head[2]) * 2
	x.codes = f.Mapped(e.info+4, size)
	if int64(len(x.codes)) < size {
		return x, "unwind codes are beyond the end of the file"
	}
	if x.flags&x64Chained != 0 {
		b := f.Mapped(e.info+4+uint32(size+3)&^3, 12)
		if len(b) < 12 {
			return x, "the chained entry is beyond the end of the file"
		}
		x.parent = entry{le.Uint32(b), le.Uint32(b[4:]), le.Uint32(b[8:])}
	}
	return x, ""
}

// partX64 reports whether an entry is a part of another function.
func (f *File) partX64(e entry) bool {
	x, _ := f.infoX64(e)
	return e.info&1 != 0 || x.flags&x64Chained != 0
}

// x64 writes the records of a function. The codes of the entries that it
// continues have all been executed before its first instruction.
func (u *unwinder) x64(e entry) (why string) {
	if e.end <= e.start {
		return "invalid range of addresses"
	}
	u.begin(e, &x64Registers)
	u.now.alloc(8, x64Stack)
	u.now.save(x64Return, 0)
	var chain [maxChain]infoX64
	n := 0
	for at := e; ; n++ {
		if n == maxChain {
			return "chain of entries is too long"
		}
		if chain[n], why = u.file.infoX64(at); why != "" {
			return why
		}
		if chain[n].flags&x64Chained == 0 {
			break
		}
		at = chain[n].parent
	}
	for ; n >= 0; n-- {
		if why := u.codesX64(&chain[n], n == 0); why != "" {
			return why
		}
	}
	return ""
}

// slotsX64 returns the number of slots of an operation.
func slotsX64(op, info uint8) int {
	switch op {
	case x64AllocLarge:
		return 2 + int(min(info, 1))
	case x64Save, x64SaveXMM, x64Epilog:
		return 2
	case x64SaveFar, x64SaveXMMFar, x64Spare:
		return 3
	}
	return 1
}

// codesX64 applies codes, the last one first, and writes a row before each code
// of another instruction.
func (u *unwinder) codesX64(x *infoX64, rows bool) (why string) {
	var starts [256]uint8
	n := 0
	for at := 0; at < len(x.codes)/2; n++ {
		starts[n] = uint8(at)
		at += slotsX64(x.codes[2*at+1]&15, x.codes[2*at+1]>>4)
		if at > len(x.codes)/2 {
			return "unwind codes are truncated"
		}
	}
	offset := uint8(0)
	for n--; n >= 0; n-- {
		code := x.codes[2*int(starts[n]):]
		if rows && code[0] > offset && code[1]&15 != x64Epilog {
			u.row(u.start + uint32(offset))
			offset = code[0]
		}
		if !u.step() {
			return "too many unwind codes"
		}
		if !u.codeX64(x, code) {
			return "unknown unwind code"
		}
	}
	if rows {
		u.row(u.start + uint32(offset))
	}
	return ""
}

func (u *unwinder) codeX64(x *infoX64, code []byte) bool {
	f, op, info := &u.now, code[1]&15, code[1]>>4
	operand := func() int64 {
		if slotsX64(op, info) == 3 {
			return int64(le.Uint32(code[2:]))
		}
		return int64(le.Uint16(code[2:])) * 8
	}
	switch op {
	case x64Push:
		f.alloc(8, x64Stack)
		f.save(info, 0)
	case x64AllocLarge:
		f.alloc(operand(), x64Stack)
	case x64AllocSmall:
		f.alloc(int64(info)*8+8, x64Stack)
	case x64SetFrame:
		if x.frame == 0 {
			return false
		}
		f.base, f.off = x.frame, f.depth-x.frameOff
	case x64Save, x64SaveFar:
		f.save(info, operand())
		if f.base != x64Stack && f.base == x.frame {
			f.at[info] = operand() - x.frameOff - f.off
			f.relative |= 1 << info
		}
	case x64MachineFrame:
		// The processor saves SS, RSP, flags, CS, RIP and optionally an error
		// code.
		f.depth = 0
		f.alloc(40, x64Stack)
		f.save(x64Return, 0)
		f.save(x64Stack, 24)
		f.alloc(int64(info&1)*8, x64Stack)
	case x64Epilog, x64Spare, x64SaveXMM, x64SaveXMMFar:
	default:
		return false
	}
	return true
}

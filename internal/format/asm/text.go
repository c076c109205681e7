package asm

import (
	"strconv"
	"strings"

	"golang.org/x/arch/x86/x86asm"
)

// Intel returns an x86 instruction in Intel's syntax, with the size of each operand in
// memory and the sign of each number.
func Intel(inst *x86asm.Inst) string {
	var b strings.Builder
	for _, p := range inst.Prefix {
		if p == 0 || isVEX(inst) {
			break
		}
		switch p {
		case x86asm.PrefixLOCK:
			b.WriteString("lock ")
		case x86asm.PrefixREP:
			b.WriteString("rep ")
		case x86asm.PrefixREPN:
			b.WriteString("repnz ")
		}
	}
	b.WriteString(mnemonic(inst.Op))
	separator := " "
	for _, arg := range inst.Args {
		if arg == nil {
			break
		}
		b.WriteString(separator)
		separator = ", "
		switch arg := arg.(type) {
		case x86asm.Reg:
			b.WriteString(RegisterName(arg))
		case x86asm.Mem:
			b.WriteString(memory(inst, arg))
		case x86asm.Imm:
			b.WriteString(sign(immediate(inst, int64(arg)), "", "-"))
		case x86asm.Rel:
			b.WriteString(sign(int64(arg), "$+", "$-"))
		}
	}
	return b.String()
}

func mnemonic(op x86asm.Op) string {
	if text := mnemonics[op]; text != "" {
		return text
	}
	if name, size := stringOp(op); size != 0 {
		return strings.ToLower(name)
	}
	return strings.ToLower(op.String())
}

// mnemonics has the names of instructions that x86asm names otherwise.
var mnemonics = map[x86asm.Op]string{
	x86asm.JE: "jz", x86asm.JNE: "jnz", x86asm.JAE: "jnb", x86asm.JBE: "jna", x86asm.SETE: "setz", x86asm.SETNE: "setnz",
	x86asm.CMOVE: "cmovz", x86asm.CMOVNE: "cmovnz", x86asm.CMOVAE: "cmovnb", x86asm.CMOVBE: "cmovna",
	x86asm.LRET: "retf", x86asm.LCALL: "callf", x86asm.LJMP: "jmpf", x86asm.LOOPE: "loopz", x86asm.LOOPNE: "loopnz",
	x86asm.MOVSD_XMM: "movsd", x86asm.CMPSD_XMM: "cmpsd", x86asm.FWAIT: "wait", x86asm.POPFQ: "popf", x86asm.PUSHFQ: "pushf",
}

// sizes has the names of sizes in bytes.
var sizes = [...]string{
	1: "byte ", 2: "word ", 4: "dword ", 6: "far ", 8: "qword ", 10: "mword ", 16: "xmmword ", 32: "ymmword ", 64: "zmmword ",
}

func memory(inst *x86asm.Inst, m x86asm.Mem) string {
	var b strings.Builder
	if inst.MemBytes < len(sizes) {
		b.WriteString(sizes[inst.MemBytes])
	}
	name, _ := stringOp(inst.Op)
	switch {
	case m.Segment == x86asm.FS, m.Segment == x86asm.GS, name != "" && m.Segment == x86asm.ES, name == "MOVS" && m.Segment != 0:
		b.WriteString(RegisterName(m.Segment) + ":")
	}
	b.WriteByte('[')
	between := ""
	if m.Base != 0 {
		b.WriteString(RegisterName(m.Base))
		between = " + "
	}
	if m.Index != 0 && m.Scale != 0 {
		b.WriteString(between + RegisterName(m.Index) + " * " + strconv.Itoa(int(m.Scale)))
		between = " + "
	}
	switch {
	case between == "":
		b.WriteString("0x" + strconv.FormatUint(uint64(m.Disp), 16))
	case m.Disp != 0:
		b.WriteString(sign(m.Disp, " + ", " - "))
	}
	b.WriteByte(']')
	return b.String()
}

// sign returns a number in hexadecimal after one of two signs.
func sign(v int64, plus, minus string) string {
	if v < 0 {
		plus, v = minus, -v
	}
	return plus + "0x" + strconv.FormatUint(uint64(v), 16)
}

// immediate returns a number with its sign: those of a byte come without it.
func immediate(inst *x86asm.Inst, v int64) int64 {
	r, isReg := inst.Args[0].(x86asm.Reg)
	_, isMem := inst.Args[0].(x86asm.Mem)
	if isReg && r <= x86asm.R15B && inst.Op != x86asm.MOV || isMem && inst.MemBytes == 1 {
		return int64(int8(v))
	}
	return v
}

// registers has the registers that x86asm names otherwise.
var registers = [...]struct {
	first, last   x86asm.Reg
	before, after string // the number
	number        int    // of the first
}{
	{x86asm.R8L, x86asm.R15L, "r", "d", 8},
	{x86asm.F0, x86asm.F7, "st(", ")", 0},
	{x86asm.M0, x86asm.M7, "mm", "", 0},
	{x86asm.X0, x86asm.X31, "xmm", "", 0},
	{x86asm.Y0, x86asm.Y31, "ymm", "", 0},
	{x86asm.Z0, x86asm.Z31, "zmm", "", 0},
}

// RegisterName returns the name of a register, as rsp, r8d, xmm0 or st(0).
func RegisterName(r x86asm.Reg) string {
	if r >= x86asm.SPB && r <= x86asm.DIB {
		return [...]string{"spl", "bpl", "sil", "dil"}[r-x86asm.SPB]
	}
	for _, s := range registers {
		if r >= s.first && r <= s.last {
			return s.before + strconv.Itoa(s.number+int(r-s.first)) + s.after
		}
	}
	return strings.ToLower(r.String())
}

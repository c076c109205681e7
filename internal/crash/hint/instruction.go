package hint

import (
	"strings"

	"golang.org/x/arch/x86/x86asm"

	"symbolon/internal/format/asm"
)

// An instruction has the properties of the instruction of a crash.
type instruction struct {
	isDecoded    bool
	isDivision   bool
	isPrivileged bool
	isPrecise    bool // all accesses and their kinds are known
	// isPlain: it raises a general protection fault only for a non-canonical
	// address, not also for one that is not aligned.
	isPlain bool
}

// decode decodes the instruction at the program counter.
func (a *analysis) decode() {
	if a.CPU.Name != "amd64" && a.CPU.Name != "x86" {
		return
	}
	code := make([]byte, 15) // of the longest instruction
	inst, ok := asm.DecodeX86(code[:a.Memory.ReadAt(code, a.pc)], 8*a.CPU.Word)
	if !ok {
		return
	}
	a.Instruction = asm.Intel(&inst)
	a.instruction = instruction{
		isDecoded:    true,
		isDivision:   inst.Op == x86asm.DIV || inst.Op == x86asm.IDIV || inst.Op == x86asm.AAM,
		isPrivileged: isOneOf(inst.Op, privileged) || isSystemMove(&inst),
		isPrecise:    !isOneOf(inst.Op, implicit),
		isPlain:      isOneOf(inst.Op, plain) && !isSystemMove(&inst),
	}
	if !a.findAccesses(&inst) {
		a.Accesses, a.isPrecise = nil, false
	}
	a.findTarget(&inst)
}

// findAccesses finds the accesses to memory, in the order of the operands. It
// fails if an address depends on an unknown register.
func (a *analysis) findAccesses(inst *x86asm.Inst) bool {
	a.Accesses = []Access{}
	if isOneOf(inst.Op, addressOnly) {
		return true
	}
	for i, arg := range inst.Args {
		mem, ok := arg.(x86asm.Mem)
		if !ok {
			continue
		}
		access, ok := a.access(&mem, inst)
		if !ok {
			return false
		}
		access.Size, access.Kind = inst.MemBytes, kindOf(inst.Op, i)
		a.isPrecise = a.isPrecise && access.Kind != ""
		a.Accesses = append(a.Accesses, access)
	}
	pointer, kind := a.CPU.SP, Read
	switch inst.Op {
	case x86asm.CALL, x86asm.PUSH, x86asm.PUSHF, x86asm.PUSHFD, x86asm.PUSHFQ:
		kind = Write
	case x86asm.POP, x86asm.POPF, x86asm.POPFD, x86asm.POPFQ, x86asm.RET, x86asm.LRET:
	case x86asm.LEAVE:
		pointer = a.CPU.FP
	default:
		return true
	}
	v, ok := a.Registers.Get(pointer)
	x := Access{Address: v, Size: a.CPU.Word, Kind: kind, nullBase: v == 0}
	if kind == Write {
		x.Address = (v - uint64(x.Size)) & (1<<(8*x.Size) - 1)
	}
	a.Accesses = append(a.Accesses, x)
	return ok
}

// access computes the address of an operand. It fails if that depends on an
// unknown register.
func (a *analysis) access(mem *x86asm.Mem, inst *x86asm.Inst) (x Access, ok bool) {
	if mem.Segment == x86asm.FS || mem.Segment == x86asm.GS {
		return x, false
	}
	x.Address = uint64(mem.Disp)
	if mem.Base != 0 {
		v, name, ok := a.value(mem.Base)
		if !ok {
			return x, false
		}
		if name == "rip" {
			v += uint64(inst.Len)
		}
		x.Address += v
		x.base, x.nullBase = name, v == 0
	}
	if mem.Index != 0 && mem.Scale != 0 {
		v, name, ok := a.value(mem.Index)
		if !ok {
			return x, false
		}
		x.Address += v * uint64(mem.Scale)
		x.index = name
	}
	if inst.AddrSize == 32 {
		x.Address &= 1<<32 - 1
	}
	return x, true
}

// value returns the value of a register of an operand, and the name of the whole
// register.
func (a *analysis) value(r x86asm.Reg) (v uint64, name string, ok bool) {
	mask := ^uint64(0)
	switch {
	case r >= x86asm.EAX && r <= x86asm.R15L:
		mask, r = 1<<32-1, r-x86asm.EAX+x86asm.RAX
	case r == x86asm.EIP:
		mask, r = 1<<32-1, x86asm.RIP
	case r >= x86asm.RAX && r <= x86asm.RIP:
	default:
		return 0, "", false // 16 bits
	}
	name = asm.RegisterName(r)
	if a.CPU.Word == 4 {
		name = "e" + name[1:]
	}
	v, ok = a.register(name)
	return v & mask, name, ok
}

// findTarget finds where the instruction leads, if it has that from a register
// or from memory.
func (a *analysis) findTarget(inst *x86asm.Inst) {
	switch inst.Op {
	case x86asm.CALL, x86asm.JMP:
		switch arg := inst.Args[0].(type) {
		case x86asm.Reg:
			v, _, ok := a.value(arg)
			a.setTarget(v, ok)
		case x86asm.Mem:
			x, ok := a.access(&arg, inst)
			a.readTarget(x.Address, ok)
		}
	case x86asm.RET, x86asm.LRET, x86asm.IRET, x86asm.IRETD, x86asm.IRETQ:
		sp, ok := a.Registers.Get(a.CPU.SP)
		a.readTarget(sp, ok)
	}
}

// readTarget reads the target from memory, if the address is known.
func (a *analysis) readTarget(at uint64, ok bool) {
	v := uint64(0)
	if ok {
		v, ok = a.pointer(at)
	}
	a.setTarget(v, ok)
}

// setTarget sets the target, if it is known. One that is unknown may be not
// canonical.
func (a *analysis) setTarget(v uint64, ok bool) {
	a.isPlain = a.isPlain && ok
	if ok {
		a.Update = &v
	}
}

// kindOf returns the kind of access to an operand.
func kindOf(op x86asm.Op, operand int) Kind {
	switch {
	case isOneOf(op, exchanges):
		return ReadWrite
	case operand > 0 || isOneOf(op, readers):
		return Read
	case isOneOf(op, writers):
		return Write
	case isOneOf(op, updates):
		return ReadWrite
	}
	return ""
}

// isOneOf reports whether a list of names has that of an instruction.
func isOneOf(op x86asm.Op, list string) bool { return strings.Contains(list, " "+op.String()+" ") }

const (
	// These do not access the memory of their operand.
	addressOnly = " LEA NOP PREFETCHNTA PREFETCHT0 PREFETCHT1 PREFETCHT2 PREFETCHW CLFLUSH INVLPG "

	// These access memory without an operand for it.
	implicit = " ENTER INT IRET IRETD IRETQ LCALL LRET MASKMOVDQU MASKMOVQ POPA POPAD PUSHA PUSHAD XLATB XSAVE XRSTOR "

	// These read, write or do both to their first operand.
	readers = " CALL JMP PUSH CMP TEST UCOMISS UCOMISD COMISS COMISD DIV IDIV MUL IMUL BT FLD FILD " +
		"CMPSB CMPSW CMPSD CMPSQ SCASB SCASW SCASD SCASQ LODSB LODSW LODSD LODSQ OUTSB OUTSW OUTSD "
	writers = " POP MOV MOVNTI MOVD MOVQ MOVSS MOVSD_XMM MOVLPS MOVLPD MOVHPS MOVHPD MOVUPS MOVUPD MOVDQU MOVAPS MOVAPD MOVDQA " +
		"MOVNTPS MOVNTPD MOVNTDQ FST FSTP FIST FISTP MOVSB MOVSW MOVSD MOVSQ STOSB STOSW STOSD STOSQ VMOVUPS VMOVUPD VMOVDQU " +
		"VMOVAPS VMOVAPD VMOVDQA VMOVNTDQ VMOVDQU8 VMOVDQU16 VMOVDQU32 VMOVDQU64 VMOVDQA32 VMOVDQA64 VMOVD VMOVQ VMOVSS VMOVSD " +
		"SETA SETAE SETB SETBE SETE SETG SETGE SETL SETLE SETNE SETNO SETNP SETNS SETO SETP SETS "
	updates   = " ADD SUB INC DEC AND OR XOR ADC SBB NEG NOT SHL SHR SAR ROL ROR RCL RCR SHLD SHRD BTS BTR BTC "
	exchanges = " XCHG XADD CMPXCHG CMPXCHG8B CMPXCHG16B "

	// Only a non-canonical address makes these raise a general protection fault.
	plain = " ADD AND CALL CMP DEC INC JMP LEA MOV MOVSX MOVSXD MOVUPS MOVZX OR POP PUSH RET SUB TEST UCOMISS XOR "

	// These may be refused to a program.
	privileged = " CLI CLTS HLT IN INSB INSW INSD INT INTO INVD INVLPG INVPCID IRET IRETD IRETQ LGDT LIDT LLDT LMSW LRET LTR " +
		"MONITOR MWAIT OUT OUTSB OUTSW OUTSD RDMSR RDPMC RDTSC RDTSCP STI SWAPGS SYSEXIT SYSRET WBINVD WRMSR XSETBV "
)

// isSystemMove reports whether the instruction moves a segment, control or debug
// register.
func isSystemMove(inst *x86asm.Inst) bool {
	for _, arg := range inst.Args[:2] {
		if r, ok := arg.(x86asm.Reg); ok && r >= x86asm.ES {
			return inst.Op == x86asm.MOV
		}
	}
	return false
}

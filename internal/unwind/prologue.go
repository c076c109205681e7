package unwind

import (
	"encoding/binary"

	"symbolon/internal/format/disas"
)

// maxPrologue bounds the code that is read, from the start of a function on.
const maxPrologue = 4 << 10

// A frameState is the effect of instructions on the frame of a function of x86.
type frameState struct {
	word   int64     // bytes of a register
	depth  int64     // from the stack pointer to the end of the return address
	base   int64     // the same from RBP, if it is the frame pointer; 0: it is not
	pushed [16]int64 // depth at which a register was pushed; 0: it was not
	isLost bool      // depth is unknown
}

// prologue finds the caller of a function that has no unwind information by its
// instructions up to the program counter. If the function has no name, its start is the
// target of a call: one before the return address that the instructions lead to.
func (w *walker) prologue(f *Frame) (c caller, ok bool) {
	const technique = "instructions of the function"
	if w.CPU.Name != "amd64" && w.CPU.Name != "x86" {
		return c, false
	}
	if start, _, named := w.function(f.Lookup); named {
		c, ok = w.followFrom(f, start)
		return c, ok && w.accept(f, &c, technique, mustFollow)
	}
	slot, _ := f.Registers.Get(w.CPU.SP)
	size := uint64(w.CPU.Word)
	before := w.work
	defer func() { w.scanned.Add(int64(w.work - before)) }()
	for range farScan {
		pc, readable := w.word(slot)
		if w.work++; !readable || w.work > maxWork || w.scanned.Load() > maxScanned {
			break
		}
		slot += size
		if pc < lowest || w.refuseGuess(pc) != "" {
			continue
		}
		kind, start := w.callBefore(pc)
		if w.work += candidateWork; kind != callDirect || start > f.PC || w.refuseCode(start) != "" {
			continue
		}
		w.work += candidateWork
		if c, ok := w.followFrom(f, start); ok && c.regs.Values[w.CPU.SP] == slot {
			return c, w.accept(f, &c, technique, mustBeCall)
		}
	}
	return c, false
}

// followFrom finds the caller of a function by its instructions from the start up to
// the program counter.
func (w *walker) followFrom(f *Frame, start uint64) (c caller, ok bool) {
	if f.PC-start > maxPrologue {
		return c, false
	}
	code := make([]byte, f.PC-start)
	if w.Memory.ReadAt(code, start) < len(code) {
		return c, false
	}
	state, ok := follow(code, int64(w.CPU.Word))
	if !ok {
		return c, false
	}
	from, depth := w.CPU.SP, state.depth
	if state.base > 0 {
		from, depth = w.CPU.FP, state.base
	}
	cfa, known := f.Registers.Get(from)
	if !known {
		return c, false
	}
	cfa += uint64(depth)
	c = caller{trust: FramePointer, regs: f.Registers}
	c.regs.Known &= w.CPU.Saved
	for i, depth := range state.pushed {
		if depth == 0 {
			continue
		}
		reg, _ := w.CPU.Reg(numbered[w.CPU.Word/8][i])
		if v, readable := w.word(cfa - uint64(depth)); readable {
			c.regs.Set(reg, v)
		}
	}
	if !w.returnTo(&c, cfa-uint64(w.CPU.Word)) {
		return c, false
	}
	c.regs.Set(w.CPU.SP, cfa)
	return c, true
}

// epilogue finds the caller of a function of 64-bit Windows in its epilogue, which
// unwind information does not describe. It executes the rest of the instructions.
func (w *walker) epilogue(f *Frame) (c caller, ok bool) {
	if !w.IsWindows || w.CPU.Name != "amd64" || !f.isExact {
		return c, false
	}
	code := make([]byte, 32)
	code = code[:w.Memory.ReadAt(code, f.PC)]
	c = caller{trust: CFI, regs: f.Registers}
	sp, _ := f.Registers.Get(w.CPU.SP)
	fp, _ := f.Registers.Get(w.CPU.FP)
	for isFirst := true; ; isFirst = false {
		n, _ := disas.Length(disas.X8664, code)
		if n == 0 {
			return c, false
		}
		switch op, arg := decode(code[:n], true); {
		case op == opAdd && arg < 0 && isFirst:
			sp -= uint64(arg)
		case op == opFromBase && isFirst:
			sp = fp - uint64(arg)
		case op == opPop:
			reg, _ := w.CPU.Reg(numbered[1][arg])
			v, _ := w.word(sp)
			c.regs.Set(reg, v)
			sp += 8
		case op == opEnd && (!isFirst || code[0] == 0xc3):
			c.regs.Known &= w.CPU.Saved
			c.regs.Set(w.CPU.SP, sp+8)
			return c, w.returnTo(&c, sp) && w.accept(f, &c, "instructions of the epilogue", mustFollow)
		default:
			return c, false
		}
		code = code[n:]
	}
}

// numbered has the registers of 32 and 64 bits by their numbers in instructions.
var numbered = [2][16]string{
	{"eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi"},
	{"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"},
}

// follow returns the state after code. It returns false if code cannot be
// decoded, or if the frame cannot be known after it.
func follow(code []byte, word int64) (s frameState, ok bool) {
	s.word, s.depth = word, word
	arch := disas.X86
	if word == 8 {
		arch = disas.X8664
	}
	body := s                        // before the frame was reduced
	branches := map[int]frameState{} // by the offset that a branch goes to
	for at, isReduced := 0, false; at < len(code); {
		n, _ := disas.Length(arch, code[at:])
		if n == 0 {
			return s, false
		}
		in := code[at : at+n]
		at += n
		op, arg := decode(in, word == 8)
		reduces := op == opPop || op == opLeave || op == opAdd && arg < 0
		if reduces && !isReduced {
			body = s
		}
		isReduced = reduces || isReduced && op == opOther
		if !s.apply(op, arg) {
			return s, false
		}
		if to, isBranch := branchTarget(in); isBranch && at+to > at {
			if _, known := branches[at+to]; !known {
				branches[at+to] = s
			}
		}
		// Code after an end is reached by a branch: one that was seen, or one
		// from below. A return address is not.
		if next, known := branches[at]; known && (at < len(code) || op == opEnd) {
			s = next
		} else if op == opEnd && s.depth == word {
			s = body
		}
	}
	return s, true
}

// apply changes the state by an instruction. It returns false if it is not known
// then.
func (s *frameState) apply(op int, arg int64) bool {
	switch op {
	case opPush:
		s.depth += s.word
		if arg >= 0 && s.pushed[arg] == 0 && !s.isLost {
			s.pushed[arg] = s.depth
		}
	case opPop:
		if s.pushed[arg] == s.depth {
			s.pushed[arg] = 0
		}
		s.depth -= s.word
		if arg == rbp {
			s.base = 0
		}
	case opAdd:
		s.depth += arg
	case opSetBase:
		s.base = s.depth + arg
	case opFromBase:
		s.depth, s.isLost = s.base+arg, s.base == 0
	case opLeave:
		s.depth, s.base, s.pushed[rbp], s.isLost = s.base-s.word, 0, 0, false
	case opUnknown:
		s.isLost = true
	}
	return s.base > 0 || s.depth >= s.word && !s.isLost
}

// branchTarget returns the distance of a branch from the end of the instruction.
func branchTarget(in []byte) (to int, ok bool) {
	n := len(in)
	switch {
	case n == 2 && (in[0]&0xf0 == 0x70 || in[0] == 0xeb || in[0]&0xfc == 0xe0):
		return int(number(in[1:], true)), true
	case n == 6 && in[0] == 0x0f && in[1]&0xf0 == 0x80, n == 5 && in[0] == 0xe9:
		return int(number(in[n-4:], false)), true
	}
	return 0, false
}

// Operations of instructions on the frame.
const (
	opOther    = iota
	opPush     // register, -1: another value
	opPop      // register
	opAdd      // bytes to the depth
	opSetBase  // RBP has the frame; bytes from the stack pointer down
	opFromBase // the stack pointer is set to RBP, bytes down
	opLeave
	opEnd     // return or jump
	opUnknown // changes the stack pointer
)

const rsp, rbp = 4, 5 // numbers of registers

// decode returns the operation of an instruction and its operand.
func decode(in []byte, is64 bool) (op int, arg int64) {
	rex := byte(0)
	for len(in) > 1 && (in[0] == 0xf3 || in[0] == 0xf2) {
		in = in[1:]
	}
	switch {
	case !is64:
		rex = 8 // operands have the size of a register
	case in[0]&0xf0 == 0x40 && len(in) > 1:
		rex, in = in[0], in[1:]
	}
	switch b := in[0]; {
	case b&0xf8 == 0x50:
		return opPush, int64(b&7 | rex&1<<3)
	case b&0xf8 == 0x58:
		if reg := int64(b&7 | rex&1<<3); reg != rsp {
			return opPop, reg
		}
		return opUnknown, 0
	case b == 0x68 || b == 0x6a, b == 0xe8 && !is64 && string(in[1:]) == "\x00\x00\x00\x00":
		return opPush, -1 // also by a call of the next instruction
	case b == 0xc9:
		return opLeave, 0
	case b == 0xc2 || b == 0xc3 || b == 0xe9 || b == 0xeb || b == 0xff && len(in) > 1 && in[1]>>3&7 == 4:
		return opEnd, 0
	case b == 0xff && len(in) > 1 && in[1]>>3&7 == 6:
		return opPush, -1
	case rex&8 == 0 || len(in) < 2:
		return opOther, 0
	}
	return decodeMove(in, rex)
}

// decodeMove decodes other instructions that may write RSP or RBP.
func decodeMove(in []byte, rex byte) (op int, arg int64) {
	modrm := in[1]
	mod, reg, rm := modrm>>6, modrm>>3&7|rex<<1&8, modrm&7|rex<<3&8
	from, to := rm, reg
	switch in[0] {
	case 0x83, 0x81: // arithmetic with a constant
		switch n := number(in[2:], in[0] == 0x83); {
		case mod != 3 || rm != rsp:
			return opOther, 0
		case modrm>>3&7 == 0: // ADD
			return opAdd, -n
		case modrm>>3&7 == 5: // SUB
			return opAdd, n
		}
		return opUnknown, 0
	case 0x89:
		if from, to = reg, rm; mod != 3 {
			return opOther, 0
		}
	case 0x8b, 0x8d, 0x03, 0x2b: // MOV, LEA, ADD, SUB to a register
	default:
		return opOther, 0
	}
	isMove := in[0]&0xfd == 0x89 && mod == 3
	isSum := in[0] == 0x8d && (mod == 1 || mod == 2)
	switch {
	case isMove && to == rbp && from == rsp:
		return opSetBase, 0
	case isMove && to == rsp && from == rbp:
		return opFromBase, 0
	case isSum && to == rbp && from == rsp && in[2] == 0x24:
		return opSetBase, -number(in[3:], mod == 1)
	case isSum && to == rsp && from == rsp && in[2] == 0x24:
		return opAdd, -number(in[3:], mod == 1)
	case isSum && to == rsp && from == rbp:
		return opFromBase, -number(in[2:], mod == 1)
	case to == rsp:
		return opUnknown, 0
	}
	return opOther, 0
}

// number returns the number at the start of code, which has 8 or 32 bits.
func number(code []byte, isShort bool) int64 {
	if isShort {
		return int64(int8(code[0]))
	}
	return int64(int32(binary.LittleEndian.Uint32(code)))
}

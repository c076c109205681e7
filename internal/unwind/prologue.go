package unwind

import (
	"encoding/binary"

	"symbolon/internal/format/disas"
)

// maxPrologue bounds the code of a function that is read from its start to the
// program counter.
const maxPrologue = 4 << 10

// A frameState is the effect of instructions on the frame of a function of amd64.
type frameState struct {
	depth  int64     // bytes between the return address's end and the stack pointer; 8 at the start
	base   int64     // the same for RBP, if it is the frame pointer; 0: it is not
	pushed [16]int64 // depth at which a register was pushed; 0: it was not
}

// prologue finds the caller of a function that has no unwind information by its
// instructions up to the program counter. These set up the frame; jumps within
// the function do not change it.
func (w *walker) prologue(f *Frame) (c caller, ok bool) {
	if w.CPU.Name != "amd64" {
		return c, false
	}
	start, _, named := w.function(f.Lookup)
	if !named || f.PC-start > maxPrologue {
		return c, false
	}
	code := make([]byte, f.PC-start)
	if w.code(code, start) < len(code) {
		return c, false
	}
	state, ok := follow(code)
	if !ok {
		return c, false
	}
	sp, _ := f.Registers.Get(w.CPU.SP)
	cfa := sp + uint64(state.depth)
	if state.base > 0 {
		fp, known := f.Registers.Get(w.CPU.FP)
		if !known {
			return c, false
		}
		cfa = fp + uint64(state.base)
	}
	c = caller{trust: FramePointer, regs: f.Registers}
	c.regs.Known &= w.CPU.Saved
	for i, depth := range state.pushed {
		reg, _ := w.CPU.Reg(numbered[i])
		if v, readable := w.word(cfa - uint64(depth)); depth > 0 && readable {
			c.regs.Set(reg, v)
		}
	}
	if !w.returnTo(&c, cfa-8) {
		return c, false
	}
	c.regs.Set(w.CPU.SP, cfa)
	return c, w.accept(f, &c, "instructions of the function", mustFollow)
}

// numbered has the registers by their numbers in instructions.
var numbered = [16]string{"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"}

// follow returns the state after code. It returns false if code cannot be
// decoded, or if the frame cannot be known after it.
func follow(code []byte) (s frameState, ok bool) {
	s.depth = 8
	body := s                        // before the last instructions that reduced the frame
	branches := map[int]frameState{} // by the offset that a branch goes to
	for at, isReduced := 0, false; at < len(code); {
		n, _ := disas.Length(disas.X8664, code[at:])
		if n == 0 {
			return s, false
		}
		in := code[at : at+n]
		at += n
		op, arg := decode(in)
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
		} else if op == opEnd && s.depth == 8 {
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
		s.depth += 8
		if arg >= 0 && s.pushed[arg] == 0 {
			s.pushed[arg] = s.depth
		}
	case opPop:
		if s.pushed[arg] == s.depth {
			s.pushed[arg] = 0
		}
		s.depth -= 8
		if arg == rbp {
			s.base = 0
		}
	case opAdd:
		s.depth += arg
	case opSetBase:
		s.base = s.depth + arg
	case opLeave:
		s.depth, s.base, s.pushed[rbp] = s.base-8, 0, 0
	case opUnknown:
		return s.base > 0
	}
	return s.depth >= 8
}

// branchTarget returns the distance of a branch from the end of the instruction.
func branchTarget(in []byte) (to int, ok bool) {
	n := len(in)
	switch {
	case n == 2 && (in[0]&0xf0 == 0x70 || in[0] == 0xeb || in[0]&0xfc == 0xe0):
		return int(int8(in[1])), true
	case n == 6 && in[0] == 0x0f && in[1]&0xf0 == 0x80, n == 5 && in[0] == 0xe9:
		return int(int32(binary.LittleEndian.Uint32(in[n-4:]))), true
	}
	return 0, false
}

// Operations of instructions on the frame.
const (
	opOther   = iota
	opPush    // register, -1: another value
	opPop     // register
	opAdd     // bytes to the depth
	opSetBase // RBP has the frame; bytes from the stack pointer down
	opLeave
	opEnd     // return or jump
	opUnknown // changes the stack pointer
)

const (
	rsp = 4
	rbp = 5
)

// decode returns the operation of an instruction and its operand.
func decode(in []byte) (op int, arg int64) {
	rex := byte(0)
	for len(in) > 1 && (in[0] == 0xf3 || in[0] == 0xf2) {
		in = in[1:]
	}
	if in[0]&0xf0 == 0x40 && len(in) > 1 {
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
	case b == 0x68 || b == 0x6a:
		return opPush, -1
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

// decodeMove decodes instructions of 64 bits that may write RSP or RBP.
func decodeMove(in []byte, rex byte) (op int, arg int64) {
	modrm := in[1]
	mod, reg, rm := modrm>>6, modrm>>3&7|rex<<1&8, modrm&7|rex<<3&8
	switch in[0] {
	case 0x83, 0x81: // arithmetic with a constant
		if mod != 3 || rm != rsp {
			break
		}
		n := int64(int8(in[len(in)-1]))
		if in[0] == 0x81 {
			n = int64(int32(binary.LittleEndian.Uint32(in[2:])))
		}
		switch modrm >> 3 & 7 {
		case 0: // ADD
			return opAdd, -n
		case 5: // SUB
			return opAdd, n
		}
		return opUnknown, 0
	case 0x89: // MOV to the operand
		if mod == 3 && rm == rbp && reg == rsp {
			return opSetBase, 0
		}
		if mod == 3 && rm == rsp {
			return opUnknown, 0
		}
	case 0x8b, 0x8d, 0x03, 0x2b: // MOV, LEA, ADD, SUB to a register
		isStack := mod == 3 && rm == rsp
		switch {
		case reg == rbp && in[0] == 0x8b && isStack:
			return opSetBase, 0
		case reg == rbp && in[0] == 0x8d && rm == rsp && mod == 1 && in[2] == 0x24: // LEA RBP, [RSP+n]
			return opSetBase, -int64(int8(in[3]))
		case reg == rsp && in[0] == 0x8d && rm == rsp && mod == 1 && in[2] == 0x24:
			return opAdd, -int64(int8(in[3]))
		case reg == rsp && in[0] == 0x8d && rm == rsp && mod == 2 && in[2] == 0x24:
			return opAdd, -int64(int32(binary.LittleEndian.Uint32(in[3:])))
		case reg == rsp:
			return opUnknown, 0
		}
	}
	return opOther, 0
}

package asm

import (
	"slices"
	"strings"

	"golang.org/x/arch/x86/x86asm"
)

// DecodeX86 decodes the x86 instruction at the start of code, and corrects the result of
// x86asm: the signs of displacements, RIP as the base of AVX instructions, and some
// sizes.
func DecodeX86(code []byte, bits int) (inst x86asm.Inst, ok bool) {
	inst, err := x86asm.Decode(code, bits)
	if err != nil || inst.Op == 0 {
		return inst, false
	}
	for i, arg := range inst.Args {
		mem, ok := arg.(x86asm.Mem)
		if !ok {
			continue
		}
		// An address without registers has a SIB byte and scale 1 in 64-bit code,
		// except for a MOV of the accumulator, whose address has all its bits.
		isBare := mem.Base == 0 && mem.Scale == 0 && bits == 64
		switch {
		case isBare && isVEX(&inst):
			mem.Base = x86asm.RIP
		case !isBare:
			mem.Disp = int64(int32(mem.Disp))
		}
		inst.Args[i] = mem
	}
	if inst.MemBytes == 0 {
		_, inst.MemBytes = stringOp(inst.Op)
		switch inst.Op {
		case x86asm.LEA:
			inst.MemBytes = inst.DataSize / 8
		case x86asm.FLD, x86asm.FSTP, x86asm.FBLD, x86asm.FBSTP:
			inst.MemBytes = 10
		}
	}
	return inst, true
}

// isVEX reports whether an instruction is encoded with VEX or EVEX.
func isVEX(inst *x86asm.Inst) bool {
	return slices.ContainsFunc(inst.Prefix[:], func(p x86asm.Prefix) bool { return p.IsVEX() || p.IsEVEX() })
}

// stringOp returns the name and the size of an instruction on strings, and no
// size for all others.
func stringOp(op x86asm.Op) (name string, size int) {
	text := op.String()
	end := len(text) - 1
	switch text[:end] {
	case "MOVS", "CMPS", "SCAS", "LODS", "STOS", "INS", "OUTS":
		if i := strings.IndexByte("BWDQ", text[end]); i >= 0 {
			return text[:end], 1 << i
		}
	}
	return "", 0
}

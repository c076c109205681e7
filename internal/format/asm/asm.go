package asm

import (
	"fmt"
	"strings"

	"golang.org/x/arch/arm/armasm"
	"golang.org/x/arch/arm64/arm64asm"
	"golang.org/x/arch/x86/x86asm"

	"symbolon/internal/format/disas"
)

// MaxLen is the length of the longest instruction.
const MaxLen = 15

// Instruction is a decoded instruction.
type Instruction struct {
	Len      int // of its bytes, at least 1
	Text     string
	IsBranch bool   // it jumps to, or calls, Target, which ends the text
	Target   uint64 // address
}

// Decode decodes the instruction at the start of code, which is not empty and has the
// address addr. Bytes that are not an instruction, or a truncated one, are written as
// ".byte".
func Decode(a disas.Arch, code []byte, addr uint64) Instruction {
	var i Instruction
	switch a {
	case disas.X8664:
		i = decodeX86(code, addr, 64)
	case disas.X86:
		i = decodeX86(code, addr, 32)
	case disas.ARM64:
		i = decodeARM64(code, addr)
	case disas.A32:
		i = decodeARM(code, addr)
	}
	if i.Len == 0 {
		n, _ := disas.Length(a, code)
		why := "unknown instruction"
		if n == 0 {
			n, why = min(unit(a), len(code)), "invalid instruction"
		}
		i = Instruction{Len: n, Text: ".byte " + strings.ReplaceAll(fmt.Sprintf("% #x", code[:n]), " ", ", ") + " # " + why}
	}
	return i
}

// unit returns the bytes after which an instruction may begin.
func unit(a disas.Arch) int {
	if a == disas.X8664 || a == disas.X86 {
		return 1
	}
	return 4
}

// to returns an instruction with the text before its target.
func to(n int, before string, target uint64) Instruction {
	return Instruction{Len: n, Text: fmt.Sprintf("%s%#x", before, target), IsBranch: true, Target: target}
}

// landings are the instructions that a checked indirect branch may lead to. They begin
// most functions, and x86asm does not know them.
var landings = map[string]string{"\xf3\x0f\x1e\xfa": "endbr64", "\xf3\x0f\x1e\xfb": "endbr32"}

func decodeX86(code []byte, addr uint64, bits int) Instruction {
	if text := landings[string(code[:min(len(code), 4)])]; text != "" {
		return Instruction{Len: 4, Text: text}
	}
	inst, ok := DecodeX86(code[:min(len(code), MaxLen)], bits)
	if !ok {
		return Instruction{}
	}
	if rel, ok := inst.Args[0].(x86asm.Rel); ok {
		target := addr + uint64(inst.Len) + uint64(int64(rel))
		if bits == 32 {
			target &= 1<<32 - 1
		}
		return to(inst.Len, mnemonic(inst.Op)+" ", target)
	}
	return Instruction{Len: inst.Len, Text: Intel(&inst)}
}

func decodeARM64(code []byte, addr uint64) Instruction {
	inst, err := arm64asm.Decode(code)
	if err != nil {
		return Instruction{}
	}
	text := arm64asm.GNUSyntax(inst)
	for _, arg := range inst.Args {
		if rel, ok := arg.(arm64asm.PCRel); ok {
			before, _, _ := strings.Cut(text, ".+")
			if inst.Op == arm64asm.ADRP {
				addr &^= 1<<12 - 1
			}
			i := to(4, before, addr+uint64(rel))
			i.IsBranch = inst.Op != arm64asm.ADR && inst.Op != arm64asm.ADRP
			return i
		}
	}
	return Instruction{Len: 4, Text: text}
}

func decodeARM(code []byte, addr uint64) Instruction {
	inst, err := armasm.Decode(code, armasm.ModeARM)
	if err != nil {
		return Instruction{}
	}
	text := armasm.GNUSyntax(inst)
	if rel, ok := inst.Args[0].(armasm.PCRel); ok {
		mnemonic, _, _ := strings.Cut(text, " ")
		return to(4, mnemonic+" ", uint64(uint32(addr)+8+uint32(rel)))
	}
	return Instruction{Len: 4, Text: text}
}

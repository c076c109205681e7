package unwind

import (
	"encoding/binary"

	"symbolon/internal/format/disas"
)

// A call is the instruction before a return address.
type call uint8

const (
	callUnknown  call = iota // its code is not known
	callNone                 // it does not call
	callIndirect             // it calls an address that is not part of it
	callDirect
)

// callBefore returns the instruction before a return address, and the target of
// a direct call.
func (p *Process) callBefore(pc uint64) (kind call, target uint64) {
	var b [8]byte
	addr := p.instruction(pc)
	switch p.CPU.Name {
	case "amd64":
		return p.callX86(b[:p.code(b[:], addr-8)], disas.X8664, addr)
	case "x86":
		return p.callX86(b[:p.code(b[:], addr-8)], disas.X86, addr)
	case "arm64":
		if p.code(b[:4], addr-4) < 4 {
			return callUnknown, 0
		}
		w := binary.LittleEndian.Uint32(b[:])
		if w>>26 == 0x25 { // BL
			return callDirect, addr - 4 + uint64(int64(int32(w<<6))>>4)
		}
		return callWord(b[:4], disas.ARM64), 0
	case "arm":
		return p.callARM(pc)
	case "riscv64":
		if p.code(b[:4], addr-4) < 4 {
			return callUnknown, 0
		}
		return max(callWord(b[:4], disas.RISCV64), callWord(b[2:4], disas.RISCV64)), 0
	}
	return callUnknown, 0
}

// callX86 returns the call at the end of code, which ends at a return address.
func (p *Process) callX86(code []byte, a disas.Arch, pc uint64) (kind call, target uint64) {
	if len(code) < 8 {
		return callUnknown, 0
	}
	kind = callNone
	for n := 2; n <= 7; n++ {
		b := code[8-n:]
		if b[0] == 0x0f || b[0] == 0xcd { // system calls
			continue
		}
		if length, isCall := disas.Length(a, b); length != n || !isCall {
			continue
		}
		if b[0] == 0xe8 && n == 5 {
			rel := int32(binary.LittleEndian.Uint32(b[1:]))
			return callDirect, (pc + uint64(int64(rel))) & p.max()
		}
		kind = callIndirect
	}
	return kind, 0
}

// callARM returns the call before a return address of A32 or Thumb.
func (p *Process) callARM(pc uint64) (kind call, target uint64) {
	var b [4]byte
	addr := p.instruction(pc)
	if p.code(b[:], addr-4) < 4 {
		return callUnknown, 0
	}
	if pc&1 != 0 {
		return max(callWord(b[:], disas.T32), callWord(b[2:], disas.T32)), 0
	}
	w := binary.LittleEndian.Uint32(b[:])
	if w>>24&0xf == 0xb && w>>28 != 0xf { // BL
		return callDirect, (addr + 4 + uint64(int64(int32(w<<8))>>6)) & p.max()
	}
	return callWord(b[:], disas.A32), 0
}

// callWord returns whether code is one instruction that calls.
func callWord(code []byte, a disas.Arch) call {
	if n, isCall := disas.Length(a, code); n == len(code) && isCall {
		return callIndirect
	}
	return callNone
}

package unwind

import (
	"encoding/binary"

	"symbolon/internal/format/disas"
	"symbolon/internal/unwind/rule"
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
func (w *walker) callBefore(pc uint64) (kind call, target uint64) {
	b, addr := w.buf[:4], w.instruction(pc)
	if w.CPU.LR == rule.None {
		b = w.buf[:8]
	}
	if n := len(b); w.Memory.ReadAt(b, addr-uint64(n)) < n {
		return callUnknown, 0
	}
	word := binary.LittleEndian.Uint32(b)
	switch name := w.CPU.Name; {
	case name == "amd64":
		kind, target = callX86(b, disas.X8664)
	case name == "x86":
		kind, target = callX86(b, disas.X86)
	case name == "arm64" && word>>26 == 0x25: // BL
		kind, target = callDirect, uint64(int64(int32(word<<6))>>4)-4
	case name == "arm64":
		kind = callWord(b, disas.ARM64)
	case name == "arm" && pc&1 != 0:
		kind = max(callWord(b, disas.T32), callWord(b[2:], disas.T32))
	case name == "arm" && word>>24&0xf == 0xb && word>>28 != 0xf: // BL
		kind, target = callDirect, uint64(int64(int32(word<<8))>>6)+4
	case name == "arm":
		kind = callWord(b, disas.A32)
	case name == "riscv64":
		kind = max(callWord(b, disas.RISCV64), callWord(b[2:], disas.RISCV64))
	}
	return kind, w.strip(addr + target)
}

// callX86 returns the call at the end of code, and the distance of its target
// from there.
func callX86(code []byte, a disas.Arch) (kind call, target uint64) {
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
			return callDirect, uint64(int64(int32(binary.LittleEndian.Uint32(b[1:]))))
		}
		kind = callIndirect
	}
	return kind, 0
}

// callWord returns whether code is one instruction that calls.
func callWord(code []byte, a disas.Arch) call {
	if n, isCall := disas.Length(a, code); n == len(code) && isCall {
		return callIndirect
	}
	return callNone
}

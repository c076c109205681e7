package disas

import "math"

// Arch is an instruction set.
type Arch uint8

const (
	X8664   Arch = iota + 1 // x86 in 64-bit mode
	X86                     // x86 in 32-bit mode
	ARM64                   // A64
	RISCV64                 // RV64 with compressed instructions
	A32                     // 32-bit ARM
	T32                     // Thumb
)

// Call is the position of a call instruction.
type Call struct {
	At  uint32 // offset of its first byte in the code
	Len uint8
}

// Calls appends the calls in code, which begins with an instruction. Starts, in
// ascending order, are other offsets in code at which instructions are known to
// begin, such as rows of a line table and symbols. After bytes that cannot be
// decoded, or an instruction that overlaps a start, Calls continues at the next
// start; without one it stops. Code after the first 4 GiB is ignored.
func Calls(dst []Call, a Arch, code []byte, starts []uint32) []Call {
	if uint64(len(code)) > math.MaxUint32 {
		code = code[:math.MaxUint32&math.MaxInt]
	}
	for at := 0; at < len(code); {
		for len(starts) > 0 && int64(starts[0]) <= int64(at) {
			starts = starts[1:]
		}
		end := len(code)
		if len(starts) > 0 {
			end = int(min(int64(end), int64(starts[0])))
		}
		// An instruction that crosses the end is truncated.
		if a == ARM64 {
			dst = wordCalls(dst, code[:end], at)
		} else {
			dst = sweep(dst, a, code[:end], at)
		}
		at = end
	}
	return dst
}

// sweep appends the calls in code from at on, and stops at bytes that cannot be
// decoded.
func sweep(dst []Call, a Arch, code []byte, at int) []Call {
	for at < len(code) {
		n, call := Length(a, code[at:])
		if n == 0 {
			break
		}
		if call {
			dst = append(dst, Call{At: uint32(at), Len: uint8(n)})
		}
		at += n
	}
	return dst
}

// Length returns the length of the instruction at the start of code, and
// whether it is a call. The length is 0 if the instruction is invalid or
// truncated.
func Length(a Arch, code []byte) (n int, call bool) {
	switch a {
	case X8664:
		n, call = x86Length(code, true)
	case X86:
		n, call = x86Length(code, false)
	case ARM64:
		n, call = arm64Length(code)
	case RISCV64:
		n, call = riscvLength(code)
	case A32:
		n, call = a32Length(code)
	case T32:
		n, call = t32Length(code)
	}
	if n > len(code) {
		return 0, false
	}
	return n, call
}

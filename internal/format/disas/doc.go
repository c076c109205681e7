// Package disas finds the call instructions in machine code, and says where each
// of them ends. It knows the lengths of all other instructions and nothing else
// about them.
//
// # Specification
//
// Intel's Software Developer's Manual, volume 2, with the extensions APX and AVX10;
// AMD's Programmer's Manual, volumes 3 to 6, for 3DNow and XOP; Arm's Architecture
// Reference Manuals for A-profile; the RISC-V Instruction Set Manual, volume 1.
//
//	x86      E8 (near), FF /2 and /3 (indirect), 0F 05 (SYSCALL), CD (INT); in
//	         32-bit mode also 9A (far) and CE (INTO)
//	ARM64    BL, BLR, BLRAA, BLRAB, BLRAAZ, BLRABZ, SVC
//	RISCV64  JAL and JALR that link in x1 or x5, C.JALR, ECALL
//	A32      BL, BLX (of both kinds), SVC, with any condition
//	T32      the same
//
// No calls are jumps, though they may end a function in place of one, INT3, INT1,
// SYSENTER, and what enters another machine (VMCALL, HVC, SMC).
//
// # x86
//
// Prefixes stand before an opcode of one of several maps, which says whether ModRM
// and an operand follow. A REX prefix that another prefix follows counts for
// nothing. The prefix 66 does not shorten the distance of a jump in 64-bit mode, as
// with Intel's processors; linkers write it to fill up calls. An instruction with
// more than 15 bytes, or with an opcode that has no meaning, cannot be decoded. That
// is not said of each combination of opcode, prefixes and operands without one: how
// long those would be is plain, and only data has them.
//
// # 32-bit ARM
//
// Code is little endian, as it is in programs of both orders since version 6 of
// the architecture. BL and BLX of Thumb are decoded as one instruction of four
// bytes also where a processor takes them as two: before Thumb-2 they had the same
// bits. What calls without such an instruction, as MOV LR, PC before a jump did, is
// no call.
//
// # Limits
//
// Nothing is kept between calls, and all may be asked by many goroutines at once.
// Any bytes are taken; a call that is found lies wholly within them.
package disas

// Package disas finds the call instructions in machine code. Of all other
// instructions it decodes only the length.
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
// Other instructions are not calls: jumps, although they may end a function
// instead of a call, INT3, INT1, SYSENTER, and the entries of other machines
// (VMCALL, HVC, SMC).
//
// # x86
//
// Prefixes precede an opcode in one of several maps. The map tells whether
// ModRM and an operand follow. A REX prefix before another prefix is ignored.
// The prefix 66 does not shorten the displacement of a jump in 64-bit mode, as
// on Intel's processors; linkers use it to pad calls. An instruction of more
// than 15 bytes or with an invalid opcode cannot be decoded. Invalid
// combinations of opcode, prefixes and operands are mostly accepted: their
// length is well defined, and only data contains them.
//
// # 32-bit ARM
//
// Code is little endian, as in programs of both byte orders since version 6 of
// the architecture. BL and BLX of Thumb are decoded as one instruction of four
// bytes even where a processor executes them as two: before Thumb-2 they had
// the same encoding. Older sequences that call without such an instruction,
// such as MOV LR, PC before a jump, are not found.
//
// # Limits and concurrency
//
// The functions keep no state, and are safe for concurrent use. They accept
// arbitrary bytes; every call they find lies within them.
package disas

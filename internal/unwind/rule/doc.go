// Package rule compiles records of unwind information to rows, and evaluates
// rows: registers of a frame and memory → registers of its caller. A [Compiler]
// turns the records of package sym into rows, one for each range of code with
// the same rules; [Row.Eval] evaluates one. [For] returns the registers of an
// instruction set.
//
// Rules of CFI have 64-bit numbers that wrap. A rule of a register that cannot
// be evaluated makes the register unknown; one of the frame address or of the
// return address fails the row. A value that does not fit in a word fails its
// rule. Programs of 32-bit Windows have 32-bit numbers.
//
// Input is hostile: the text of a piece of code is limited to 1 MiB, a row to 4
// KiB, the values on a stack and the variables of a program to 64 each. A row
// may consist of any bytes. The time of an evaluation is linear in the size of
// the row, and it allocates nothing unless it fails.
//
// A Compiler belongs to one goroutine; rows and CPUs may be shared.
package rule

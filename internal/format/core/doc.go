// Package core reads core files of Linux: the memory, threads and files of a
// process, written by the kernel when it crashed, or by gcore.
//
// A core file is an ELF file whose segments are the memory of the process, and
// whose notes describe the rest. Specifications: the System V ABI, chapter 5;
// core(5); the structures elf_prstatus, elf_prpsinfo and user_regs of the headers
// of Linux for each processor.
//
//	CORE  PRSTATUS      a thread: id, signal, general registers
//	CORE  PRPSINFO      the process: id, name
//	CORE  SIGINFO       the reason of the signal
//	CORE  AUXV          values for the program: its place, and that of the vdso
//	CORE  FILE          mapped files: addresses, offset, path
//
// Notes of a thread follow its PRSTATUS. The first thread received the signal.
// gcore writes the notes at the end of the file and may omit SIGINFO, and both
// omit memory that is unchanged since it was mapped from a file. The first page
// of a mapped ELF file is usually included: modules are the mappings that begin
// with an ELF header, with the build id found there. A mapped file without that
// page is a module if it is mapped as code, or in several pieces. Without a note
// of files the modules have no names, except for the program, which has that of
// PRPSINFO, and the vdso. MapFiles adds memory from files that begin
// with the page.
//
// Registers are known for x86, x86-64, ARM, arm64, RISC-V, PowerPC and MIPS, in
// both byte orders. Systems other than Linux have other notes.
//
// # Errors and limits
//
// Open fails without the header of a core file. Other damage is listed in
// Problems, above all a file that was truncated: the parts before the cut are
// read. At most 65,536 threads, 1,048,576 mappings and 65,536 files are read. A
// File does not change after Open, and is safe for concurrent use if its
// source is.
package core

// Package gopcln reads pclntab, the table that Go programs use to name the
// frames of its own stack traces. Stripping does not remove it.
//
// The only specification is the document on the first version
// (https://golang.org/s/go12symtab) and the sources of the linker and the
// runtime (cmd/link/internal/ld/pcln.go, runtime/symtab.go,
// runtime/symtabinl.go). The magic distinguishes four versions, and the byte
// order:
//
//	0xfffffffb  Go 1.2 to 1.15   all offsets from the start, addresses absolute
//	0xfffffffa  Go 1.16 and 1.17 names, files and tables apart; files by unit
//	0xfffffff0  Go 1.18 and 1.19 addresses relative to runtime.text
//	0xfffffff1  Go 1.20 on       other inline trees
//
// For each function, sorted by address, a table has a record; each record has
// runs of file and line (pairs of a value and a length, as differences) and
// runs that map the code to calls of the function's inline tree. The inline
// tree is a list of calls outside of the table, in read-only data. Up to Go
// 1.19 a call has its parent, file and line; since Go 1.20 it has an address in
// the function that has them.
//
// # Data outside of the table
//
// Since Go 1.18 addresses are relative to runtime.text. The header had its
// address up to Go 1.25, although as zero if a relocation sets it. Inline trees
// need the address of go:func.*. Both are in runtime.moduledata, which Module
// finds in a data section by those of its fields that need no relocation.
// Without them a function still has its lines: those of the innermost call,
// with the name of the function.
//
// # Deviations met in the wild
//
//   - Go 1.26 moves go:func.* to the section of the table and moduledata to a
//     section of its own (.go.module), and always writes zero for runtime.text.
//   - Up to Go 1.11 the number of tables of a record is a word, later a byte;
//     Go 1.12 numbers its tables like Go 1.11, Go 1.13 to 1.15 differently. The
//     magic is the same: the contents distinguish them.
//   - Stripped files may have no section for the table (.data.rel.ro, or a custom
//     __rodata): Find searches for it.
//   - The end of the last instruction is not the end of a function: padding
//     follows. It is a hole here, whereas go tool addr2line assigns it to the
//     function.
//
// Programs with several text sections (only very large ones on some systems)
// are read as if they had one. WebAssembly, whose pseudo addresses are not
// addresses, is not supported.
//
// # Damage and limits
//
// Everything is bounded by the bytes of the table; an invalid record affects
// only its function. A function has at most 1<<20 calls, nested up to 256 deep.
// Names end after 64 KiB. The work for a function grows with its address range:
// set End to the end of the code.
//
// A Table must not change after its exported fields are set; it is then safe
// for concurrent use if ReadAt is. A Body belongs to one goroutine.
package gopcln

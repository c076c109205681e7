// Package gopcln reads the table that a Go program carries to name the frames
// of its own stacks: pclntab. It outlives stripping.
//
// There is no specification but the text on the first version
// (https://golang.org/s/go12symtab) and the sources of the linker and the
// runtime (cmd/link/internal/ld/pcln.go, runtime/symtab.go,
// runtime/symtabinl.go). Four versions are told apart by their magic, which
// tells the byte order as well:
//
//	0xfffffffb  Go 1.2 to 1.15   all offsets from the start, addresses absolute
//	0xfffffffa  Go 1.16 and 1.17 names, files and tables apart; files by unit
//	0xfffffff0  Go 1.18 and 1.19 addresses relative to runtime.text
//	0xfffffff1  Go 1.20 on       other inline trees
//
// A table holds: for each function, sorted by address, a record; for each
// record, runs of file and line (pairs of a value and a length, as differences)
// and runs that say which call of the function's inline tree the code belongs
// to. The inline tree is a list of calls outside of the table proper, in
// read-only data. Up to Go 1.19 a call names its parent, file and line; since
// then only an address in the function that has them.
//
// # What the table does not hold
//
// Since Go 1.18 addresses need the address of runtime.text. The header had it
// up to Go 1.25, though as zero where a relocation puts it in. Inline trees
// need the address of go:func.*. Both stand in runtime.moduledata, which
// Module finds in a data section: by the numbers of it that need no
// relocation. Without them a function has its lines all the same: those of the
// innermost call, under its own name.
//
// # Met in the wild
//
//   - Go 1.26 puts go:func.* into the section of the table, moduledata into
//     one of its own (.go.module), and always zero for runtime.text.
//   - Up to Go 1.11 the number of tables of a record is a word, later a byte;
//     Go 1.12 numbers its tables as Go 1.11 does, Go 1.13 to 1.15 otherwise.
//     The magic is the same: the content tells.
//   - Stripped files may have no section for the table (.data.rel.ro, or a
//     __rodata of one's own): Find looks for it.
//   - The last instruction of a function is not its end: padding follows. It
//     is a hole here, while go tool addr2line goes on with the function.
//
// Programs whose code the linker split into several text sections (only very
// large ones on some systems) are read as if it were one. WebAssembly, where
// an address is not one, is not read.
//
// # Damage and limits
//
// Everything is bounded by the bytes of the table; a record that cannot be
// read costs its function. A function has at most 1<<20 calls, nested up to
// 256 deep. Names end after 64 KiB. The work for a function grows with its
// address range: set End to where the code ends.
//
// A Table is not changed once its exported fields are set, and is then safe
// for concurrent use if ReadAt is. A Body belongs to one goroutine.
package gopcln

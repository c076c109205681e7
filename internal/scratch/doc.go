// Package scratch keeps temporary data in files of a folder instead of the heap.
//
// A Dir has the files that builds spill to. A Space has mapped files for the
// unpacked sections of debug files: the system can write their pages out. On
// systems without mappings a Space allocates on the heap. A Space belongs to one
// goroutine; a Dir may be used by several.
package scratch

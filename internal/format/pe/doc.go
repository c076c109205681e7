// Package pe reads PE files, the programs and libraries of Windows, in the
// words of that format.
//
// # Specification
//
// https://learn.microsoft.com/windows/win32/debug/pe-format, and below
// https://learn.microsoft.com/cpp/build the pages exception-handling-x64 and
// arm64-exception-handling. The records of CodeView are described nowhere but in
// the sources of debuggers.
//
//	DOS header       "MZ" ... offset of the next at 0x3c
//	PE header        "PE\0\0", the COFF header {machine, sections, time, symbols,
//	                 number of symbols, size of the next, characteristics}
//	optional header  {magic, ..., image base, ..., image size, ..., directories}
//	section headers  40 bytes each
//
// Read are sections, the debug directory with what it says about the PDB, the
// export directory, the symbols of COFF, and the exception directory of x64 and
// arm64. DWARF is for others: Data hands its sections out. Not read are the
// exception directory of 32-bit arm, and the second one that code for arm64 has
// in an image for both x64 and arm64 (ARM64EC). x86 has none; its PDB says how
// to unwind.
//
// All addresses are relative to the image (RVA).
//
// # Met in the wild
//
//   - Section names have 8 bytes. A longer one is /123, an offset in the table
//     of strings behind the symbols, or //AAAAAA, the same in base 64. The linker
//     of MinGW also cuts names: .eh_fram.
//   - The size of a section in memory is the true one of debug information; that
//     in the file is rounded up, and may reach beyond the end.
//   - The loader rounds the offset of a section down to 512 bytes, if sections
//     begin on pages.
//   - A debug directory has entries of kinds that nobody describes; the age of a
//     portable PDB is the time of its entry, which has the minor version 0x504d.
//   - The record of a PDB has no name where it only holds a build id (MinGW).
//   - Wine's builtin libraries have headers and no code: what directories refer
//     to is not there.
//   - An entry of the exception directory may be chained to that of the function
//     that it is a part of, or to itself.
//   - Names of C functions are decorated: _f@8, @f@8, f@@8, and, on 32-bit x86
//     among the symbols of COFF, _f. An export called _f is called so.
//
// Open fails only without a usable header. Everything else that is broken costs
// itself, is cut to what the file has, and is told in File.Problems, of which
// the first 64 are kept. A File is not changed after Open and is safe for
// concurrent use if its source is. Names and data are parts of the source where
// that is in memory.
package pe

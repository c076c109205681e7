// Package pe reads PE files, the programs and libraries of Windows, and COFF, the
// object files that they are linked from.
//
// # Specification
//
// https://learn.microsoft.com/windows/win32/debug/pe-format, and the pages
// exception-handling-x64 and arm64-exception-handling of
// https://learn.microsoft.com/cpp/build. CodeView records are documented only
// by the sources of debuggers.
//
//	DOS header       "MZ" ... offset of the next at 0x3c
//	PE header        "PE\0\0", the COFF header {machine, sections, time, symbols,
//	                 number of symbols, size of the next, characteristics}
//	optional header  {magic, ..., image base, ..., image size, ..., directories}
//	section headers  40 bytes each
//
// An object begins with the COFF header, or, if it has more than 65,279 sections,
// with a header of 56 bytes; its symbols have 20 bytes then, otherwise 18. It has
// no optional header. All its sections begin at address 0, and have relocations.
//
// The package reads sections, the reference to the PDB in the debug directory,
// the export directory, COFF symbols, and the exception directory of x64 and
// arm64. It does not interpret DWARF: Data returns its sections. It does not
// read the exception directory of 32-bit arm, nor the second one for arm64 code
// in an image for both x64 and arm64 (ARM64EC). x86 has none; its unwind
// information is in the PDB.
//
// All addresses are relative to the image (RVA). Those of an object are relative to
// the addresses that the caller gives its sections.
//
// # Deviations met in the wild
//
//   - Section names have 8 bytes. A longer one is /123, an offset in the string
//     table after the symbols, or //AAAAAA, the same in base64. The linker of
//     MinGW also truncates names: .eh_fram.
//   - The size of a section in memory is the exact one for debug information; the
//     size in the file is rounded up, and may extend past the end.
//   - The loader rounds the offset of a section down to 512 bytes, if sections
//     begin on pages.
//   - A debug directory has entries of undocumented types; the age of a portable
//     PDB is the time of its entry, which has the minor version 0x504d.
//   - The record of a PDB has no name if it contains only a build id (MinGW).
//   - Wine's builtin libraries have headers without code: their directories refer
//     to missing data.
//   - An entry of the exception directory may be chained to that of its enclosing
//     function, or to itself.
//   - A section of an object with more than 65,534 relocations has their number in
//     the first one.
//   - MinGW defines a weak f as another symbol, .weak.f.default.NAME.
//   - Names of C functions are decorated: _f@8, @f@8, f@@8, and, on 32-bit x86 in
//     COFF symbols, _f. The name of an export _f is not decorated.
//
// Open and OpenObject fail only without a usable header. Other damage affects only the
// damaged part, which is truncated to the file and listed in File.Problems, up
// to 64 of them. A File does not change after Open, except that the caller sets
// the addresses of an object's sections, and is safe for concurrent use if its
// source is. Names and data alias the source if that is in memory.
package pe

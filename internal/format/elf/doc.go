// Package elf reads ELF files: their identifiers, sections and symbols, and the
// relocations of unlinked files. It does not interpret the contents of debug
// sections.
//
// Specifications: the System V ABI, chapters 4 and 5
// (https://refspecs.linuxfoundation.org/elf/gabi4+/contents.html), with its
// draft on compressed sections; the supplements of the processors for
// relocations, mapping symbols and function descriptors; the manual of GNU ld
// for build ids; the manual of GDB for debug links.
//
// Both classes and both byte orders are read. The header must be usable; other
// damage affects only the damaged part and is listed in Problems. Tables and
// sections that extend past the end of the file are read up to the end.
//
// Addresses are those of the file. In a relocatable file (ET_REL) every section
// starts at 0, and an address is meaningful only with its section.
//
// # Deviations met in the wild
//
//   - Section headers are stripped, or their offset is wrong: the dynamic symbols
//     are then found as the loader finds them. Of the hash tables only the older
//     one states the number of symbols; that of GNU is walked from its highest
//     bucket; without either, the highest symbol of the relocations counts.
//   - Separate debug files keep the headers of sections without their bytes
//     (NOBITS), and program headers that describe another file.
//   - A section .zdebug_x that does not begin with "ZLIB" is not compressed.
//   - Notes are aligned to 4 bytes, even in segments that claim 8.
//   - The name of a debug link is padded incorrectly; its checksum is always last.
//   - Thumb and MIPS16 functions have bit 0 of their address set.
//   - Mapping symbols ($a, $d, $t, $x) and local labels (.L) look like code.
//     RISC-V appends instruction sets to $x. Those of 32-bit ARM mark where code
//     is A32 or Thumb, and where it contains data; they are stripped with .symtab,
//     which leaves bit 0 of the dynamic symbols.
//   - In the first ABI of 64-bit PowerPC the address of a function symbol is that
//     of a descriptor in .opd. lld links such files and marks them as of the
//     second ABI.
//   - Relocations of little-endian MIPS64 have another order of fields, and the
//     hash table of s390x has entries of 8 bytes.
//   - Linked files keep relocations that were applied (ld --emit-relocs, Linux).
//
// # Limits and concurrency
//
// Memory is proportional to the file, except for Unpack. Names of sections are
// truncated to 4 KiB, those of symbols to 64 KiB, so that every table is read
// in linear time. The first 64 Problems are kept.
//
// A File does not change after Open, and is safe for concurrent use if its
// source is. Its results alias the source if that is in memory.
package elf

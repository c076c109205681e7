// Package elf reads ELF files: what they are, their sections, their symbols,
// and the relocations of files that were not linked yet. It knows nothing of
// what debug sections contain.
//
// Specifications: the System V ABI, chapters 4 and 5
// (https://refspecs.linuxfoundation.org/elf/gabi4+/contents.html), with its
// draft on compressed sections; the supplements of the processors for
// relocations, mapping symbols and function descriptors; the manual of GNU ld
// for build ids; the manual of GDB for debug links.
//
// Both classes and both byte orders are read. The header must be usable; what
// else is damaged costs only itself and is told in Problems. Tables and sections
// that reach beyond the end of the file are read up to there.
//
// Addresses are those of the file. In a relocatable file (ET_REL) every section
// starts at 0, and an address means something only with its section.
//
// # Met in the wild
//
//   - Section headers are stripped, or lie about their place: the dynamic
//     symbols are then found as the loader finds them. Of the hash tables only
//     the older one states how many there are; that of GNU is walked from its
//     highest bucket; where there is none, relocations name the highest.
//   - Separate debug files keep the headers of sections whose bytes they do not
//     have (NOBITS), and program headers that describe another file.
//   - A section .zdebug_x that does not begin with "ZLIB" is not compressed.
//   - Notes are aligned to 4 bytes, also in segments that claim 8.
//   - The name of a debug link is padded wrongly; its checksum is always last.
//   - Thumb and MIPS16 functions have bit 0 of their address set.
//   - Mapping symbols ($a, $d, $t, $x) and local labels (.L) look like code.
//     RISC-V writes instruction sets behind $x. Those of 32-bit ARM say where
//     code is A32 or Thumb, and where data stands in it; they are stripped with
//     all of .symtab, and bit 0 of the dynamic symbols is left.
//   - In the first ABI of 64 bit PowerPC a function symbol is the address of a
//     descriptor in .opd. lld links such files and marks them as of the second.
//   - Relocations of little endian MIPS64 have fields in an order of their own,
//     and the hash table of s390x entries of 8 bytes.
//   - Linked files keep relocations that were applied (ld --emit-relocs, Linux).
//
// # Limits
//
// What is allocated is in proportion to the file, except by Unpack. Names of
// sections are cut at 4 KiB, those of symbols at 64 KiB, so that every table is
// read in linear time. Of Problems the first 64 are kept.
//
// A File does not change after it was opened, and is safe for concurrent use if
// its source is. What it returns lies inside of the source where that is in
// memory.
package elf

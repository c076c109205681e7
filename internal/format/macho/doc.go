// Package macho reads Mach-O files: the programs, libraries, object files and
// debug files of Apple's systems.
//
// # Specification
//
// <mach-o/loader.h>, <mach-o/fat.h>, <mach-o/nlist.h>, <mach-o/stab.h> and
// <mach-o/reloc.h> of https://github.com/apple-oss-distributions/xnu, and
// <mach-o/compact_unwind_encoding.h> of https://github.com/llvm/llvm-project.
//
//	fat      {magic, count} big endian, then for each slice
//	         {cpu, subcpu, offset, size, align}; fat64: offset and size of 64 bits
//	header   {magic, cpu, subcpu, filetype, ncmds, sizeofcmds, flags[, reserved]}
//	command  {cmd, cmdsize, ...}, ncmds of them
//
// The package reads segments and sections, symbols, the debug map that linkers
// write instead of debug information, function starts, relocations of object
// files and compact unwind information; also BCSymbolMaps and the property
// lists that refer to them. It does not interpret DWARF: Data returns its
// sections.
//
// # Deviations met in the wild
//
//   - A Java class file has the magic of a fat file. Its version, 45 or more, is
//     at the offset of the number of slices.
//   - Section names are truncated to 16 bytes: __debug_str_offs. Section offsets
//     have 32 bits and wrap past 4 GiB; the segment has the correct one.
//   - A dSYM repeats all sections of the binary. Those without bytes have offset
//     0, but __eh_frame often has bytes, at an offset of its own.
//   - The only segment of an object file has no name; its sections have one.
//   - The offsets of images in a fileset (kernel collection) are those of the
//     outer file.
//   - Programs of the App Store are encrypted: code and unwind tables are random.
//   - Labels of the assembler, ltmp0, precede functions at the same address.
//   - In an arm64 encoding, three unused bits are between those for x19 to x28
//     and those for d8 to d15.
//
// Open fails only without a usable header. Other damage affects only the
// damaged part, which is truncated to the file and listed in File.Problems, up
// to 64 of them. A File does not change after Open and is safe for concurrent
// use if its source is. Names and data alias the source if that is in memory.
package macho

// Package macho reads Mach-O files, the programs, libraries, object and debug
// files of Apple's systems, in the words of that format.
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
// Read are segments and sections, symbols, the debug map that linkers leave in
// place of debug information, function starts, relocations of object files and
// compact unwind; beside the binary, a BCSymbolMap and the property list that
// says which one. DWARF is for others: Data hands its sections out.
//
// # Met in the wild
//
//   - A Java class file begins as a fat file does. Its version, 45 or more,
//     stands where the number of slices would be.
//   - Section names are cut at 16 bytes: __debug_str_offs. Their offsets have 32
//     bits and wrap past 4 GiB; the segment tells the true one.
//   - A dSYM repeats all sections of the binary. Those without bytes have offset
//     0, but __eh_frame often has them, at an offset of its own.
//   - The one segment of an object file has no name; its sections say theirs.
//   - The offsets of images in a fileset (kernel collection) are those of the
//     outer file.
//   - Programs of the App Store are encrypted: code and unwind tables are noise.
//   - The assembler's labels, ltmp0, stand before functions at their addresses.
//   - In an arm64 encoding, three unused bits are between those for x19 to x28
//     and those for d8 to d15.
//
// Open fails only without a usable header. Everything else that is broken costs
// itself, is cut to what the file has, and is told in File.Problems, of which
// the first 64 are kept. A File is not changed after Open and is safe for
// concurrent use if its source is. Names and data are parts of the source where
// that is in memory.
package macho

// Package xz unpacks .xz files: the container of the xz file format 1.2.1
// (https://tukaani.org/xz/xz-file-format.txt) with LZMA2 data. MiniDebugInfo
// is such a file inside of an ELF section.
//
// Read are any number of streams with zero padding between them, any number of
// blocks, and the checks CRC32, CRC64 and SHA-256. A check of another kind is
// passed over, as the format allows. The index must agree with the blocks.
// Filters beside LZMA2 (delta, and those for machine code) are Unsupported.
//
// A distance is refused when it leads to before the last reset of the
// dictionary; that it stays within the declared size of the dictionary is not
// asked. That size is not used for anything: the output itself is the
// dictionary, and it grows as it is written.
package xz

// Package xz unpacks .xz files: the container of the xz file format 1.2.1
// (https://tukaani.org/xz/xz-file-format.txt) with LZMA2 data. MiniDebugInfo is
// such a file inside an ELF section.
//
// It reads any number of streams with zero padding between them, any number of
// blocks, and the checks CRC32, CRC64 and SHA-256. Other checks are skipped, as
// the format permits. The index must agree with the blocks. Filters other than
// LZMA2 (delta, and those for machine code) are Unsupported.
//
// A distance is rejected if it refers to data before the last reset of the
// dictionary. The declared size of the dictionary is ignored: the output is the
// dictionary, and it grows as it is written. The functions are safe for
// concurrent use.
package xz

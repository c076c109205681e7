// Package ppdb answers addresses from portable PDBs.
//
// An address is the token of a method in the upper 32 bits, 0x06000001 for the first one,
// and an offset in its IL below. The answer is the last sequence point at or before it
// that is not hidden, up to the next token, as the file does not have the end of the
// method. Functions have no names, as only the assembly has them.
//
// The language of a method is that of the document of its first line. Embedded
// sources may have object.MaxSource bytes.
package ppdb

// Package ppdb answers addresses from portable PDBs.
//
// An address is the token of a method in the upper 32 bits, 0x06000001 for the
// first one, and an offset in its IL below. The answer is that of the last
// sequence point at or before it, without hidden ones, up to the end of the
// method, which the file does not tell: it is the next token. Functions have no
// names, which only the assembly knows.
//
// The language of a method is that of the document of its first line. Embedded
// sources may have object.MaxSource bytes.
package ppdb

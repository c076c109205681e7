// Package ident holds the identifiers of binaries and debug files, in the
// spellings of all peers: parse, print, convert. It does no I/O of its own and
// knows no file format.
//
// An identifier is the text or the bytes that tell one build of a file from
// all others:
//
//	DebugID  what a debug file and its binary share: a UUID and an age, or
//	         the older timestamp and age of PDB 2.0
//	CodeID   what the binary itself carries: ELF build id, Mach-O UUID, or
//	         PE timestamp and size
//	BuildID  the GNU build id of an ELF file
//	FileID   a hash over the file, the id of Elastic's profilers
//
// All are comparable values and safe for concurrent use. Parsers take hostile
// text of any length and refuse what they cannot represent, except
// ParseCodeID, which cleans as the peers do.
package ident

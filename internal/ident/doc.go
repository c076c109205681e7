// Package ident has the identifiers of binaries and debug files in the
// spellings of all peers: it parses, prints and converts them. It does no I/O
// of its own and reads no file format.
//
// An identifier is the text or the bytes that distinguish one build of a file
// from all others:
//
//	DebugID  common to a debug file and its binary: a UUID and an age, or
//	         the older timestamp and age of PDB 2.0
//	CodeID   stored in the binary itself: ELF build id, Mach-O UUID, or PE
//	         timestamp and size
//	BuildID  the GNU build id of an ELF file
//	FileID   a hash of the file, the id of Elastic's profilers
//
// All are comparable values and safe for concurrent use. Parsers accept hostile
// text of any length and reject text that they cannot represent, except
// ParseCodeID, which ignores other characters as the peers do.
package ident

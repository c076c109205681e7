// Package breakpad reads and writes Breakpad symbol files, the .sym text that
// dump_syms writes.
//
// A file consists of lines. The first word of a line is its kind (h
// hexadecimal, d decimal, both without prefix; fields are separated by blanks):
//
//	MODULE os arch id name              first line, once
//	INFO CODE_ID h [name]               also INFO GENERATOR, INFO URL, others
//	FILE d path
//	INLINE_ORIGIN d name                older dialect: INLINE_ORIGIN d d name
//	FUNC [m] h:addr h:size h:params name
//	INLINE d:depth d:line d:file d:origin (h:addr h:size)+
//	                                    older dialect: without file
//	h:addr h:size d:line d:file         a line record
//	PUBLIC [m] h:addr h:params name
//	STACK CFI INIT h:addr h:size rules
//	STACK CFI h:addr rules
//	STACK WIN type addr size ...
//
// INLINE and line records belong to the FUNC above them, up to the next FUNC,
// PUBLIC, STACK or MODULE. STACK CFI records belong to the INIT above them. A
// file uses one of the two dialects; the number of fields of its first INLINE
// records tells which one.
//
// # Two steps
//
// A Scanner reads the bytes as a stream, in chunks of any size, and builds an
// Index: the positions of the records, and the few numbers that are needed to
// find them. The records of an address are parsed later from the text: by
// ParseFunc for a FUNC with its records, by ParseStack for
// unwinding. Line and INLINE records are therefore validated by ParseFunc, not
// by the Scanner.
//
// # Damage
//
// An invalid record is skipped and counted in a Report with the number of its
// line. A file is rejected only if it has no usable MODULE, or if it has no
// usable record and a damaged one. A second MODULE with another id begins
// another file; the rest is not read.
//
// Deviations met in the wild, and accepted: CRLF; blank lines; no newline at
// the end;
// FILE and INFO records anywhere; names with blanks, NULs and bytes that are
// not UTF-8 (names are bytes here); no name at all; an INLINE_ORIGIN without a
// name; FILE 4294967295; records after the STACK records; FUNC records that
// overlap, or are out of order.
//
// # Limits
//
// A line has up to 1 MiB, a longer one is damaged. The fields before a name end
// within the first 64 KiB of their line, and the name is truncated there. The
// records of one FUNC have up to 4 MiB, and its INLINE records up to 262,144
// ranges; further ones are damaged. Of the INFO records the first 64 are kept.
// An Index takes at most about six bytes for each byte of the file.
//
// A Scanner and a Func belong to one goroutine. An Index does not change after
// Finish, and is safe for concurrent use.
package breakpad

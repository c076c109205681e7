// Package breakpad reads Breakpad symbol files, the .sym text that dump_syms
// writes, in the words of that format.
//
// A file is lines; the first word tells what a line is (h hexadecimal, d
// decimal, both without prefix; fields are separated by blanks):
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
// file is in one of the two dialects; the number of fields of its first INLINE
// records tells in which.
//
// # Two steps
//
// A Scanner takes the bytes as they pass by, in chunks of any size, and makes
// an Index: where the records are, and the few numbers that finding them
// needs. What an address needs is parsed from the text later: ParseFunc for a
// FUNC with its records, ParseCFI and ParseWin for unwinding. Line and INLINE
// records are therefore not judged by the Scanner, but by ParseFunc.
//
// # Damage
//
// A record that cannot be understood costs that record: it is counted in a
// Report with the number of its line. A file is refused only when it has no
// usable MODULE, or when nothing usable is left and something was damaged. A
// second MODULE with another id begins another file; it and what follows is
// not read.
//
// Met in the wild, and accepted: CRLF; blank lines; no newline at the end;
// FILE and INFO records anywhere; names with blanks, NULs and bytes that are
// not UTF-8 (names are bytes here); no name at all; an INLINE_ORIGIN without a
// name; FILE 4294967295; records after the STACK records; FUNC records that
// overlap, or are out of order.
//
// # Limits
//
// A line has up to 1 MiB, a longer one is damaged. The fields in front of a
// name end within the first 64 KiB of their line, and the name is cut there.
// The records of one FUNC have up to 4 MiB, and its INLINE records up to some
// 250,000 ranges; what is beyond is damaged. Of the INFO records the first 64
// are kept. An Index takes at most some six bytes for each byte of the file.
//
// A Scanner and a Func belong to one goroutine. An Index does not change once
// it is made.
package breakpad

// Package symbfile reads and writes the "symbfile" format in which the profiling
// agents of Elastic and OpenTelemetry send symbols to their servers: ranges of code
// with the function, file and lines that they come from, and return pads, the whole
// inline trace of one return address.
//
// # Specification
//
// https://github.com/open-telemetry/opentelemetry-ebpf-profiler, rust-crates/symb-proto.
//
//	file      "symbfile", message...
//	message   {length, type: uvarint; length bytes of protobuf}
//
// The first message is the header, and no other is; there is nothing at the end.
// A file that is cut between two messages is a file.
//
//		1 header        nothing
//		2 range         VA, 2 length, func, file, 5 callLine, callFile, 7 depth, 8 line table
//		                VA 1 (delta) or 12 (set); func 3 (inline) or 9 (ref);
//		                file 4 or 10; callFile 6 or 11
//		  line table    1 offset..., 2 line...
//		3 return pad    VA, 2 func..., 3 file..., 4 line...; VA 1 (delta) or 5 (set)
//		4 string table  1 string...
//
//	  - The VA is set, or a signed difference from that of the range or pad before it,
//	    whichever of them it was; sums wrap. The first one must be set.
//	  - A ref counts in the last string table before it. A table replaces the one
//	    before it. Inline strings are in none.
//	  - Columns (...) of one message are equally long. Offsets are differences; a row
//	    of the line table lasts until the next one, the last until the range ends.
//	  - A pad has its frames outermost first, and "" for a file that is unknown. Its
//	    VA is the last byte of a call.
//	  - VA, func, file and callFile are members of a oneof: they are written even if
//	    they are zero. VA and func must be there. The other numbers are 0 if they are
//	    not; a callLine or a line of 0 is unknown.
//	  - A range without callFile was called in the file of the range around it, if
//	    it has a depth. The order of records means nothing.
//
// A file with one string, one range and one pad:
//
//	73 79 6d 62 66 69 6c 65         magic
//	00 01                           header
//	06 04 0a 04 6d 61 69 6e         string table, "main"
//	0f 02 60 80 20 10 40 48 00      range, VA 0x1000, length 0x40, func 0,
//	   42 06 0a 01 04 12 01 0a      from 0x1004 on line 10
//	0b 03 08 10                     pad, VA 8 behind 0x1000
//	   12 01 00 1a 01 00 22 01 0a   frame: func 0, file 0, line 10
//
// As in all of protobuf, fields come in any order, the last of those that exclude
// each other counts, a message that is there twice is joined, columns may be packed
// or not, and fields that nobody knows, with their groups, are passed over. Numbers
// of 32 bits lose what does not fit. Every string must be UTF-8, needed or not.
//
// # Met in the wild
//
//   - The reader of OpenTelemetry takes the payload of a message of unknown type
//     for messages. It is passed over here.
//   - It keeps 32 bits of a length and of a sum of offsets. There are 64 here.
//   - Excess bits in the tenth byte of a length or type are lost there and here; in
//     a field they are an error there and here.
//   - Its tables are in an order that differs from run to run. The Writer's are in
//     that of first use, with the 128 strings that are used most before the others,
//     and so on, for shorter refs.
//   - Lengths of 0, ranges that overlap at one depth, children before parents, pads
//     without frames and several of one address are met, and are read.
//
// # Limits
//
// A message has 16 MiB at most, a pad 1<<20 frames, a range 1<<22 rows. Memory is
// bounded by that and grows with what was read, not with what was announced. A
// Strict Reader is for files of strangers: it takes as its limits 256 for depths,
// 1,024 for frames, 1<<20 rows, 4 MiB for the text of a record, 32 bits for lengths
// and sums of offsets, and 64 bits for the end of a range.
//
// The Writer holds records until their strings come near 16 MiB or they themselves
// need as much, and writes them behind their table, in which the strings are that
// are used twice or by a pad. It refuses what the Reader would refuse, and goes on
// behind it. Neither allocates for each record. Readers and Writers belong to one
// goroutine.
//
// Of a file in memory that a Reader went through, LinesAt, FramesAt and Text read single
// records and strings again, without the state of the Reader. Which string a ref of a
// pad means is found by Tables, which marks every 64th string, for half a million marks
// at most.
package symbfile

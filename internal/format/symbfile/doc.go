// Package symbfile reads and writes the "symbfile" format in which the
// profiling agents of Elastic and OpenTelemetry send symbols to their servers:
// ranges of code with their function, file and lines, and return pads, the
// complete inline trace of a return address.
//
// # Specification
//
// https://github.com/open-telemetry/opentelemetry-ebpf-profiler, rust-crates/symb-proto.
//
//	file      "symbfile", message...
//	message   {length, type: uvarint; length bytes of protobuf}
//
// The first message is the header, which occurs once; the end is not marked. A
// file that is truncated between two messages is valid.
//
//		1 header        nothing
//		2 range         VA, 2 length, func, file, 5 callLine, callFile, 7 depth, 8 line table
//		                VA 1 (delta) or 12 (set); func 3 (inline) or 9 (ref);
//		                file 4 or 10; callFile 6 or 11
//		  line table    1 offset..., 2 line...
//		3 return pad    VA, 2 func..., 3 file..., 4 line...; VA 1 (delta) or 5 (set)
//		4 string table  1 string...
//
//	  - The VA is absolute, or a signed difference from that of the previous range
//	    or pad; sums wrap around. The first one must be absolute.
//	  - A ref is an index in the last string table before it. A table replaces the
//	    previous one. Inline strings are in none.
//	  - Columns (...) of a message have equal lengths. Offsets are differences; a
//	    row of the line table extends to the next one, the last to the end of the
//	    range.
//	  - The frames of a pad are outermost first, with "" for an unknown file. Its
//	    VA is the last byte of a call.
//	  - VA, func, file and callFile are members of a oneof: they are written even
//	    if they are zero. VA and func are required. Other numbers default to 0; a
//	    callLine or a line of 0 is unknown.
//	  - A range without callFile that has a depth was called in the file of the
//	    enclosing range. The order of records has no meaning.
//
// A file with a string, a range and a pad:
//
//	73 79 6d 62 66 69 6c 65         magic
//	00 01                           header
//	06 04 0a 04 6d 61 69 6e         string table, "main"
//	0f 02 60 80 20 10 40 48 00      range, VA 0x1000, length 0x40, func 0,
//	   42 06 0a 01 04 12 01 0a      from 0x1004 on line 10
//	0b 03 08 10                     pad, VA 8 bytes after 0x1000
//	   12 01 00 1a 01 00 22 01 0a   frame: func 0, file 0, line 10
//
// As in all of protobuf, fields may be in any order, the last of mutually
// exclusive fields wins, repeated messages are merged, columns may be packed or
// not, and unknown fields and groups are skipped. Numbers of 32
// bits are truncated. Every string must be valid UTF-8, even if it
// is not used.
//
// # Differences from other implementations
//
//   - The reader of OpenTelemetry parses the payload of a message of unknown type
//     as messages. It is skipped here.
//   - It keeps 32 bits of a length and of a sum of offsets; here they have 64.
//   - Excess bits in the tenth byte of a length or type are ignored by both; in a
//     field they are an error in both.
//   - Its tables are in an order that differs from run to run. Those of the Writer
//     are in the order of first use, with the 128 most used strings first, and so
//     on, for shorter refs.
//   - Lengths of 0, ranges that overlap at one depth, children before parents,
//     pads without frames and several of one address occur, and are accepted.
//
// # Limits and concurrency
//
// A message has at most 16 MiB, a pad 1<<20 frames, a range 1<<22 rows. Memory
// is bounded by that and grows with the bytes read, not with the sizes in the
// file. A Strict Reader, for files of untrusted clients, has further limits:
// 256 for depths, 1,024 for frames, 1<<20 rows, 4 MiB for the text of a record,
// 32 bits for lengths and sums of offsets, and 64 bits for the end of a range.
//
// The Writer holds records until their strings approach 16 MiB or the records
// take 2 MiB, and writes them after their table, which has the strings that are
// used twice or by a pad. It rejects records that the Reader would reject, and
// can continue after them. Neither allocates for each record. Readers and
// Writers belong to one goroutine.
//
// After a Reader has read a file in memory, LinesAt, FramesAt and Text read
// single records and strings again, without the state of the Reader. Tables
// resolves the refs of pads to strings; it stores the offset of every 64th
// string, up to half a million offsets.
package symbfile

// Package symcache is our table of addresses: made once out of what a debug
// file says, opened in place, and asked for frames. A [Builder] takes the
// blocks of package sym in rising address order and writes a table; [Open]
// opens one; [Table.Lookup] answers with the frames at an address and
// [Table.AppendText] with the names in them.
//
// The package is pure: bytes in, values out. A build that must not hold
// everything in memory is given a [bin.Scratch] by its caller. The same blocks
// give the same bytes, whatever machine, memory limit or number of cores.
//
// A Table may be used by any number of goroutines, a Builder by one.
//
// # File
//
// All numbers are little endian. "uleb" is an unsigned LEB128 number, "zigzag"
// one that holds 0, -1, 1, -2, … as 0, 1, 2, 3, ….
//
//	head        its size is in it
//	checksums   u32 for each page of the body, then zeros up to a multiple of 8
//	body        the sections
//
// A checksum is CRC-32C. The head ends in its own and holds that of the
// checksums; these cover the body in pages of 16 KiB. So no byte is without
// one. Open compares them all, and lookups rely on that: the bytes must not
// change as long as the table is used.
//
//	  0   8  magic 89 "symtab" 0a
//	  8   4  Version
//	 12   4  size of the head
//	 16   8  size of the body
//	 24   4  checksum of the checksums and the zeros behind them
//	 28   1  bits of a page: 14
//	 29   1  bits of a bucket: 6
//	 30   1  sections: 11
//	 31   1  zero
//	 32   8  base: group numbers and entries of functions count from here
//	 40   8  size of the input
//	 48  32  SHA-256 of the input
//	 80   8  records of the input that could not be used
//	 88   4  Flags
//	 92  16  debug id: UUID; PDB 2.0: timestamp, big endian
//	108   4  debug id: age
//	112   1  debug id: 0 none, 1 UUID, 2 PDB 2.0
//	113   7  zero
//	120 176  section table, 16 bytes for each: u64 records, u8 bytes of a
//	         record, 5 x u8 bits of its fields, 2 zeros
//	296      seven texts, each uleb length and bytes: type, arch, code file,
//	         code id, debug file, debug id as the asker spelled it, producer
//	         uleb languages; of each a text, empty if it is not known, and uleb
//	         of how many origins have it
//	  n   4  checksum of the head
//
// Sections lie in the order of the section table. Each is followed by at least
// eight zeros, up to a multiple of 8. A record is its fields one behind the
// other from the lowest bit up, in as few bytes as hold them; how many bits a
// field has is chosen for each file, so a field may have none and then is
// zero. Records are named by their place, from zero on.
//
//	extents    group number, first group record
//	groups     u32 offset in rows, u32 node, u32 first spot, 32 x u16 end of each bucket
//	rows       bytes; the section table has the bits of a row
//	spots      node, file, line, column
//	nodes      way to the parent, number
//	triples    origin, usual file, call file, call line, call column
//	functions  entry less base, size, origin, usual file; by entry
//	origins    string; by language
//	files      string; files are named from one on, zero is no file
//	index      u32 offset in strings, for sixteen strings each
//	strings    bytes
//
// # Addresses
//
// A bucket is 64 bytes of address space, a group 32 buckets. An address less
// base has its group number in the bits from 11 on and its bucket in bits 6 to
// 10. Only groups that a row starts in have a record. An extent is a run of
// them without a gap, so empty stretches cost nothing however long they are,
// and all of the 64 bits of an address can be used. What holds at the end of
// an extent holds up to the start of the next one, and that of the last extent
// to the end of the address space.
//
// A bucket in which no row starts has no bytes. Any other has
//
//	u64        bit n: a row starts at offset n
//	rows       of each of them, in order: a bit, node, line, column
//
// Rows lie one behind the other bit by bit; only the last one of a bucket is
// padded to a byte. If the bit of a row is zero, it is in that line of the usual
// file of its node. A quarter of the node numbers is for nodes before the one
// that the group record names, so what is stored for that one itself is a quarter
// of the numbers. Else all that follows the bit is one number: zero for a hole,
// where nothing is known, or that of a spot, counted from the first one of the
// group and from one on. A spot has what does not fit: another file, a node
// farther away, a greater line or column. Line 0 is no line.
//
// How many bits nodes and lines have is chosen so that rows and spots together
// are small; columns have 8, if the table has any. Two and a half bytes a row are
// usual.
//
// What holds at the start of a group is said there again if the first row starts
// later; else a group starts in a hole. What holds at the start of a bucket is
// what the one before it in the group that has rows ended with.
//
// # Nodes
//
// A node is a function, or a call that was inlined: way 0 and the number of a
// function, or how many nodes back the parent is and the number of a triple.
// A way only leads back, so chains end, after 256 calls at most. Nodes stand
// in the order in which rows need them, parents before children; a parent that
// is too far back for the bits of a way is written again. That lets most files
// do with three bytes.
//
// # Languages
//
// An origin is a name in a language. Origins of one language stand together, in
// the order in which the head names the languages, so that no record has to say
// which one it has.
//
// # Strings
//
// Names are kept by a grammar. What is inside of brackets <> () [] {}, each
// argument in there, and the scopes before the last ::, / or \ become strings
// of their own where that saves bytes; a name refers to them, and they to
// others. In a mangled Itanium name the brackets are letters, and the scopes are
// those of a nested name. Sixteen strings stand behind sixteen bytes with their sizes. In a
// string
//
//	00..7f         stand for themselves
//	80..bf         is string 0..63
//	c0..df b       is string 64.. (5 bits and b)
//	e0..f7 b b     is string 8,256.. (the bytes big endian, as in all of these)
//	f8..fb b b b   is string 1,581,120..
//	fc b b b b     is the string of that number
//	ff b           stands for b
//
// Strings that are used most have the lowest numbers. A text that would need
// more than 255 bytes is cut into strings, which the name refers to.
//
// # Lookup
//
// Find the last extent that does not start behind the group of the address,
// and the record of the group; in the gap behind an extent take its last group
// and the end of it. Find the bucket, and count the rows that start in it up to
// the address; if there is none take the last row of the bucket before it with
// rows. Follow the node to its parents: each gives a frame, and its triple file,
// line and column of the next one. So a lookup costs the same wherever the
// address is. A name in an answer is a handle, 2 * (origin + 1) or 2 * file + 1,
// and is put together only by AppendText. Names that were asked for are kept in
// a memo if [Table.Remember] gives memory for it; 4 bytes for each origin and
// file say where.
//
// [Table.Nearest] is a search among the functions.
//
// # Damage
//
// A file in which a checksum does not match, or whose extents are not in order,
// is not opened. But whoever writes a
// file can make them match. A record that no Builder writes makes an answer
// empty, and [Table.Damaged] tells about the first one; no content makes a
// reader crash, run on, or take more memory than the answer needs.
//
// # Limits
//
// 2^31 nodes, 4 GiB of rows and of strings, 256 calls inlined into one
// another, 1 MiB a name (what is longer is cut off), 400 strings in one
// another, 64 KiB a text of the head.
//
// # Example
//
// A function of 16 bytes at 0x1000, with another inlined at 0x1004. Head,
// checksums and the zeros between the sections are left out. One group has
// all, in its first bucket:
//
//	00000150  00                                               group records from 0 on are for 0x1000
//	00000160  00 00 00 00 01 00 00 00 00 00 00 00 0f 00 0f 00  group 0: rows from 0x0 on, first node 1, first spot 0, ends of buckets
//	00000170  0f 00 0f 00 0f 00 0f 00 0f 00 0f 00 0f 00 0f 00
//	00000180  0f 00 0f 00 0f 00 0f 00 0f 00 0f 00 0f 00 0f 00
//	00000190  0f 00 0f 00 0f 00 0f 00 0f 00 0f 00 0f 00 0f 00
//	000001a0  0f 00 0f 00 0f 00 0f 00 0f 00 0f 00
//
// Rows start at the offsets 0, 4, 8 and 16. They have, from the lowest bit up,
// one bit, three for the node (node 1, that of the group, is 2) and nine for the
// line, so that they share bytes:
//
//	000001b8  11 01 01 00 00 00 00 00                          where rows start in 0x1000 to 0x103f
//	000001c0  32 80                                            0x1000: node 0, usual file, line 3
//	000001c1  80 0e 48                                         0x1004: node 1, usual file, line 7
//	000001c3  48 81                                            0x1008: node 0, usual file, line 5
//	000001c4  81 00 00                                         0x1010: hole
//
// Nodes have 8 bits for the way and none for the number, as there is only
// one triple and one function. 4d is, from the lowest bit up, 1 (origin 1),
// 10 (usual file 2), 1 (file 1), 100 (line 4):
//
//	000001d8  00                                               node 0: function 0
//	000001d9  01                                               node 1: triple 0 in node 0
//	000001e8  4d                                               triple 0: origin 1, usual file 2, called at file 1, line 4, column 0
//	000001f8  30                                               function 0: 0x1000, 16 bytes, origin 0, usual file 1
//	00000208  01                                               origin 0: string 1: "sum(std::map<unsigned long, unsigned long>)"
//	00000209  02                                               origin 1: string 2: "add<std::map<unsigned long, unsigned long>>"
//	00000218  03                                               file 1: string 3: "src/sum.c"
//	00000219  04                                               file 2: string 4: "src/add.h"
//
// What the names share is string 0, which they refer to by 80:
//
//	00000228  00 00 00 00                                      strings from 0 on are at 0x0
//	00000238  26 06 06 09 09 00 00 00 00 00 00 00 00 00 00 00  sizes of the strings from 0 on
//	00000248  73 74 64 3a 3a 6d 61 70 3c 75 6e 73 69 67 6e 65  string 0: "std::map<unsigned long, unsigned long>"
//	00000258  64 20 6c 6f 6e 67 2c 20 75 6e 73 69 67 6e 65 64
//	00000268  20 6c 6f 6e 67 3e
//	0000026e  73 75 6d 28 80 29                                string 1: "sum(std::map<unsigned long, unsigned long>)"
//	00000274  61 64 64 3c 80 3e                                string 2: "add<std::map<unsigned long, unsigned long>>"
//	0000027a  73 72 63 2f 73 75 6d 2e 63                       string 3: "src/sum.c"
//	00000283  73 72 63 2f 61 64 64 2e 68                       string 4: "src/add.h"
//
// So 0x1005 is in node 1: add<…>, inlined, at line 7 of src/add.h; called by
// sum(…), at line 4 of src/sum.c.
package symcache

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
//	 29   1  bits of a bucket: 7
//	 30   1  sections: 10
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
//	120 160  section table, 16 bytes for each: u64 records, u8 bytes of a
//	         record, 4 x u8 bits of its fields, 3 zeros
//	280      seven texts, each uleb length and bytes: type, arch, code file,
//	         code id, debug file, debug id as the asker spelled it, producer
//	  n   4  checksum of the head
//
// Sections lie in the order of the section table. Each is followed by at least
// eight zeros, up to a multiple of 8. A record is its fields one behind the
// other from the lowest bit up, in as few bytes as hold them; how many bits a
// field has is chosen for each file, so a field may have none and then is
// zero. Records are named by their place, from zero on.
//
//	extents    group number, first group record
//	groups     u32 offset in rows, u32 node, 16 x u16 end of each bucket
//	rows       bytes
//	nodes      way to the parent, number
//	triples    origin, call file, call line, call column
//	functions  entry less base, size, origin; by entry
//	origins    string, usual file, lowest line
//	files      string; files are named from one on, zero is no file
//	index      u32 offset in strings, for sixteen strings each
//	strings    bytes
//
// # Addresses
//
// A bucket is 128 bytes of address space, a group 16 buckets. An address less
// base has its group number in the bits from 11 on and its bucket in bits 7 to
// 10. Only groups that a row starts in have a record. An extent is a run of
// them without a gap, so empty stretches cost nothing however long they are,
// and all of the 64 bits of an address can be used. What holds at the end of
// an extent holds up to the start of the next one, and that of the last extent
// to the end of the address space.
//
// The rows of a bucket are a stream that can be read by itself. It starts at
// offset 0 of the bucket, in a hole, with the node of the group. Each row:
//
//	u8           kind in the low 2 bits, step from the offset before in the others
//	uleb         if the step is 63: what is to be added to it
//	0 same node  zigzag line less that of the row before
//	1 usual      zigzag node less that before, uleb line less lowest line of the origin, plus 1
//	2 file       zigzag node less that before, uleb file, uleb line
//	3 hole       nothing; the node before is kept to count from
//	uleb         column, if the table has columns and the row is no hole
//
// Line 0 is no line. A row of kind 1 comes from the usual file of the origin
// of its node, which most rows do; its line is resolved when the last row
// before the address has been read. What holds at the start of a bucket is
// said there again if the bucket has rows and the first one starts later. A
// bucket without rows goes on with what the bucket before it in the group
// ended with, and a group starts in a hole.
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
// # Strings
//
// Names are kept by a grammar. What is inside of brackets <> () [] {}, each
// argument in there, and the scopes before the last ::, / or \ become strings
// of their own where that saves bytes; a name refers to them, and they to
// others. Sixteen strings stand behind sixteen bytes with their sizes. In a
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
// and the end of it. Find the bucket, or before it in the group the last one
// with rows. Read rows until one lies behind the address. Follow the node to
// its parents: each gives a frame, and its triple file, line and column of the
// next one. A name in an answer is a handle, 2 * (origin + 1) or 2 * file + 1,
// and is put together only by AppendText. Names that were asked for are kept in
// a memo if [Table.Remember] gives memory for it; 4 bytes for each origin and
// file say where.
//
// [Table.Nearest] is a search among the functions.
//
// # Damage
//
// A file in which a checksum does not match is not opened. But whoever writes a
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
// all:
//
//	00000140  00                                               group records from 0 on are for 0x1000
//	00000150  00 00 00 00 00 00 00 00 0a 00 0a 00 0a 00 0a 00  group 0: rows from 0x0 on, first node 0, ends of buckets
//	00000160  0a 00 0a 00 0a 00 0a 00 0a 00 0a 00 0a 00 0a 00
//	00000170  0a 00 0a 00 0a 00 0a 00
//
// Its rows are in the first bucket. 11 is a step of 4 and kind 1, 02 one node
// on, 01 the lowest line of that origin:
//
//	00000180  01 00 01                                         0x1000: node 0, usual file, lowest line + 0
//	00000183  11 02 01                                         0x1004: node 1, usual file, lowest line + 0
//	00000186  11 01 03                                         0x1008: node 0, usual file, lowest line + 2
//	00000189  23                                               0x1010: hole
//
// Nodes have 8 bits for the way and none for the number, as there is only
// one triple and one function. 13 is, from the lowest bit up, 1 (origin 1),
// 1 (file 1), 100 (line 4):
//
//	00000198  00                                               node 0: function 0
//	00000199  01                                               node 1: triple 0 in node 0
//	000001a8  13                                               triple 0: origin 1 called at file 1, line 4, column 0
//	000001b8  10                                               function 0: 0x1000, 16 bytes, origin 0
//	000001c8  35                                               origin 0: string 1, file 1, line 3: "sum(std::map<unsigned long, unsigned long>)"
//	000001c9  7a                                               origin 1: string 2, file 2, line 7: "add<std::map<unsigned long, unsigned long>>"
//	000001d8  03                                               file 1: string 3: "src/sum.c"
//	000001d9  04                                               file 2: string 4: "src/add.h"
//
// What the names share is string 0, which they refer to by 80:
//
//	000001e8  00 00 00 00                                      strings from 0 on are at 0x0
//	000001f8  26 06 06 09 09 00 00 00 00 00 00 00 00 00 00 00  sizes of the strings from 0 on
//	00000208  73 74 64 3a 3a 6d 61 70 3c 75 6e 73 69 67 6e 65  string 0: "std::map<unsigned long, unsigned long>"
//	00000218  64 20 6c 6f 6e 67 2c 20 75 6e 73 69 67 6e 65 64
//	00000228  20 6c 6f 6e 67 3e
//	0000022e  73 75 6d 28 80 29                                string 1: "sum(std::map<unsigned long, unsigned long>)"
//	00000234  61 64 64 3c 80 3e                                string 2: "add<std::map<unsigned long, unsigned long>>"
//	0000023a  73 72 63 2f 73 75 6d 2e 63                       string 3: "src/sum.c"
//	00000243  73 72 63 2f 61 64 64 2e 68                       string 4: "src/add.h"
//
// So 0x1005 is in node 1: add<…>, inlined, at line 7 of src/add.h; called by
// sum(…), at line 4 of src/sum.c.
package symcache

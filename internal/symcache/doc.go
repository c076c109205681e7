// Package symcache reads and writes tables of addresses. A table is built once
// from a debug file, is opened without decoding, and returns the frames at an
// address. A [Builder] writes a table from blocks of package sym in ascending
// order of addresses; [Open] opens a table; [Table.Lookup] returns the frames
// at an address and [Table.AppendText] the names in them.
//
// The package does no I/O of its own. A build with a memory limit gets a
// [bin.Scratch] from its caller. The same blocks give the same bytes on every
// machine, with every memory limit and number of cores.
//
// A Table is safe for concurrent use, a Builder is not.
//
// # File
//
// Numbers are little endian. "uleb" is an unsigned LEB128 number, "zigzag" one
// that encodes 0, -1, 1, -2, … as 0, 1, 2, 3, ….
//
//	head        has its own size
//	checksums   u32 for each page of the body, then zeros up to a multiple of 8
//	body        the sections
//
// Checksums are CRC-32C. The head ends with its own checksum and contains that
// of the checksums; these cover the body in pages of 16 KiB. So every byte is
// covered. Open verifies all checksums, and lookups rely on that: the bytes
// must not change while the table is used.
//
//	  0   8  magic 89 "symtab" 0a
//	  8   4  Version
//	 12   4  size of the head
//	 16   8  size of the body
//	 24   4  checksum of the checksums and the zeros after them
//	 28   1  bits of a page: 14
//	 29   1  bits of a bucket: 6
//	 30   1  sections: 11
//	 31   1  zero
//	 32   8  base: subtracted from all addresses
//	 40   8  size of the input
//	 48  32  SHA-256 of the input
//	 80   8  invalid records of the input
//	 88   4  Flags
//	 92  16  debug id: UUID; PDB 2.0: timestamp, big endian
//	108   4  debug id: age
//	112   1  debug id: 0 none, 1 UUID, 2 PDB 2.0
//	113   7  zero
//	120 176  section table, 16 bytes for each: u64 records, u8 bytes of a
//	         record, 5 x u8 bits of its fields, 2 zeros
//	296      seven texts, each uleb length and bytes: type, arch, code file,
//	         code id, debug file, debug id as in the request, producer
//	         uleb languages; for each a text, empty if unknown, and uleb
//	         number of origins
//	  n   4  checksum of the head
//
// Sections are in the order of the section table. Each is followed by at least
// eight zeros, up to a multiple of 8. A record consists of its fields from the
// lowest bit up, padded to bytes; the bits of a field are chosen for each file,
// and a field without bits is zero. Records are numbered from zero.
//
//	extents    group number, first group record
//	groups     u32 offset in rows, u32 node, u32 first spot, 32 x u16 end of each bucket
//	rows       bytes; the section table has the bits of a row
//	spots      node, file, line, column
//	nodes      distance to the parent, number
//	triples    origin, usual file, call file, call line, call column
//	functions  entry minus base, size, origin, usual file; by entry
//	origins    string; grouped by language
//	files      string; files are numbered from one, zero means no file
//	index      u32 offset in strings of each sixteen strings
//	strings    bytes
//
// # Addresses
//
// A bucket is 64 bytes of address space, a group 32 buckets. An address minus
// base has its group number in the bits from 11 up and its bucket in bits 6 to
// 10. Only groups in which a row starts have a record. An extent is a range of
// groups without a gap, so that empty ranges need no space and all 64 bits of
// an address can be used. The last row of an extent extends to the start of the
// next one, and that of the last extent to the end of the address space.
//
// A bucket in which no row starts is empty. Other buckets have
//
//	u64        bit n: a row starts at offset n
//	rows       in order, each a bit, node, line, column
//
// Rows are packed bit by bit; only the last one of a bucket is padded to a
// byte. If the bit of a row is zero, the row is at that line in the usual file
// of its node. A quarter of the node numbers is for nodes before the one in the
// group record, so that this node itself is stored as a quarter of the numbers.
// If the bit is set, the rest of the row is one number: zero for a hole, where
// nothing is known, or that of a spot, counted from the first one of the group
// and from one. A spot has values that do not fit in a row: another file, a
// more distant node, a greater line or column. Line 0 means that the line is
// unknown.
//
// The bits of nodes and lines are chosen so that rows and spots together are
// small; columns have 8 bits, if the table has any. A row typically needs two
// and a half bytes.
//
// If the first row of a group does not start at the start of the group, the row
// before it is repeated there, unless it is a hole. At the start of a bucket
// the last row of the bucket before it in the group still applies.
//
// # Nodes
//
// A node is a function or an inlined call. A function has distance 0 and the
// number of the function, a call the distance to its parent, in nodes, and the
// number of a triple. The parent always precedes, so chains end, after at most
// 256 calls. Nodes are in the order in which rows need them, parents before
// children; a parent whose distance does not fit is written again. So most
// files need only three bytes for a node.
//
// # Languages
//
// An origin is a name in a language. Origins are grouped by language, in the
// order of the languages in the head, so that records need no language.
//
// # Strings
//
// Names are stored as a grammar. The content of brackets <> () [] {}, each
// argument in it, and the scopes before the last ::, / or \ become separate
// strings where that saves bytes; names refer to them, and they to other
// strings. In a mangled Itanium name the brackets are letters, and the scopes
// are those of a nested name. Sixteen strings follow sixteen bytes with their
// sizes. In a string
//
//	00..7f         literal
//	80..bf         is string 0..63
//	c0..df b       is string 64.. (5 bits and b)
//	e0..f7 b b     is string 8,256.. (the bytes big endian, as in all of these)
//	f8..fb b b b   is string 1,581,120..
//	fc b b b b     is the string with that number
//	ff b           literal b
//
// The most used strings have the lowest numbers. A text of more than 255 bytes
// is split into strings, and the name refers to them.
//
// # Lookup
//
// Find the last extent that starts at or before the group of the address, and
// the record of the group; in the gap after an extent use the end of its last
// group. Find the bucket, and count the rows that start in it up to the
// address; without such a row use the last row of the previous bucket that has
// rows. Follow the node to its parents: each gives a frame, and its triple the
// file, line and column of the next frame. So the cost of a lookup does not
// depend on the address. A name in a result is a handle, 2 * (origin + 1) or 2
// * file + 1, which AppendText decodes. Decoded names are cached if
// [Table.Remember] provides memory; the index of the cache takes 4 bytes for
// each origin and file.
//
// [Table.Nearest] searches the functions.
//
// # Damage
//
// Open rejects a file with a wrong checksum or with extents that are not in
// order. But a malicious file has valid checksums. If a lookup reads an invalid
// record, its result is empty, and [Table.Damaged] returns the first such
// record; no content makes a reader crash, loop, or use more memory than the
// result needs.
//
// # Limits
//
// 2^31 nodes, 4 GiB of rows and of strings, 256 nested inlined calls, 1 MiB for
// a name (longer names are truncated), 400 nested strings, 64 KiB for a text of
// the head.
//
// # Example
//
// A function of 16 bytes at 0x1000, with a call inlined at 0x1004. Head,
// checksums and the zeros between the sections are omitted. There is one group,
// whose first bucket has all rows:
//
//	00000150  00                                               group records from 0 on are for 0x1000
//	00000160  00 00 00 00 01 00 00 00 00 00 00 00 0f 00 0f 00  group 0: rows from 0x0 on, first node 1, first spot 0, ends of buckets
//	00000170  0f 00 0f 00 0f 00 0f 00 0f 00 0f 00 0f 00 0f 00
//	00000180  0f 00 0f 00 0f 00 0f 00 0f 00 0f 00 0f 00 0f 00
//	00000190  0f 00 0f 00 0f 00 0f 00 0f 00 0f 00 0f 00 0f 00
//	000001a0  0f 00 0f 00 0f 00 0f 00 0f 00 0f 00
//
// Rows start at the offsets 0, 4, 8 and 16. They have, from the lowest bit up,
// one bit, three for the node (node 1, that of the group, is 2) and nine for
// the line, so adjacent rows share bytes:
//
//	000001b8  11 01 01 00 00 00 00 00                          where rows start in 0x1000 to 0x103f
//	000001c0  32 80                                            0x1000: node 0, usual file, line 3
//	000001c1  80 0e 48                                         0x1004: node 1, usual file, line 7
//	000001c3  48 81                                            0x1008: node 0, usual file, line 5
//	000001c4  81 00 00                                         0x1010: hole
//
// Nodes have 8 bits for the distance and none for the number, as there is only
// one triple and one function. 4d is, from the lowest bit up, 1 (origin 1), 10
// (usual file 2), 1 (file 1), 100 (line 4):
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
// The common part of the names is string 0, to which they refer by 80:
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

// Package cficache reads and writes tables of unwind information. A table is
// built once from a debug file, is opened without decoding, and returns the
// compiled rules at an address. [Build] writes a table from records of package
// sym in any order; [Open] opens one; [Table.Row] returns the row at an address,
// and [Table.Records] the records again.
//
// The package does no I/O. The same rows give the same bytes on every machine, in
// whatever order and form their records are.
// A Table is safe for concurrent use.
//
// # File
//
// Numbers are little endian. "uleb" is an unsigned LEB128 number.
//
//	head   has its own size
//	body   extents, pages, ranges, rows
//
// Checksums are CRC-32C. The head ends with its own checksum and contains that
// of the body, so every byte is covered. Open verifies both, and lookups rely on
// that: the bytes must not change while the table is used.
//
//	  0   8  magic 89 "unwtab" 0a
//	  8   4  Version
//	 12   4  size of the head
//	 16   8  size of the body
//	 24   4  checksum of the body
//	 28   1  bits of a page: 12
//	 29   1  bytes of a range: 2 to 8
//	 30   2  zero
//	 32   8  size of the input
//	 40  32  SHA-256 of the input
//	 72   8  invalid records of the input
//	 80   8  number of extents
//	 88   8  number of pages
//	 96   8  number of ranges
//	104   8  number of rows
//	112   8  bytes of all rows
//	120      three texts, each uleb length and bytes: arch, debug id, code id
//	  n   4  checksum of the head
//
// The sections of the body follow each other:
//
//	extents  u64 number of its first page of addresses, u32 first page record
//	pages    u32 first range that starts in the page or after it
//	ranges   12 bits offset in the page, then the row; zero means that nothing is known
//	         eight zeros
//	ends     u32 end of each row in the bytes of rows; rows are numbered from one,
//	         in the order of the addresses that need them
//	rows     bytes of rows
//
// A range extends to the start of the next one, and the last range to the end of
// the address space. A page is 4 KiB of addresses. Pages without a start of a
// range have no record if there are more than four in a row: an extent is a list
// of pages with records. So all 64 bits of an address can be used.
//
// The format of a row is that of package unwind/rule. Code with the same rules
// has the same row, wherever it is. A range needs three or four bytes.
//
// # Precedence
//
// Records may overlap. At an address, a frame of 32-bit Windows with a program
// precedes one without, and both precede CFI, which is in the row too, for the
// case that they fail. Among pieces of CFI, the one that starts first applies, of
// those with the same start the first one. A frame of Windows ends where another
// of its kind starts; of those with the same start the first one applies. Code with
// invalid rules has no row, even if another record of the kind contains it.
//
// # Lookup
//
// Find the last extent that starts at or before the page of the address, then the
// record of the page, and in its ranges the last one that starts at or before the
// address. Without such a range the last one before the page applies.
//
// # Damage
//
// Open rejects a file with a wrong checksum or size. But a malicious file has
// valid checksums: a lookup of an invalid record returns an empty row, and a row
// may have any bytes. No content makes a reader crash, loop, or use more memory
// than the result needs.
//
// # Limits
//
// A build holds 24 bytes for a function, about three for a record and eight for a
// range, and all different rows. If that exceeds [Options.Memory], the build is
// Unsupported. A file has less than 2^32 ranges, and 4 GiB of rows.
package cficache

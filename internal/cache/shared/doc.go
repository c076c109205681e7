// Package shared is the cache tier in a bucket that several nodes share: an
// object store or a folder. It keeps finished tables, what is known of files
// and, if that is wanted, remembered faults for a short time. Whatever the
// bucket loses is made again; how long it keeps things is for the bucket's own
// rules, as nothing here deletes.
//
// # Keys
//
//	PREFIX / v1 / KIND / first two digits of KEY / KEY
//
// PREFIX is the configured one, v1 the version of this layout: nodes of two
// versions share a bucket without reading each other's entries.
//
// # Objects
//
// An object is a head of 80 bytes, little endian, and a zstd stream:
//
//	 0  8    "symbolon"
//	 8  u32  version of the format, 1
//	12  u32  form: 1 an entry, 2 a remembered fault, 3 nothing, which has no stream
//	16  8    kind, filled up with zeros
//	24  32   key
//	56  u64  size of the content
//	64  u64  when a fault ends, in milliseconds since 1970; else zero
//	72  u32  CRC-32C of the content
//	76  u32  CRC-32C of the head so far
//
// The content of a fault is its kind as u8, then its place and its detail, each
// as u16 length and bytes. The stream has a checksum of its own.
//
// What is read is unpacked into a spool, never more of it than the head says,
// and handed out when its size and both checksums are right. Anything else,
// other versions and objects under a foreign key included, is a miss.
//
// # Writing
//
// Keys of tables are made of contents, so all writers of a key have the same:
// the first one wins, and the others are spared the upload. Meta replaces what is
// there. Forgetting writes the form "nothing", if there is something to forget.
// Where a process has found an object that is no entry, its next Put replaces
// that, whatever the kind.
//
// # Bounds
//
// A caller waits for the first bytes at most Config.Timeout, and for a whole
// entry Config.FetchTimeout. Writing what is small, which no answer waits for,
// has ten times the timeout. A bucket that fails three times in a row is left
// alone: everything is a miss at once, until a question asked in the background
// is answered in time. The pauses between the questions grow from a tenth of a
// second to a minute. What does not come back at all, as folders of a network
// can, holds one of 64 places until it does; without a free one everything is a
// miss.
//
// Neither reading nor writing holds more of an entry in memory than the window
// of the compression, 1 MiB, and what the bucket needs for a part of an upload.
//
// # Caveats
//
// When a fault ends is told by the clocks of the nodes. A table that is being
// written while it is forgotten, or a request that timed out, may still be
// carried out by the store, and then the entry is back.
package shared

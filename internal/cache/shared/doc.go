// Package shared is the cache tier in a bucket that several nodes share: an
// object store or a folder. It stores finished tables, descriptions of files
// and, if configured, remembered faults for a short time. Entries that the
// bucket loses are made again. Nothing here deletes: the bucket's own rules
// decide how long it keeps objects.
//
// # Keys
//
//	PREFIX / v1 / KIND / first two digits of KEY / KEY
//
// PREFIX is the configured one, v1 the version of this layout: nodes of two
// versions can share a bucket, as they do not read each other's entries.
//
// # Objects
//
// An object is a head of 80 bytes, little endian, and a zstd stream:
//
//	 0  8    "symbolon"
//	 8  u32  version of the format, 1
//	12  u32  form: 1 an entry, 2 a remembered fault, 3 deleted, which has no stream
//	16  8    kind, padded with zeros
//	24  32   key
//	56  u64  size of the content
//	64  u64  when a fault expires, in milliseconds since 1970; else zero
//	72  u32  CRC-32C of the content
//	76  u32  CRC-32C of the head before
//
// The content of a fault is its kind as u8, then its place and its detail, each
// as u16 length and bytes. The stream has a checksum of its own.
//
// An object is unpacked into a spool, never more of it than the head states, and
// returned if its size and both checksums are right. Anything else, other
// versions and objects of another key included, is a miss.
//
// # Writing
//
// Keys of tables are derived from contents, so all writers of a key have the
// same entry: the object is created conditionally, and only the first upload is
// stored. Meta replaces the object. Forget writes the form "deleted", if there
// is an object. If a process has read an object that is not an entry, its next
// Put replaces that object, whatever its kind.
//
// # Bounds
//
// A caller waits for the first bytes at most Config.Timeout, and for a whole
// entry Config.FetchTimeout. Writing a small object, which no request waits for,
// has ten times the timeout. After three failures in a row the tier backs off
// from the bucket: everything is a miss at once, until a probe in the background
// is answered in time. The pauses between the probes grow from a tenth of a
// second to a minute. A call that never returns, as in folders on a network,
// occupies one of 64 places; without a free place everything is a miss.
//
// Neither reading nor writing holds more of an entry in memory than the window
// of the compression, 1 MiB, and what the bucket needs for a part of an upload.
//
// # Caveats
//
// Faults expire by the clocks of the nodes. The store may still execute a request
// that timed out, or that writes a table while it is forgotten; then the entry
// is back.
package shared

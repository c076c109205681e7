// Package redis is the cache tier on a Redis server that several nodes share. It
// stores finished tables, descriptions of files, remembered faults, and the
// leases to build tables. The server is a cache with a bound of its own
// (maxmemory, allkeys-lru); entries that it loses are made again.
//
// # Keys
//
// PREFIX is the configured one, 1 the version of this layout. A new layout gets
// a new number, so nodes of two versions can share a server: they do not read
// each other's entries.
//
//	PREFIX 1: KIND : KEY                   a record (record.go), with an expiry if it is a fault
//	PREFIX 1: KIND : KEY : CHECKSUM : N    chunk N of the content with this checksum
//	PREFIX 1:lease: KEY                    the token of the node that has the lease, with an expiry
//
// A small entry is in its record. Any other is one zstd stream, cut into chunks
// that Redis stores and returns in a millisecond. Chunks are written before
// their record, and their keys depend on the content, so a record never refers
// to the chunks of two writers. If a chunk is missing or does not match the
// record, the entry is a miss and the record is removed. Chunks without a record
// are not read, and evicted when they are the oldest.
//
// Redis reports when a fault expires, so the clocks of the nodes need not agree.
//
// # Bounds
//
// A caller waits for one command at most Config.Timeout. A chunk may take four
// times as long, but all chunks of an entry together only the timeout for each:
// that is 10 MB/s, the speed of building a table from a local file. Writing and
// leases, which no request waits for, have ten times the timeout. After three
// commands in a row without an answer the tier backs off from the server:
// everything is a miss at once, until a new connection in the background is
// answered within a fourth of the timeout. The pauses between the tries grow
// from a tenth of a second to a minute.
//
// Neither reading nor writing holds more of an entry in memory than a chunk and
// the window of the compression, 1 MiB. Entries are read into a spool, never
// more bytes than the record states, and returned if size and checksum are
// right.
//
// # Caveats
//
// Redis may still execute a command that timed out. For an entry that changes
// nothing; a fault may come back for the rest of its lifetime.
package redis

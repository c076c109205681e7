// Package redis is the cache tier on a Redis server that several nodes share:
// finished tables, what is known of files, remembered faults, and the lease to
// build a table. The server is a cache with a bound of its own (maxmemory,
// allkeys-lru); whatever it loses is made again.
//
// # Keys
//
// PREFIX is the configured one, 1 the version of this layout. A layout that
// changes gets another number, so nodes of two versions share a server without
// reading each other's entries.
//
//	PREFIX 1: KIND : KEY                   a record (record.go), with an expiry if it is a fault
//	PREFIX 1: KIND : KEY : CHECKSUM : N    chunk N of the content with this checksum
//	PREFIX 1:lease: KEY                    the token of the node that has the lease, with an expiry
//
// A small entry is in its record. Any other is one zstd stream, cut into chunks
// that Redis takes and gives in a millisecond. Chunks are written before their
// record, and what has another content has other chunks, so a record never
// leads to the chunks of two writers. A reader that finds a chunk missing, or
// anything that does not fit the record, has found nothing, and removes the
// record. Chunks without a record are not read again and go as the oldest.
//
// How long a fault still holds is asked of Redis, so the clocks of the nodes
// need not agree.
//
// # Bounds
//
// A caller waits for one command at most Config.Timeout. A chunk of an entry
// that is there may take four times as long, but all chunks together only as
// long as the timeout for each: 10 MB/s, which is what building a table from a
// local file amounts to. Writing and leases, which no answer waits for, have ten
// times the timeout. After three commands in a row without an answer the server
// is left alone: everything is a miss at once, until a connection made in the
// background answers within the timeout again. The pauses between the tries
// grow from a tenth of a second to a minute.
//
// Neither reading nor writing holds more of an entry in memory than a chunk and
// the window of the compression, 1 MiB. What is read goes into a spool, never
// more of it than the record says, and is handed out when its size and its
// checksum are right.
//
// # Caveats
//
// A command that timed out may still be carried out later. For entries that
// changes nothing; a fault may come back so for the rest of its time.
package redis

// Package disk is the cache tier on a disk: plain files that are mapped when
// they are opened, in a folder of bounded size.
//
// # Layout
//
//	DIR/cache/<kind>/<2 hex>/<key in hex>   one file per entry, as it was put
//	DIR/index.db                            bbolt: sizes, times, remembered faults
//	DIR/tmp                                 what is being written; wiped at the start
//
// The files are the truth. The index adds what a file cannot say: when it was
// last used, and which faults are remembered. In a running process all of it
// is in memory, about 200 bytes per entry; index.db follows in batches, some
// seconds behind, and is compared with the folder at the start. A file without
// a record is adopted, a record without its file is dropped. So everything
// under cache may be deleted at any time, and index.db when no process runs.
//
// # Order of writing, and what a crash leaves
//
// An entry is written in tmp, synced, renamed to its place and then counted. A
// crash before the rename leaves a file in tmp, which the next start wipes; a
// crash after it leaves a whole entry, which the next start adopts. The last
// seconds of faults and of times of use may be lost.
//
// Records carry a checksum, and before bbolt opens index.db all of its pages
// are walked (check.go), because bbolt trusts what it maps and a damaged page
// could end the process. A damaged index is moved to index.db.damaged and
// built anew from the files.
//
// # Bounds
//
// The bytes of entries, in whole blocks of 4 KiB, of unfinished entries and of
// spools together stay within Config.MaxBytes, and the number of entries within
// Config.MaxFiles. Who passes a bound evicts what was not used for longest,
// down to nine tenths of it. Space of an evicted entry that is still open is
// free for the system only when it is closed; it is not counted. When the disk
// itself is full, a tenth of the cache is evicted and the write is tried once
// more. Entries that nobody used for the lifetime of their kind are removed,
// full or not. Remembered faults are at most 65,536.
//
// # Concurrency and processes
//
// Everything is safe for concurrent use, except that a spool is written by one
// goroutine. One process may have a folder open, which the lock on index.db
// ensures. A file that is mapped must not be shortened in place by others:
// reading it would end the process. Deleting it is harmless. Where files cannot
// be mapped, they are read.
package disk

// Package disk is the cache tier on a disk: plain files in a folder of bounded
// size. What is used in place is read into memory when it is opened, so that
// nothing that happens to a file matters to those who have it open. Objects and
// spools, which may be giants, are read from their open files.
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
// The bytes of entries, in whole blocks of 4 KiB, of unfinished entries, of
// spools and of what others hold together stay within Config.MaxBytes, and the number of entries within
// Config.MaxFiles. Who passes a bound evicts what was not used for longest,
// down to nine tenths of it. Space of an evicted entry that is still open is
// free for the system only when it is closed; it is not counted. Entries that
// nobody used for the lifetime of their kind are removed, full or not.
// Remembered faults are at most 65,536.
//
// # A disk that fails
//
// When the disk is full, a tenth of the cache is evicted and the write is tried
// once more. What a disk does not take, for whatever reason, stays in memory
// for as long as it is open, up to 256 MiB in all, and no entry is made of it:
// callers notice nothing. The log is told once, and again after ten minutes.
//
// A file that is gone, has another size or is a folder is a miss and is made
// again. What is in a file is for those to check who know its format.
//
// # Clocks
//
// Times are those of the wall. A fault from the future does not hold, so one
// that is remembered ends early rather than late when the clock is set. A jump
// forward looks like a time without use: what is idle for longer than its kind
// may be is removed. After a jump back, entries may stay idle for as much
// longer, until the next start; the bound and the order of use hold.
//
// # Concurrency and processes
//
// Everything is safe for concurrent use, except that a spool is written by one
// goroutine. One process may have a folder open, which the lock on index.db
// ensures.
package disk

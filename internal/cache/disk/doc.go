// Package disk is the cache tier on a disk: plain files in a folder of bounded
// size. Entries that are used in place are read into memory when they are
// opened, so that later changes of a file do not affect them. Objects and
// spools, which may be very large, are read from their open files.
//
// # Layout
//
//	DIR/cache/<kind>/<2 hex>/<key in hex>   one file per entry
//	DIR/index.db                            sizes, times, remembered faults
//	DIR/tmp                                 unfinished files; emptied at the start
//
// The files are authoritative. The index adds the times of last use and the remembered
// faults. In a running process it is in memory, about 200 bytes per entry; changes are
// appended to index.db in batches, some seconds later. At the start index.db is compared
// with the folder: a file without a record is adopted, a record without a file is
// dropped. So everything under cache may be deleted at any time, and index.db when no
// process runs.
//
// # Order of writing, and what a crash leaves
//
// An entry is written in tmp, synced, renamed to its path and then counted. A
// crash before the rename leaves a file in tmp, which the next start removes; a
// crash after it leaves a complete entry, which the next start adopts. The last
// seconds of faults and of times of use may be lost.
//
// The last record of an entry in index.db counts, and each has a checksum
// (record.go). The index is written again when most of its records were replaced,
// and when one is damaged; then the records after it are lost. A crash while it is
// written again may lose all of them: the next start adopts the files, with the
// times of their last change, and faults are looked up again.
//
// # Bounds
//
// The bytes of entries (in whole blocks of 4 KiB), of unfinished entries, of
// spools and of Hold are together at most Config.MaxBytes, and there are at most
// Config.MaxFiles entries. Beyond a limit the least recently used entries are
// evicted, down to nine tenths of it. The space of an evicted entry that is open
// is not counted, though the system frees it only when the entry is closed.
// Entries that were unused for the lifetime of their kind are always removed.
// At most 65,536 faults are remembered.
//
// # A disk that fails
//
// When the disk is full, a tenth of the cache is evicted and the write is
// retried once. Bytes that cannot be written, for any reason, stay in memory
// while they are in use, up to Config.SpareMemory, and are not stored as an
// entry: callers do not notice. A warning is logged at most every ten minutes.
//
// A file that is missing, has another size or is a folder is a miss. Readers of
// a format verify the content.
//
// # Clocks
//
// Times are wall clock times. A fault from the future has expired, so when the
// clock is set faults expire too early and never too late. After a jump forward,
// entries look unused and may be removed. After a jump back, unused entries may
// stay longer, until the next start; the limits and the order of use hold.
//
// # Concurrency and processes
//
// Everything is safe for concurrent use, except that a spool is written by one
// goroutine. One process may have a folder open, which the lock on index.db
// ensures.
package disk

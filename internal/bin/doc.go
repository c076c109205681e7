// Package bin is the ground that everything binary stands on: random access
// to bytes that may be in memory or elsewhere, a cursor that cannot run off
// the end, byte sizes as people write them, a meter for decoded data, a budget
// of memory that work shares, and an
// annotated hex dump.
//
// A Cursor and every slice that it or Read hands out alias the bytes they come
// from: nothing is copied, and the bytes must not change while they are in
// use.
//
// Nothing here allocates according to a number found in the data. Read checks
// its range against the size of the source first, and a Cursor only slices.
//
// A Source is safe for concurrent use if its ReadAt is. Cursor, Dump and the
// reader that Meter returns belong to one goroutine; a Count may be read while
// another goroutine reads through it.
package bin

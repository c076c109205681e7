// Package bin has the basic types for binary data: random access to bytes in
// memory or elsewhere (Source), a cursor that cannot read past the end, byte
// sizes in configuration texts, a limit for decoded data (Meter), the memory of
// a process in a file (Memory), the damaged parts of a file (Problems), a shared
// memory budget, secrets, and an annotated hex dump.
//
// A Cursor, and every slice that it or Read returns, aliases its input. Nothing
// is copied, and the input must not change while the slices are in use.
//
// Nothing here allocates according to a number found in the data: Read checks
// its range against the size of the source first, and a Cursor only slices.
//
// A Source is safe for concurrent use if its ReadAt is. A Budget is. A Cursor,
// a Dump and the reader that Meter returns belong to one goroutine; Count.N may
// be called while another goroutine reads.
package bin

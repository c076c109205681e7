// Package symbfile answers addresses from symbfiles: ranges of functions and
// inlined calls, and return pads.
//
// Ranges answer before pads do. A range belongs to the function or call of its
// depth; where ranges of one depth overlap, the shortest counts, then the first.
// Ranges of depth 0 that follow each other with the same name are one function.
//
// # Limits
//
// The index takes 48 bytes for a range and 24 for a pad, of 32 million at most, on
// the heap or, beyond 48 MiB, in Options.Space. Lines, frames and texts are read in
// place; a source that is neither in memory nor mapped is copied. A block has some
// 70,000 rows or nodes at most. A pad has up to 4096 frames, the innermost ones,
// with 4 MiB of names. At one address up to eight ranges of one depth count, down
// to depth 256.
package symbfile

// Package extract writes symbfiles: the functions, inlined calls and lines of a
// debug file as ranges, and the frames of each call in the code of a binary as
// return pads.
//
// A range has one file for all its lines, and cannot express that lines are unknown after
// some address. So a function or an inlined call whose file changes, or whose lines end,
// becomes several ranges. Each range of a function precedes those of the calls that are
// inlined into it, which end where it ends: the records from a range of depth 0 up to the
// next are self-contained, and a file can be split there.
//
// A pad has the frames at the first byte of a call, and the address of its last
// byte, which profilers look up: the return address less one. Go's goexit has
// an additional pad, as all goroutines return to its second instruction.
//
// Extract and Split keep no state between calls and may be called concurrently.
package extract

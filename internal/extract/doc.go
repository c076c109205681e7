// Package extract makes symbfiles: what a debug file says of functions, inlined
// calls and lines as ranges, and what it says of each call in the code of a
// binary as return pads.
//
// A range has one file for all its lines, and cannot say that from somewhere on
// no line is known. So a function, or an inlined call, in which the file changes
// or the lines end becomes several ranges. Each range of a function stands
// before those of the calls that are inlined into it, which end where it ends:
// what begins with a range of depth 0 and ends before the next is closed in
// itself, and a file can be cut there.
//
// A pad tells the frames at the first byte of a call, under the address of its
// last byte, which is what profilers ask for: the return address less one. Go's
// goexit has one more, as all goroutines return to its second instruction.
package extract

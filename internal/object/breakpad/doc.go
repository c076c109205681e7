// Package breakpad answers addresses from Breakpad symbol files.
//
// The records of a file are keys in one space of addresses; the answer to an
// address is that of the greatest key that is not above it, up to the next key
// of any record:
//
//   - A FUNC is a key at its start, and a hole at its end. Without size it is not a
//     key.
//   - Its line records are keys within it. Those without size or before the start of
//     the FUNC are ignored; they are cut at its end. Where they overlap, the one that
//     starts first hides the other as far as it reaches.
//   - INLINE records make a tree by depth and range. One that overlaps the one before
//     it at its depth begins after that; one that is longer than its parent continues
//     in the next parent, and is dropped without one. Line records are cut at the
//     borders of the tree. Code of an INLINE without a line record belongs to the
//     caller, at the line of the call; where an INLINE that has line records ends and
//     nothing else begins, there is a hole.
//   - Of keys at one address, a line record of a later FUNC replaces an earlier one,
//     the start of a FUNC replaces a hole only, and a hole nothing.
//   - A PUBLIC is a key if its address has no other key, or a hole. The first of
//     several counts. If it is the last key of the file it reaches to the next
//     multiple of 4 GiB.
//
// The entry of the function in an answer is that of its FUNC or PUBLIC. Names are
// those of the file.
//
// A Scanner makes an index of positions in one pass; a lookup parses only the
// FUNC record that has the address. Blocks resolves all of them with the same
// code.
//
// # Limits
//
// INLINE records nest up to 256 deep, and FUNC records overlap up to 64 deep; what
// is deeper is dropped and counted. An INLINE is continued in following parents as
// long as that at most doubles the number of ranges, and 4096 times in any case.
// Lookup keeps what it parsed last, so that addresses in rising order cost one
// parse for each FUNC; in the steady state it does not allocate. If the source
// fails while an address is looked up, nothing is known about it.
package breakpad

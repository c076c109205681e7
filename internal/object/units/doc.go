// Package units answers addresses from symbols and units of debug information.
//
// An Image has the symbols of a Binary and the units of a Source: DWARF, the function
// table of a Go program, or the modules of a PDB. The object files from which a binary
// was linked are Images of their own, and the Image maps their functions to the addresses
// that the linker gave them.
//
// The answer to an address comes from
//
//  1. the function of the debug information whose range contains it: of several
//     the one that starts last, then the shorter one, then that of the first unit,
//     and in a unit the last. Within it the inlined call that contains the address,
//     of calls side by side the first in the file, and in that the next. The
//     innermost frame has the row of the line program of the unit, the frames
//     around it have the places of the calls. A call is cut at the end of its
//     caller. In a unit of DWARF 2, where a call can name only one range, it also
//     has those of the calls within it, as a call without any range has everywhere.
//  2. else the symbol whose extent contains it, by the same rule, with the row of
//     a line program, if a unit with code there has one. A symbol without size
//     reaches to the next one, to the next function that the file declares in other
//     ways, or to the end of what is loaded with it; without size and type it is a
//     label if it is within another, and not a symbol. If symbols never have sizes
//     (Mach-O, PDB), one that starts in a function ends with it, unless a row of a
//     line program is there.
//  3. else nothing: code that is only in a line program has no name.
//
// A unit answers for the address ranges that its root DIE claims; a unit that claims none
// answers where it has functions and rows. A function in several pieces is treated as
// several functions with one name, each entered at its start.
//
// A function has the name of the debug information, unless a symbol at its entry has a
// better one: the same with a suffix (a clone), unless that is only a number (helper.3),
// or, if the debug information has no linkage name, the mangled name. In WebAssembly the
// name section takes precedence, as in other readers of modules. Of symbols at one
// address, the one with the least SymbolRank is used, then the first.
//
// In a relocatable file every section of code starts at 0: the answer comes from the
// first section, in the order of the file, that has one for the address.
//
// # How
//
// The functions of a unit become a Digest: a chunk for each range of each function, with
// its inlined calls and rows in a few bytes. A lookup makes the digests of the units that
// have code at the address, and keeps the latest 16 MiB. Blocks makes the digests of all
// units, sorts the chunks, and assigns each stretch of addresses to the chunk that hides
// the others there.
//
// The first lookups in a file with .debug_aranges read only the units that it
// lists, and those missing from it. Damage in the roots of other units is found
// when all are read, for a later address or for Blocks.
//
// Calls nest up to 256 deep; deeper ones are dropped and counted.
package units

// Package object gives debug files of every format one shape: what the file is,
// and what it says about addresses. It is the only place where the words of a
// format become those of sym. Package debugfile opens them.
//
// A File holds one or more Objects, one for each binary it describes. An
// Object answers addresses straight from the bytes of its file: it reads and
// parses only what an address needs. The same parsed pieces, in order, are
// given to a table builder by Blocks; the frames of both are the same, because
// one resolver makes them.
//
// # Images
//
// ELF, Mach-O, PE, PDB and WebAssembly files are images: code, symbols and debug
// information apart. Their addresses have the image base taken away. The answer
// to an address is that of
//
//  1. the function of the debug information whose range holds it: of several
//     the one that starts last, then the shorter one, then that of the first
//     unit, and in a unit the last. Inside of it the inlined call that holds it, of those side by side
//     the first in the file, and in that the next; the innermost frame has the
//     row of the line program of the unit, those around it the places of the
//     calls. A call is cut at the end of what calls it; in a unit of DWARF 2,
//     where a call can name only one range, it has also those of the calls
//     inside of it, as a call without any range has everywhere.
//  2. else the symbol whose extent holds it, by the same rule, with the row of
//     a line program, if a unit that says to have code there has one. A symbol
//     without size reaches to the next one, to the next function that the file
//     tells of in other ways, or to the end of what is loaded with it; one without size and type inside of another is a label and no symbol.
//     In Mach-O no symbol has a size: one that starts in a function ends with it, if no row of a line
//     program is there.
//  3. else nothing: code in a line program alone has no name.
//
// A unit answers for the addresses that its root DIE says to have, and what it
// says about others is ignored; one that says nothing answers where it has
// functions and rows. A function in several pieces is several functions of one
// name, each entered where it starts. The name is that of the debug information,
// unless a symbol where the function is entered says more: the same with a
// suffix (a clone), unless that is a number alone (helper.3), or, where the debug
// information has no linkage name, the mangled one. In WebAssembly the name section comes first, by which every reader
// of a module goes. Of symbols at one address the one that its format ranks best
// counts, then the first.
//
// In a relocatable file every section of code starts at 0: the first section,
// in the order of the file, that knows something about an address answers.
//
// The first addresses that are asked of a linked file with .debug_aranges are
// answered from the units that it names, and those that it does not know at all.
// What is wrong with the roots of others, and that too many of them share a line
// program, is found when all are read, for a later address or for Blocks.
//
// A Go program without debug information is answered from its function table.
// What is damaged costs itself, and is told by Info.
//
// Other files that an image needs are told by Needs and given by Supply. Lines of
// C# are put in the place of those of C++ by Mapped, on the way out: the answers
// of Lookup and Blocks are mapped alike.
//
// A unit of a PDB is a module. It answers where it contributed code, by the
// procedures that it has there: of those that the linker made one, the last with
// lines. A stretch of code of a procedure belongs to the innermost of the calls
// there that have a line for it. Each call is made from the line, of what is
// around it, that holds where the line of the call begins, or else from the
// next, or the last; without lines around it, it is not known from where. A
// public symbol of code reaches to the next one, or to the end of what its module
// contributed; it ends with the procedure that it names. A procedure without type
// has the name of a decorated symbol where it is entered, if that can be its own.
// The first addresses in no procedure are answered by the order of symbols that
// the file has, which is believed.
//
// # Languages
//
// A function, and each inlined call, is in the language of the unit that its name
// comes from: in DWARF that of the definition, in a portable PDB that of the
// document of its first line. Names of PDBs, of symbol tables and of Breakpad
// files are in none, also mangled ones.
//
// # Sources
//
// The content of source files is found by path: in a bundle, in line programs of
// DWARF 5, in portable PDBs; or else a link to it. Of several files of one path
// the first counts. One may have 64 MiB.
//
// # Concurrency and limits
//
// An Object is safe for concurrent use as long as its source is; it keeps the
// source and must not be used after that is closed. Blocks leaves no goroutine behind.
package object

// Package dwarf reads debugging information in the format DWARF, versions 2 to
// 5, as far as it tells which code belongs to which function, line and frame:
// https://dwarfstd.org/dwarf5std.html, https://dwarfstd.org/doc/DWARF4.pdf,
// and for split units and the parts that dwz moves to a second file
// https://gcc.gnu.org/wiki/DebugFission, https://gcc.gnu.org/wiki/DebugFissionDWP
// and https://gcc.gnu.org/onlinedocs/gcc (extensions DW_AT_GNU, DW_FORM_GNU).
//
// Open finds the units of a file. A Walker reads one unit into a Tree: the
// functions with code, and in each the calls that were inlined into it. A
// Program is the line program of a unit. A FrameSection tells how to unwind.
// Sections are used in place; nothing is copied but numbers.
//
// # What is read
//
// Of .debug_info (and .debug_types, for names only) the DIEs subprogram and
// inlined_subroutine with code, wherever they are: in blocks, namespaces,
// classes, abstract instances and other functions. A function in a function is
// one of its own. An inlined call whose ranges are empty is passed through; its
// calls hang at its parent. One that has no attribute for ranges, as in strict
// DWARF 2, is kept: it is where the calls inside of it are. Types are passed
// over by DW_AT_sibling where no function can be below them, which is rarer in
// C++ than in C: there local classes and methods stand in types and in abstract
// instances.
//
// The abbreviations of a unit are compiled: a DIE without attributes of
// variable size is passed over by one addition, another by a step for each of
// those; only functions and calls have attributes that are looked at.
//
// # Addresses
//
// Ranges are given as they are written, in all forms of all versions. Dropped
// are those that are empty, inverted, or longer than the address space; those
// that begin at the greatest address or the one before it, as linkers mark
// code that they threw away; and those that begin at 0, unless the file is
// Relocatable. What was inlined into a function without ranges goes with it.
//
// # Names
//
// A name is the linkage name, if the DIE or one that it refers to by
// DW_AT_abstract_origin or DW_AT_specification has one, in this unit or
// another, this file or the one of dwz. Else it is DW_AT_name, behind the
// namespaces and types that the DIE at the end of those references is in, with
// "::" between them; a type may be in a type unit. An unnamed namespace is
// "(anonymous namespace)"; an unnamed type adds nothing; a type in a function
// begins anew. In C, Objective-C and Go there is no scope to add.
//
// # Split units
//
// A skeleton is read as it stands (compilers may leave inlined calls in it)
// until the unit with its id is attached, from a .dwo or .dwp; then Walk reads
// that one, with the addresses of the skeleton.
//
// # Damage and limits
//
// Damaged headers are Problems of the file; behind one whose length is wrong
// the next unit is searched. Damage below costs the rest of its unit, and is
// the error of Walk. Met in the wild, and accepted: units cut off by the end of
// a file, padding between units, children without end, siblings that point
// nowhere, tables of abbreviations that many units share, attributes twice.
//
// Calls nest 256 deep; what is deeper hangs at the last. A chain of references
// has 16 members, a name 64 scopes and strings of 64 KiB, an abbreviation 100
// attributes, a unit 4,194,304 functions and as many calls, a file 1,048,576
// units. The range lists that one unit uses have at most 64 times its bytes in
// all. Memory and time are proportional to the input.
package dwarf

// Package dwarf reads the parts of DWARF debugging information, versions 2 to
// 5, that map code to functions and lines:
// https://dwarfstd.org/dwarf5std.html, https://dwarfstd.org/doc/DWARF4.pdf, for
// split units and the supplementary files of dwz
// https://gcc.gnu.org/wiki/DebugFission,
// https://gcc.gnu.org/wiki/DebugFissionDWP and
// https://gcc.gnu.org/onlinedocs/gcc (extensions DW_AT_GNU, DW_FORM_GNU).
//
// Open reads the units of a file. A Walker reads a unit into a Tree: the
// functions with code, and in each the calls that were inlined into it. A
// Program is the line program of a unit. Sections are used in place. Package
// frame reads unwind information.
//
// # Contents
//
// The package reads, from .debug_info (and .debug_types, for names only), the
// DIEs subprogram and inlined_subroutine that have code, in blocks, namespaces,
// classes, abstract instances and other functions. A nested function is a
// separate function. An inlined call with empty ranges is ignored; the calls in
// it become calls of its parent. One without attributes for ranges, as in
// strict DWARF 2, is kept: it has the ranges of its calls. Types are skipped by
// DW_AT_sibling if they cannot contain functions, which is rarer in C++ than in
// C: there local classes and methods are in types and in abstract instances.
//
// The abbreviations of a unit are compiled: a DIE without attributes of
// variable size is skipped by one addition, another one by a step for each such
// attribute; only attributes of functions and calls are decoded.
//
// # Addresses
//
// Ranges in all forms of all versions are supported. The package drops ranges
// that are empty, inverted, or longer than the address space; those that begin
// at the largest address or the one before it, which linkers use for dropped
// code; and those that begin at 0, unless the file is Relocatable. Calls
// inlined into a function without ranges are dropped with it.
//
// # Names
//
// The name of a function is the linkage name, if the DIE or one that it refers
// to by DW_AT_abstract_origin or DW_AT_specification has one, in this unit or
// another, this file or the one of dwz. Otherwise it is DW_AT_name, preceded by
// the namespaces and types that enclose the DIE at the end of those references,
// with "::" between them; a type may be in a type unit. An unnamed namespace is
// "(anonymous namespace)"; an unnamed type adds nothing; the scopes outside of
// a function are not added to a type in it. In C, Objective-C and Go names have
// no scope, and neither have methods of Objective-C++.
//
// # Split units
//
// A skeleton is read on its own (compilers may keep inlined calls in it) until
// the unit with its id is attached, from a .dwo or .dwp; then Walk reads that
// unit, with the addresses of the skeleton.
//
// # Damage and limits
//
// Damaged headers are Problems of the file; after one with an invalid length,
// the next unit is searched. Damage in a unit affects the rest of the unit, and
// is the error of Walk. Deviations met in the wild, and accepted: units
// truncated by the end of a file, padding between units, children without end,
// invalid siblings, tables of abbreviations that many units share, duplicate
// attributes.
//
// Calls nest 256 deep; deeper ones are ignored, and the calls in them become
// calls of the deepest one. A chain of references has 16 members, a name 64
// scopes and strings of 64 KiB, an abbreviation 100 attributes, a unit
// 4,194,304 functions and as many calls, a file 1,048,576 units. The range
// lists that a unit uses have at most 64 times its bytes in all. Memory and
// time are proportional to the input.
package dwarf

// Package arch checks the layout of the module. rooms.txt lists the packages,
// the rank and step of each, and the imports it may have; Check compares the
// list with a tree of source files in both directions. It also checks rules
// that a machine can decide: purity of the lower ranks, sizes, names, mutable
// state, and the wording of comments and messages. Names compares the names in a
// document with the declarations.
//
// Only the test of this package uses it; it is not linked into the binary.
// Check keeps no state and reads only the tree it is given. Test files may
// import any package and may be of any length.
package arch

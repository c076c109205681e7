// Package itanium makes names of the Itanium C++ ABI readable, which all
// compilers but Microsoft's use:
// https://itanium-cxx-abi.github.io/cxx-abi/abi.html#mangling
//
// A name is read in one pass into a tree, without backtracking. Substitutions
// are numbers of nodes, never copies, so the tree is at most as large as the
// name. Then the tree is written. Types are written in two halves, what comes
// before the declared name and what comes after it, as C++ nests them around
// the name. Packs expand and references collapse while the tree is written.
//
// Two spellings are known: that of GNU's c++filt, and in the style core.LLVM
// that of llvm-cxxfilt. They differ in lambdas, literals, parentheses, and in
// when a template parameter gets its value:
//
//	auto f()::{lambda(auto:1)#1}::operator()<int>(int) const
//	auto f()::'lambda'(auto)::operator()<int>(auto) const
//
// The second type of the mangled name is a substitution for the first. GNU gives
// a parameter the value that it has where it is used, which is what the source
// means; LLVM the one where it was read.
//
// Both the reading and the writing are bounded, see core.Budget: templates of
// templates and packs of packs can stand for texts of any length.
package itanium

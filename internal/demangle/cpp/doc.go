// Package cpp holds the tree of a C++ name and writes it in the spelling of
// GNU's c++filt or, in the style core.LLVM, of llvm-cxxfilt. The reader of a
// mangling builds the tree; substitutions are numbers of nodes in it, never
// copies.
//
// Types are written in two halves, before and after the declared name, as C++
// nests them around the name. Packs expand and references collapse while the tree
// is written. The two spellings differ in lambdas, literals, parentheses, and in
// when a template parameter gets its value:
//
//	auto f()::{lambda(auto:1)#1}::operator()<int>(int) const
//	auto f()::'lambda'(auto)::operator()<int>(auto) const
//
// The last type of this mangled name is a substitution for the one in the lambda. GNU
// gives a parameter the value that it has where it is used, as in the source, LLVM the
// value where it was read.
//
// The work and the depth are bounded, see core.Budget: templates of templates and
// packs of packs can have texts of any length.
package cpp

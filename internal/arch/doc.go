// Package arch keeps the house in order. rooms.txt says which packages there
// are, on which rank each stands and what it may import; Check compares that
// with a tree of source files, in both directions, and looks at the rules that
// a machine can decide: purity of the lower ranks, sizes, names, state.
//
// The package is used by its own test and has no place in the binary. Check
// keeps nothing and reads only the tree that it is given. Test files are free
// in what they import and how long they are.
package arch

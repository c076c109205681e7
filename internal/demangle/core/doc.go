// Package core has the parts that the readers of mangled names share: a cursor
// over the name, an arena for the nodes of its tree, bounds on the work, and a
// writer for the readable form.
//
// Readers of hostile names use them like this: each step of the work is taken
// from a Budget, which also bounds recursion, and text is appended through a
// Writer, which stops at MaxText. Nodes refer to each other by number, so that
// one reader can keep its memory from name to name. Nothing here is safe for
// concurrent use.
package core

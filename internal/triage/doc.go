// Package triage reads a file or text of a failure, and returns it as data for a page:
// the kind of an input, the stacks of an answer to a request, the report on a crash, the
// description of a debug file, and the modules without symbols.
//
// Its values have the JSON of the pages. Stacks, and texts of reports and descriptions,
// have at most MaxStacks bytes; omissions are reported. Functions are safe for concurrent
// use, values are not.
package triage

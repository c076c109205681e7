// Package standin stands in for other programs that answer addresses from debug files:
// For returns a tool that takes the command line of GNU addr2line or of llvm-symbolizer
// and writes the same output, and Resolve answers for the command resolve, in the formats
// of package answer or in those of the tools.
//
// A tool reads its command line into a struct of options, which Resolve fills
// from a Query. The answers to lines of standard input are written and flushed
// line by line: sanitizers and debuggers keep a tool running and wait for each.
//
// Control characters in names are replaced. A failure to write ends a tool with status 1.
package standin

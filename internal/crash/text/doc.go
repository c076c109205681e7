// Package text writes reports on crashes in the text formats of other tools, byte for
// byte where the stacks are the same.
//
// WriteHuman writes the text of rust-minidump's minidump-stackwalk, WriteBreakpad and
// WriteMachine the two of Breakpad's minidump_stackwalk.
//
// Characters that could move the cursor of a terminal are replaced: names come from
// the dump and from symbol files. The functions keep no state. Their errors are those
// of the writer.
package text

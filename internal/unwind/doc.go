// Package unwind walks the stacks of threads: registers, memory and unwind
// information → frames.
//
// # Contract
//
// Process.Walk starts with the registers of a thread and returns its frames,
// innermost first. A frame is found by the first technique that applies:
//
//   - registers that the kernel saved for a signal handler;
//   - unwind information (CFI);
//   - without it, the instructions of the function up to the program counter;
//   - the link register, or the word at the stack pointer, without a frame;
//   - the chain of frame pointers;
//   - a scan of the stack for return addresses.
//
// The result of every technique is checked: it must be an address of code, and the stack
// pointer must have moved outwards. Guesses must also follow a call instruction wherever
// the code is known, and a scanned frame must allow the next step. If a result is
// refused, the next technique is used.
//
// The walk ends at the outermost function of a thread, which is recognized by unwind
// information, its name, or the name of the function that it called; at a null return
// address; and where nothing plausible is found.
//
// # Limits and concurrency
//
// A walk takes time in proportion to its frames, which are bounded, as are the
// words that a scan reads. It never allocates per technique. A Process is safe
// for concurrent walks if its functions are.
package unwind

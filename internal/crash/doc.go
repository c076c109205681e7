// Package crash turns the dump of a process into a report: the reason of the crash,
// and the stacks of its threads with names.
//
// Open reads a dump of any kind. Processor.Walk walks the stacks: it looks up the modules
// that they touch, each once, and unwinds the threads concurrently. Processor.Symbolicate
// then adds the functions to the frames, in one request to the engine that all interfaces
// use; a caller with an encoder of its own uses Report.Request instead. All outputs are
// written from the Report, the JSON of rust-minidump by WriteJSON.
//
// A missing module is data: its frames have no functions, and Report.Symbols has the
// trail of the search. A damaged part of a dump affects only that part.
//
// A Processor is safe for concurrent use. A Dump may be used by one Report at a time,
// and needs the file that Open read.
//
// # Limits
//
// A stack has at most 4,096 frames, and a report 131,072; the first 256 unloaded modules
// count. All walks of a dump check at most four million addresses of modules; the
// remaining stacks end early. A dump is read within the limits of its format.
package crash

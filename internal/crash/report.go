package crash

import (
	"symbolon/internal/crash/hint"
	"symbolon/internal/ident"
	"symbolon/internal/locate"
	"symbolon/internal/object"
	"symbolon/internal/table"
	"symbolon/internal/unwind"
	"symbolon/internal/unwind/rule"
)

// A Report is a Dump with the stacks of its threads. It belongs to one goroutine.
type Report struct {
	*Dump
	Hints   hint.Hints // on the cause of a crash
	Stacks  []Stack    // of Dump.Threads
	Symbols []Symbols  // of Dump.Modules

	opt     Options
	modules *modules
	steps   int // lookups of LineStart
}

// Release releases the files of modules. It must be called once.
func (r *Report) Release() { r.modules.close() }

// Loaded returns the indices of the modules in the order of their addresses, without
// those that overlap one before.
func (r *Report) Loaded() []int { return r.modules.order }

// A Stack is the stack of a thread.
type Stack struct {
	Frames []Frame // innermost first; the first one has the registers of the thread
	Absent string  // why there are no frames
}

// A Frame is a call that had not returned.
type Frame struct {
	Addr      uint64 // of the call; in the first frame, and in one that a signal interrupted, of the next instruction
	Resume    uint64 // of the instruction that is executed next
	Trust     unwind.Trust
	Registers rule.Registers // of System.CPU
	Module    int            // index in Dump.Modules; -1: none
	Unloaded  []Place        // without a module: modules that were unloaded from Addr
	Why       []string       // how the frame was found and which others were refused; Options.Explain asks for it
	Functions []Function     // innermost first: inlined calls, then the function that contains them; empty: unknown
}

// A Place is an address in an unloaded module.
type Place struct {
	Module int // index in Dump.Unloaded
	Offset uint64
}

// A Function is a function or an inlined call, and the line that it executes.
type Function struct {
	Name  string
	File  string // empty: unknown
	Line  uint32 // zero: unknown
	Entry uint64 // start of the function; an inlined call has that of the function around it
}

// Symbols has the outcomes of the lookups of a module.
type Symbols struct {
	Unwind Lookup // unwind information
	Debug  Lookup // names and lines
}

// A Lookup is the outcome of the search for the file of a module. It is zero for a
// module that no stack touches.
type Lookup struct {
	Asked    bool
	Found    bool
	Module   ident.Module    // as stated in the file
	Features object.Features // of the file
	Trail    []locate.Tried
	Report   table.Report // has the fault if there is no file
}

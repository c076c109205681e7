package unwind

import (
	"sync/atomic"

	"symbolon/internal/unwind/rule"
)

// A Trust is the technique by which a frame was found.
type Trust uint8

const (
	Context      Trust = iota // registers of the thread
	CFI                       // unwind information, or registers that the kernel saved
	CFIScan                   // scan of the caller's part of the stack, whose bounds unwind information gives
	FramePointer              // frame pointer, link register or instructions of the function
	Scan                      // scan of the stack
)

var trustNames = [...]string{"context", "cfi", "cfi_scan", "frame_pointer", "scan"}

// String returns the name that minidump-stackwalk uses.
func (t Trust) String() string { return trustNames[t] }

// Rules has the unwind information of a module. Addresses are relative to it.
type Rules interface {
	// Row returns the rules for an address, nil if it has none. The row is valid
	// until the next call.
	Row(addr uint64) rule.Row
	// HasRules reports whether any address has rules.
	HasRules() bool
}

// Names has the functions of a module. Addresses are relative to it.
type Names interface {
	// Function returns the start and the name of the function at an address.
	Function(addr uint64) (start uint64, name string, ok bool)
}

// A Module is a part of the address space that was loaded from a file.
type Module struct {
	Name string // of the file, without folders
	Base uint64
	Size uint64

	Rules Rules // may be nil
	Names Names // nil if no address has a name

	coverage atomic.Int32 // of its executable memory by Rules, see isSparse
}

const (
	coverageUnknown int32 = iota
	coverageSparse
	coverageFull
)

// A Process is the state in which a process ended.
type Process struct {
	CPU       *rule.CPU
	BigEndian bool
	IsWindows bool
	IsApple   bool // macOS, iOS

	Memory rule.Memory
	// Stack returns the bounds of the memory that contains an address of a stack,
	// equal ones if there is none.
	Stack func(addr uint64) (start, end uint64)
	// Module returns the module at an address, nil if there is none.
	Module func(addr uint64) *Module
	// IsCode reports whether memory at an address was executable, or a module was
	// unloaded there; known is false without information.
	IsCode func(addr uint64) (is, known bool)
	// Top is the end of the highest module or memory. Bits above it are pointer
	// authentication on CPUs that have it.
	Top uint64

	scanned atomic.Int64 // words that scans of all walks have read
}

// A Frame is an activation of a function.
type Frame struct {
	PC        uint64 // where execution continues: a return address, except in innermost and interrupted frames
	Lookup    uint64 // address in the instruction that is executed: the call
	Trust     Trust
	IsSignal  bool // the frame of a signal handler's return; the next one was interrupted
	Registers rule.Registers
	Module    *Module  // at Lookup; nil if there is none
	isExact   bool     // it was executing at PC: it did not call
	isEntered bool     // it was entered by a return, and has no caller
	name      string   // of the function
	Why       []string // how the frame was found and which others were refused, if asked for
}

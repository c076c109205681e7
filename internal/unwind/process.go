package unwind

import (
	"encoding/binary"
	"math/bits"

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
	// HasNames reports whether any address has a name.
	HasNames() bool
}

// A Module is a part of the address space that was loaded from a file.
type Module struct {
	Name string // of the file, without folders
	Base uint64
	Size uint64

	Rules Rules // may be nil
	Names Names // may be nil

	// Code returns the n bytes of code from an address, relative to the module,
	// or fewer. It may be nil.
	Code func(addr uint64, n int) []byte
}

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
	// unloaded there; known is false without information. It may be nil.
	IsCode func(addr uint64) (is, known bool)
	// Top is the end of the highest module or memory. Bits above it are pointer
	// authentication on CPUs that have it.
	Top uint64
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
	Why       []string // how the frame was found and which others were refused, if asked for
}

// function returns the start and the name of the function at an address.
func (p *Process) function(addr uint64) (start uint64, name string, ok bool) {
	m := p.Module(addr)
	if m == nil || m.Names == nil {
		return 0, "", false
	}
	start, name, ok = m.Names.Function(addr - m.Base)
	return start + m.Base, name, ok
}

// row returns the rules at an address.
func (p *Process) row(addr uint64) rule.Row {
	m := p.Module(addr)
	if m == nil || m.Rules == nil {
		return nil
	}
	return m.Rules.Row(addr - m.Base)
}

// word reads a word of memory.
func (p *Process) word(addr uint64) (uint64, bool) {
	var b [8]byte
	n := p.CPU.Word
	if addr > p.max()-uint64(n)+1 || p.Memory.ReadAt(b[:n], addr) < n {
		return 0, false
	}
	switch {
	case n == 4 && p.BigEndian:
		return uint64(binary.BigEndian.Uint32(b[:])), true
	case n == 4:
		return uint64(binary.LittleEndian.Uint32(b[:])), true
	case p.BigEndian:
		return binary.BigEndian.Uint64(b[:]), true
	}
	return binary.LittleEndian.Uint64(b[:]), true
}

// max returns the highest address.
func (p *Process) max() uint64 {
	if p.CPU.Word == 4 {
		return 1<<32 - 1
	}
	return 1<<64 - 1
}

// code reads code into dst, from memory or else from the module's file. It
// returns the number of bytes.
func (p *Process) code(dst []byte, addr uint64) int {
	if n := p.Memory.ReadAt(dst, addr); n == len(dst) {
		return n
	}
	m := p.Module(addr)
	if m == nil || m.Code == nil {
		return 0
	}
	return copy(dst, m.Code(addr-m.Base, len(dst)))
}

// strip removes the bits of an address that are not part of it: those of pointer
// authentication, and extended signs of 32-bit addresses.
func (p *Process) strip(addr uint64) uint64 {
	switch {
	case p.CPU.Word == 4:
		return addr & (1<<32 - 1)
	case p.CPU.Name == "arm64":
		if n := bits.Len64(max(p.Top, 1<<39) - 1); n < 64 {
			return addr & (1<<n - 1)
		}
	}
	return addr
}

// instruction returns the address of code for a value of the program counter.
// Bit 0 selects Thumb.
func (p *Process) instruction(pc uint64) uint64 {
	if p.CPU.Name == "arm" {
		return pc &^ 1
	}
	return pc
}

// step returns the distance from a return address to an address in the call.
func (p *Process) step() uint64 {
	switch p.CPU.Name {
	case "x86", "amd64":
		return 1
	case "arm", "riscv64":
		return 2
	case "mips", "mips64", "sparc":
		return 8
	}
	return 4
}

// sameStack reports whether two addresses are in the same memory.
func (p *Process) sameStack(a, b uint64) bool {
	start, end := p.Stack(a)
	return start <= b && b < end
}

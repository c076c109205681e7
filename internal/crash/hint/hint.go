// Package hint guesses the cause of a crash from its instruction, registers and
// memory map: the accesses of the instruction, the address if the system did not
// report it, a flipped bit, a stack overflow, a report that contradicts itself.
//
// The rules and the syntax of instructions are those of rust-minidump 0.27, with
// these differences:
//
//   - x86 is analyzed like amd64.
//   - The bytes at the program counter are an instruction only if it was fetched:
//     not if the crash is a jump to where no code is.
//   - Addresses are adjusted and bits flipped only for a failed access to memory.
//   - An address relative to the program counter is relative to the end of the
//     instruction. One in the segments FS and GS is unknown, as dumps do not have
//     their bases. LEA, NOP and prefetches do not access memory.
//   - Most instructions have the kinds of their accesses, and MOV is privileged
//     for control registers only.
//   - A guard page of Windows does not allow accesses, and a stack overflow is not
//     taken for a flipped bit.
//
// golang.org/x/arch/x86/x86asm decodes the instructions. One that it does not know
// has no text and no accesses.
//
// Work is bounded by the size of the memory map. The functions keep no state
// and are safe for concurrent use.
package hint

import (
	"symbolon/internal/bin"
	"symbolon/internal/crash/reason"
	"symbolon/internal/unwind/rule"
)

// A Crash is the state of a thread at its crash.
type Crash struct {
	CPU       *rule.CPU // nil if it is unknown
	Registers *rule.Registers
	Exception *reason.Exception
	Memory    rule.Memory // of the process
	Regions   []Region    // the memory map, in the order of addresses; empty if it is unknown
}

// A Region is a part of the memory map with one protection. Free memory is not
// part of the map.
type Region struct {
	Start, End uint64         // End is the last byte
	Protection bin.Protection // a guard page allows no access
}

// Hints are the results.
type Hints struct {
	Instruction string   // empty if it is unknown
	Accesses    []Access // nil if they are unknown, empty if there are none
	Update      *uint64  // where a jump or return leads; nil if it has that in itself, or it is unknown
	Adjusted    Adjusted
	Address     uint64 // of Adjusted

	Flips           []Flip
	Inconsistencies []Inconsistency
	StackOverflow   bool
	ExecutableStack bool
}

// An Access is an access of an instruction to memory.
type Access struct {
	Address uint64
	Size    int // in bytes; zero if it is unknown
	Kind    Kind
	Guard   bool // the address is probably in a guard page

	nullBase bool   // the address is relative to a null pointer
	base     string // the registers of the address
	index    string
}

// A Kind is the kind of an access, empty if it is unknown.
type Kind string

const (
	Read      Kind = "read"
	Write     Kind = "write"
	ReadWrite Kind = "readwrite"
)

// Adjusted is the reason for which another address replaces that of the exception.
type Adjusted string

const (
	NullPointer  Adjusted = "null-pointer"  // Hints.Address is the offset
	NonCanonical Adjusted = "non-canonical" // Hints.Address is the address
)

// An Inconsistency is a contradiction between the exception and the instruction.
type Inconsistency string

const (
	NotDivision      Inconsistency = "int_div_by_zero_not_possible"
	NotPrivileged    Inconsistency = "priv_instruction_crash_without_priv_instruction"
	NotNonCanonical  Inconsistency = "non_canonical_address_falsely_reported"
	AccessAllowed    Inconsistency = "access_violation_when_access_allowed"
	AccessNotOfCrash Inconsistency = "crashing_access_not_found_in_memory_accesses"
)

// analysis is the work on one crash.
type analysis struct {
	Crash
	Hints
	reason  string
	address uint64 // of the crash
	pc      uint64
	failed  bin.Protection // the access that failed; zero if it is unknown
	instruction
}

// Analyze returns the hints on a crash.
func Analyze(c Crash) Hints {
	if c.CPU == nil {
		return Hints{}
	}
	a := analysis{Crash: c, reason: c.Exception.String(), address: c.Exception.CrashAddress()}
	pc, hasPC := c.Registers.Get(c.CPU.PC)
	a.pc = pc
	a.failed = failures[a.reason]
	if hasPC && !a.isFetch() {
		a.decode()
	}
	a.adjust()
	a.findGuards()
	a.findStack()
	a.findFlips()
	a.findInconsistencies()
	return a.Hints
}

func (c *Crash) register(name string) (uint64, bool) {
	r, ok := c.CPU.Reg(name)
	if !ok {
		return 0, false
	}
	return c.Registers.Get(r)
}

func (c *Crash) isAMD64() bool { return c.CPU.Name == "amd64" }

func (c *Crash) pointer(at uint64) (v uint64, ok bool) {
	var b [8]byte
	if c.Memory.ReadAt(b[:c.CPU.Word], at) != c.CPU.Word {
		return 0, false
	}
	return c.CPU.Uint(b[:], false), true // x86 is little endian
}

package crash

import (
	"sort"
	"time"

	"symbolon/internal/bin"
	"symbolon/internal/crash/reason"
	"symbolon/internal/format/core"
	"symbolon/internal/format/minidump"
	"symbolon/internal/ident"
	"symbolon/internal/unwind/rule"
)

// A Dump is the state of a process when it crashed, read from a file of any kind. Some
// parts have types of package minidump, as minidumps have the most parts.
type Dump struct {
	System     System
	Written    time.Time // zero: unknown
	Uptime     *uint64   // of the process, in seconds
	PID        *uint32
	Exception  *reason.Exception // nil: the process did not crash
	Assertion  string
	Requesting int // index of the thread that crashed or asked for the dump; -1: unknown
	Threads    []Thread
	Modules    []minidump.Module // as in the dump: the first one is the program
	Unloaded   []minidump.Unloaded
	Memory     *bin.Memory        // as far as the dump has it
	Mappings   []minidump.Mapping // of the address space, sorted; nil: unknown
	Minidump   *minidump.File     // for what only some outputs have; nil: the file is of another kind
	Problems   bin.Problems       // of parts of the file that could not be read

	Certificates map[string]string // their subjects, by the name of the file; see AddExtra

	// Assumed has the files that were taken for modules without build ids, by the index
	// of the module; see Identify.
	Assumed map[int]string

	core *core.File // nil: the file is of another kind
}

// A System is the operating system and the machine of a process.
type System struct {
	OS        minidump.OS
	OSName    string // in the output of the peers
	Version   string
	Build     string
	Arch      ident.Arch
	CPU       *rule.CPU // nil: stacks cannot be walked
	CPUName   string    // in the output of the peers
	CPUInfo   string
	CPUs      int
	Microcode string
	BigEndian bool
	Wide      bool // addresses of 64 bits
}

// Digits returns the number of hexadecimal digits of an address.
func (s *System) Digits() int {
	if s.Wide || s.Arch == ident.ArchUnknown {
		return 16
	}
	return 8
}

// RegisterDigits returns the number of hexadecimal digits of a register. Dumps of MIPS
// and SPARC have 64 bits of each, those of 32-bit systems too.
func (s *System) RegisterDigits() int {
	if s.CPUName == "mips" || s.CPUName == "sparc" {
		return 16
	}
	return s.Digits()
}

// set sets a register by its name, if the CPU has it.
func (s *System) set(r *rule.Registers, name string, value uint64) {
	if s.CPU == nil {
		return
	}
	if reg, ok := s.CPU.Reg(name); ok {
		r.Set(reg, value)
	}
}

// unsupported is the reason why threads of other instruction sets have no registers.
const unsupported = "the instruction set is not supported"

// A Thread is a thread of a process.
type Thread struct {
	ID        uint32
	Name      string
	IsNamed   bool   // the name may be empty
	IsWriter  bool   // the thread wrote the dump
	LastError string // of Windows; empty: unknown
	Registers rule.Registers
	Absent    string // why there are no registers; empty: there are
}

// isCode reports whether memory at an address could be executed, or a module was
// unloaded there.
func (d *Dump) isCode(addr uint64) (is, known bool) {
	if len(d.unloadedAt(addr)) > 0 {
		return true, true
	}
	k := sort.Search(len(d.Mappings), func(k int) bool { return d.Mappings[k].Addr > addr }) - 1
	return k >= 0 && addr-d.Mappings[k].Addr < d.Mappings[k].Size && d.Mappings[k].Protection&bin.Executable != 0, d.Mappings != nil
}

// maxUnloaded limits the unloaded modules that addresses are looked up in. Windows keeps
// 64 of them.
const maxUnloaded = 256

// unloadedAt returns the places of an address in unloaded modules.
func (d *Dump) unloadedAt(addr uint64) (list []Place) {
	for i := range min(len(d.Unloaded), maxUnloaded) {
		if m := &d.Unloaded[i]; addr-m.Base < m.Size {
			list = append(list, Place{i, addr - m.Base})
		}
	}
	return list
}

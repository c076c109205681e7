package unwind

import (
	"fmt"
	"math/bits"

	"symbolon/internal/unwind/rule"
)

// A caller is a candidate for the next frame.
type caller struct {
	regs       rule.Registers // PC and SP are known
	trust      Trust
	isExact    bool       // the program counter is not a return address
	trampoline trampoline // at the program counter
	isEntered  bool       // by a return: the address is the start of code, not after a call
}

// A walker is a walk.
type walker struct {
	*Process
	frames  []Frame
	work    int    // words that scans have read
	linked  uint64 // start of a function that keeps the chain of frame pointers
	moves   int    // changes from one stack to another
	explain bool   // keep the reasons
	why     []string
	buf     [16]byte // for reads
}

// maxNotes bounds the reasons of a frame. A scan may refuse every word.
const maxNotes = 50

// maxMoves bounds the changes of the stack: two may lead to each other.
const maxMoves = 64

// note keeps the reason why a technique refused an address.
func (w *walker) note(technique string, address uint64, reason string) {
	if w.explain && len(w.why) < maxNotes {
		w.why = append(w.why, fmt.Sprintf("%s: %#x: %s", technique, address, reason))
	}
}

// found keeps the technique by which a caller was found.
func (w *walker) found(technique string) {
	if w.explain {
		w.why = append(w.why, "found by "+technique)
	}
}

// function returns the start and the name of the function at an address.
func (w *walker) function(addr uint64) (start uint64, name string, ok bool) {
	m := w.Module(addr)
	if m == nil || m.Names == nil {
		return 0, "", false
	}
	start, name, ok = m.Names.Function(addr - m.Base)
	return start + m.Base, name, ok
}

func (w *walker) row(addr uint64) rule.Row {
	m := w.Module(addr)
	if m == nil || m.Rules == nil {
		return nil
	}
	return m.Rules.Row(addr - m.Base)
}

func (w *walker) word(addr uint64) (uint64, bool) {
	b := w.buf[:w.CPU.Word]
	if w.Memory.ReadAt(b, addr) < len(b) {
		return 0, false
	}
	return w.CPU.Uint(b, w.BigEndian), true
}

// strip removes the bits of an address that are not part of it: those of pointer
// authentication, and extended signs of 32-bit addresses.
func (w *walker) strip(addr uint64) uint64 {
	switch {
	case w.CPU.Word == 4:
		return addr & (1<<32 - 1)
	case w.CPU.Name == "arm64":
		if n := bits.Len64(max(w.Top, 1<<39) - 1); n < 64 {
			return addr & (1<<n - 1)
		}
	}
	return addr
}

// instruction returns the address of code for a value of the program counter.
// Bit 0 selects Thumb.
func (w *walker) instruction(pc uint64) uint64 {
	if w.CPU.Name == "arm" {
		return pc &^ 1
	}
	return pc
}

// step returns the distance from a return address to an address in the call.
func (w *walker) step() uint64 {
	switch w.CPU.Name {
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
func (w *walker) sameStack(a, b uint64) bool {
	start, end := w.Stack(a)
	return start <= b && b < end
}

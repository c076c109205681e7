package unwind

import (
	"encoding/binary"
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

// function returns the start and the name of the function at an address.
func (w *walker) function(addr uint64) (start uint64, name string, ok bool) {
	m := w.Module(addr)
	if m == nil || m.Names == nil {
		return 0, "", false
	}
	start, name, ok = m.Names.Function(addr - m.Base)
	return start + m.Base, name, ok
}

// row returns the rules at an address.
func (w *walker) row(addr uint64) rule.Row {
	m := w.Module(addr)
	if m == nil || m.Rules == nil {
		return nil
	}
	return m.Rules.Row(addr - m.Base)
}

// word reads a word of memory.
func (w *walker) word(addr uint64) (uint64, bool) {
	b := w.buf[:w.CPU.Word]
	switch {
	case w.Memory.ReadAt(b, addr) < len(b):
		return 0, false
	case len(b) == 4 && w.BigEndian:
		return uint64(binary.BigEndian.Uint32(b)), true
	case len(b) == 4:
		return uint64(binary.LittleEndian.Uint32(b)), true
	case w.BigEndian:
		return binary.BigEndian.Uint64(b), true
	}
	return binary.LittleEndian.Uint64(b), true
}

// code reads code into dst, from memory or else from the module's file. It
// returns the number of bytes.
func (w *walker) code(dst []byte, addr uint64) int {
	if n := w.Memory.ReadAt(dst, addr); n == len(dst) {
		return n
	}
	m := w.Module(addr)
	if m == nil || m.Code == nil {
		return 0
	}
	return copy(dst, m.Code(addr-m.Base, len(dst)))
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

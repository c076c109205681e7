package unwind

import (
	"fmt"

	"symbolon/internal/unwind/rule"
)

// A caller is a candidate for the next frame.
type caller struct {
	regs    rule.Registers // PC and SP are known
	trust   Trust
	isExact bool // the program counter is not a return address
	// isEntered: the return address is the start of code, not after a call.
	isEntered bool
}

// A walker is a walk.
type walker struct {
	*Process
	frames     []Frame
	candidates int    // return addresses that scans have tried
	linked     uint64 // start of a function that keeps the chain of frame pointers
	moves      int    // changes from one stack to another
	explain    bool   // keep the reasons
	why        []string
}

// note keeps the reason why a technique did not find the caller. Address is the
// one in question.
func (w *walker) note(technique string, address uint64, reason string) {
	if w.explain && len(w.why) < maxNotes {
		w.why = append(w.why, fmt.Sprintf("%s: %#x: %s", technique, address, reason))
	}
}

// maxNotes bounds the reasons of a frame. A scan may refuse every word.
const maxNotes = 200

// maxMoves bounds the changes of the stack of a walk, so that stacks which lead
// to each other end.
const maxMoves = 64

// returnTo sets the program counter of c to the word at an address.
func (w *walker) returnTo(c *caller, addr uint64) bool {
	pc, ok := w.word(addr)
	if ok {
		c.regs.Set(w.CPU.PC, w.strip(pc))
	}
	return ok
}

// A check is what the return address of a candidate must be.
type check uint8

const (
	mustBeCode check = iota // an address of code
	mustFollow              // after a call, or code that is entered by a return
	mustBeCall              // after a call
)

// accept reports whether c is a plausible caller of f.
func (w *walker) accept(f *Frame, c *caller, technique string, must check) bool {
	pc, _ := c.regs.Get(w.CPU.PC)
	why := ""
	switch c.isEntered = w.isTrampoline(pc) || must != mustBeCall && w.isEntered(pc); {
	case c.isEntered:
	case must == mustBeCode:
		why = w.refuseReturn(pc)
	default:
		why = w.refuseGuess(pc)
	}
	if why == "" {
		why = w.refuseProgress(f, c)
	}
	if why != "" {
		w.note(technique, pc, why)
		return false
	}
	if w.explain {
		w.why = append(w.why, "found by "+technique)
	}
	return true
}

// refuseProgress returns the reason why the stack pointer of c is not outwards of
// that of f, "" if it is. A function without a frame, on CPUs with a link
// register, leaves it where it is. Another stack may be anywhere.
func (w *walker) refuseProgress(f *Frame, c *caller) string {
	from, _ := f.Registers.Get(w.CPU.SP)
	to, _ := c.regs.Get(w.CPU.SP)
	switch {
	case to > from:
		return ""
	case to == from && w.CPU.LR != rule.None && f.isExact:
		if pc, _ := c.regs.Get(w.CPU.PC); pc != f.PC {
			return ""
		}
	case to != from && c.trust == CFI && !w.sameStack(from, to):
		return ""
	}
	return "the stack pointer does not move outwards"
}

package unwind

import (
	"strings"

	"symbolon/internal/unwind/rule"
)

// Limits of scans.
const (
	wideScan   = 160  // words that are read after a frame that is certain
	narrowScan = 40   // after a guess
	farScan    = 2048 // words in which unwind information confirms a return address
	confirmed  = 3    // frames that it must find for that, one from the other
	maxConfirm = 8    // the most that are tried

	maxWork       = 256 << 10 // words that a walk reads
	maxScanned    = 16 << 20  // words that all walks of a process read, which take two seconds
	candidateWork = 32        // words that one counts as which may be a return address

	// The most bytes from a saved frame pointer to the frame it points to.
	maxSaved = 128 << 10
)

// scan finds the caller of f among the words from an address of the stack on:
// the first return address that nothing speaks against. Words further away must
// be confirmed. If there is none, it is the first return address.
func (w *walker) scan(f *Frame, from uint64, trust Trust) (c caller, ok bool) {
	const technique = "stack scan"
	size := uint64(w.CPU.Word)
	words := narrowScan
	if f.Trust <= CFI {
		words = wideScan
	}
	if fp, isEnd := w.endsChain(f); isEnd {
		switch {
		case w.IsApple || fp == 0 && w.CPU.LR == rule.None && f.Trust == CFI && f.Module != nil && f.Module.hasRules():
			w.note(technique, fp, "the chain of frame pointers ends at an outermost function")
			return c, false
		case w.keepsChain() || w.IsWindows && w.isChained(f):
			words = 0 // only certain frames
		}
	}
	switch w.CPU.Name {
	case "ppc", "ppc64", "sparc": // the rules of their stacks are not known here
		return c, false
	case "mips":
		// A caller has four words for the arguments of the function it calls.
		if !f.isExact {
			from += 4 * size
		}
	}
	if w.scanned.Load() > maxScanned {
		w.note(technique, from, "the scans of this process have read too many words")
		return c, false
	}
	before := w.work
	defer func() { w.scanned.Add(int64(w.work - before)) }()
	var second caller
	for i, slot := 0, from; i < farScan; i, slot = i+1, slot+size {
		v, readable := w.word(slot)
		if w.work++; !readable || w.work > maxWork {
			break
		}
		pc := w.strip(v)
		if pc < lowest || w.refuseGuess(pc) != "" {
			continue
		}
		w.work += candidateWork
		c = w.callerAt(f, slot, from, pc, trust)
		steps, why := w.confirm(&c)
		called := w.matches(pc, f.Lookup)
		switch {
		case f.isExact && pc == f.PC:
			why = "a copy of the program counter"
		case trust == Scan && called == matchNo:
			why = "it calls another function"
		}
		switch {
		case why != "":
			w.note(technique, pc, why)
		case i < words || steps >= confirmed || called == matchYes:
			return c, w.accept(f, &c, technique, mustBeCall)
		}
		if i < words && second.regs.Known == 0 {
			second = c
		}
	}
	return second, second.regs.Known != 0 && w.accept(f, &second, technique, mustBeCall)
}

// callerAt returns the caller whose return address, pc, is in a slot of the stack.
func (w *walker) callerAt(f *Frame, slot, from, pc uint64, trust Trust) caller {
	size := uint64(w.CPU.Word)
	c := caller{trust: trust}
	c.regs.Set(w.CPU.PC, pc)
	c.regs.Set(w.CPU.SP, slot+size)
	fp, known := f.Registers.Get(w.CPU.FP)
	if w.CPU.LR != rule.None || !known {
		return c
	}
	// A function that saves its caller's frame pointer does so next to the
	// return address.
	if next, ok := w.word(slot - size); ok && slot > from && fp == slot-size && next > slot && next-slot <= maxSaved && w.sameStack(slot, next) {
		c.regs.Set(w.CPU.FP, next)
	} else if fp > slot && w.sameStack(slot, fp) {
		c.regs.Set(w.CPU.FP, fp)
	}
	return c
}

// confirm walks on from a scanned caller by unwind information alone. It returns the
// number of frames, maxConfirm at the end of the stack, and the reason against the
// caller, "" if there is none. Unwind information that needs a register which a scan
// cannot know does not count as one.
func (w *walker) confirm(c *caller) (steps int, why string) {
	regs := c.regs
	for ; steps < maxConfirm; steps++ {
		pc, _ := regs.Get(w.CPU.PC)
		lookup := w.instruction(pc) - w.step()
		if _, name, ok := w.function(lookup); ok && w.isOutermostName(w.Module(lookup), plain(name)) {
			return maxConfirm, ""
		}
		row := w.row(lookup)
		if len(row) == 0 {
			return steps, ""
		}
		next, outcome, why := row.Eval(w.CPU, &regs, w.Memory, w.BigEndian, rule.Windows{})
		switch {
		case outcome == rule.Outermost:
			return maxConfirm, ""
		case outcome == rule.Failed && strings.Contains(why, "unknown value"):
			return steps, ""
		case outcome == rule.Failed:
			return steps, "a caller of it cannot be found: " + why
		}
		w.stripAll(&next.Registers)
		to, _ := next.Get(w.CPU.PC)
		if w.startsCode(to) || w.trampoline(to).isKnown() {
			return maxConfirm, ""
		}
		if why := w.refuseGuess(to); why != "" && to != 0 {
			return steps, "a caller of it would be " + why
		}
		from, _ := regs.Get(w.CPU.SP)
		if sp, _ := next.Get(w.CPU.SP); sp < from || sp == from && w.CPU.LR == rule.None {
			return steps, "the stack pointer of a caller of it does not move outwards"
		}
		if to == 0 {
			return steps, ""
		}
		regs = next.Registers
	}
	return steps, ""
}

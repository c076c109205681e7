package unwind

import (
	"slices"

	"symbolon/internal/unwind/rule"
)

// callerOf finds the caller of f. It returns false at the end of the stack.
func (w *walker) callerOf(f *Frame) (c caller, ok bool) {
	sp, known := f.Registers.Get(w.CPU.SP)
	if !known {
		return c, false
	}
	if f.IsSignal {
		if c, ok := w.interrupted(f); ok {
			return c, true
		}
	}
	if c, ok := w.epilogue(f); ok {
		return c, true
	}
	from, trust := sp, Scan
	if row := w.row(w.instruction(f.Lookup)); len(row) > 0 {
		c, outcome, cfa := w.byRules(f, row)
		switch {
		case outcome == rule.Found:
			if w.CPU.Name == "arm64" && f.isExact {
				w.correct(f, &c)
			}
			return c, true
		case outcome == rule.Outermost:
			return c, false
		case cfa > sp && w.sameStack(sp, cfa):
			from, trust = cfa, CFIScan
		}
	} else if c, ok := w.prologue(f); ok {
		return c, true
	}
	if trust == Scan {
		if c, ok := w.leaf(f); ok {
			return c, true
		}
		if c, ok := w.framePointer(f); ok {
			return c, true
		}
	}
	return w.scan(f, from, trust)
}

// byRules finds the caller of f by unwind information. If its result is refused,
// it returns the frame address.
func (w *walker) byRules(f *Frame, row rule.Row) (c caller, outcome rule.Outcome, cfa uint64) {
	const technique = "unwind information"
	n := len(w.frames)
	in := rule.Windows{IsFirst: n == 1}
	if n > 1 {
		if r := w.row(w.frames[n-2].Lookup); len(r) > 0 {
			in.Params = r.Params()
		}
	}
	found, outcome, why := row.Eval(w.CPU, &f.Registers, w.Memory, w.BigEndian, in)
	if outcome == rule.Outermost {
		why = "the function is the outermost one"
	}
	if outcome != rule.Found {
		w.note(technique, f.PC, why)
		return c, outcome, 0
	}
	c = caller{regs: found.Registers, trust: CFI}
	w.stripAll(&c.regs)
	pc, _ := c.regs.Get(w.CPU.PC)
	if pc == 0 && n > 1 {
		w.note(technique, pc, "null return address")
		return c, rule.Outermost, 0
	}
	if !w.accept(f, &c, technique, mustBeCode) {
		return c, rule.Failed, found.CFA
	}
	return c, rule.Found, found.CFA
}

// correct corrects the caller of the innermost frame on arm64, whose compilers
// often describe neither prologues nor epilogues.
func (w *walker) correct(f *Frame, c *caller) {
	lr, _ := f.Registers.Get(w.CPU.LR)
	fp, _ := f.Registers.Get(w.CPU.FP)
	pc, _ := c.regs.Get(w.CPU.PC)
	own, _, _ := w.function(f.PC)
	linked, _, _ := w.function(w.strip(lr) - w.step())
	saved, _ := w.word(fp + 8)
	why, isCorrected := len(w.why), false // the last one is that of c
	if pc != w.strip(lr) {                // the link register may have been restored
		if l, ok := w.leaf(f); ok {
			*c, isCorrected = l, true
		}
	} else if pc == w.strip(saved) && own != linked { // the frame pointer has been set
		if l, ok := w.framePointer(f); ok && l.regs.Values[w.CPU.FP] != 0 {
			*c, isCorrected = l, true
		}
	}
	switch {
	case !w.explain:
	case isCorrected:
		w.why = slices.Delete(w.why, why-1, why)
	default:
		w.why = w.why[:why]
	}
}

// stripAll removes pointer authentication from the registers that have addresses
// of code and frames.
func (w *walker) stripAll(r *rule.Registers) {
	for _, reg := range [...]rule.Reg{w.CPU.PC, w.CPU.FP, w.CPU.LR} {
		if v, ok := r.Get(reg); ok {
			r.Set(reg, w.strip(v))
		}
	}
}

// leaf finds the caller of a function that has no frame, or of an address that is
// not code because a wrong pointer was called.
func (w *walker) leaf(f *Frame) (c caller, ok bool) {
	if !f.isExact {
		return c, false
	}
	c = caller{trust: FramePointer, regs: f.Registers}
	sp, _ := f.Registers.Get(w.CPU.SP)
	if w.CPU.LR == rule.None {
		if !w.returnTo(&c, sp) {
			return c, false
		}
		pc, _ := c.regs.Get(w.CPU.PC)
		start, _, named := w.function(f.Lookup)
		if w.refuseCode(f.PC) == "" && !(named && start == f.PC) && w.matches(pc, f.Lookup) != matchYes {
			return c, false
		}
		c.regs.Known &= w.CPU.Saved | 1<<w.CPU.PC
		c.regs.Set(w.CPU.SP, sp+uint64(w.CPU.Word))
		return c, w.accept(f, &c, "return address at the stack pointer", mustBeCall)
	}
	lr, known := f.Registers.Get(w.CPU.LR)
	if !known || !w.isLinked(f, w.strip(lr)) {
		return c, false
	}
	c.regs.Known &= w.CPU.Saved | 1<<w.CPU.SP
	c.regs.Set(w.CPU.PC, w.strip(lr))
	return c, w.accept(f, &c, "link register", mustBeCall)
}

// isLinked reports whether the link register has the return address of f. After a
// call has returned, it has an address in the function itself; before the first
// one, a function with a frame has saved it there.
func (w *walker) isLinked(f *Frame, lr uint64) bool {
	own, _, named := w.function(f.Lookup)
	if w.refuseCode(f.PC) != "" || named && own == f.PC {
		return true
	}
	linked, _, ok := w.function(w.instruction(lr) - w.step())
	// Returns by POP, of 32-bit ARM, leave an address in the function that was called.
	if !named || !ok || own == linked || w.matches(lr, f.Lookup) == matchNo {
		return false
	}
	fp, known := f.Registers.Get(w.CPU.FP)
	if !known {
		return true
	}
	saved, ok := w.word(fp + uint64(w.CPU.Word))
	return !ok || w.strip(saved) != lr
}

// framePointer finds the caller of f by the chain of frame pointers: each points
// to the next one, which the return address follows.
func (w *walker) framePointer(f *Frame) (c caller, ok bool) {
	fp, known := f.Registers.Get(w.fpRegister())
	sp, _ := f.Registers.Get(w.CPU.SP)
	if !known || fp < sp || fp%uint64(w.CPU.Word) != 0 || !w.sameStack(sp, fp) {
		w.note("frame pointer", fp, "not on the stack")
		return c, false
	}
	// In Windows the frame pointer may be up to 240 bytes inside of the frame.
	last := uint64(0)
	if w.IsWindows && w.CPU.Name == "amd64" {
		last = 240
	}
	for at := fp; at <= fp+last && at >= fp; at += 16 {
		if w.linkAt(f, &c, at) {
			return c, true
		}
	}
	return c, false
}

// linkAt sets c to the caller whose frame pointer is stored at an address.
func (w *walker) linkAt(f *Frame, c *caller, at uint64) bool {
	const technique = "frame pointer"
	word := uint64(w.CPU.Word)
	if w.CPU.Name == "riscv64" {
		at -= 2 * word
	}
	next, ok := w.word(at)
	*c = caller{trust: FramePointer}
	if !ok || !w.returnTo(c, at+word) {
		return false
	}
	next = w.strip(next)
	c.regs.Set(w.CPU.SP, at+2*word)
	c.regs.Set(w.fpRegister(), next)
	pc, _ := c.regs.Get(w.CPU.PC)
	if why := w.doubtLink(f, at, next, pc); why != "" {
		w.note(technique, pc, why)
		return false
	}
	return w.accept(f, c, technique, mustBeCall)
}

// doubtLink returns the reason against a link of the chain of frame pointers at an
// address, "" if there is none. Where code may use the register for something else, the
// function of f may not have set it: then it belongs to an outer frame, or is any number.
func (w *walker) doubtLink(f *Frame, at, next, pc uint64) string {
	switch w.matches(pc, f.Lookup) {
	case matchYes:
		return ""
	case matchNo:
		return "it calls another function"
	}
	start, _, named := w.function(f.Lookup)
	switch {
	case next > at && w.sameStack(at, next):
		if named {
			w.linked = start
		}
	case next == 0 && w.keepsChain():
	case named && start == w.linked && len(w.frames) > 1: // it keeps the chain
	default:
		return "its frame pointer is not on the stack"
	}
	return ""
}

func (w *walker) fpRegister() rule.Reg {
	if w.CPU.Name == "arm" && w.IsApple {
		r, _ := w.CPU.Reg("r7")
		return r
	}
	return w.CPU.FP
}

// endsChain returns the frame pointer of f, and whether the chain ends there: it
// is null, or the next link is and has no return address.
func (w *walker) endsChain(f *Frame) (fp uint64, isEnd bool) {
	fp, known := f.Registers.Get(w.fpRegister())
	if !known || f.isExact || fp == 0 {
		return fp, known && !f.isExact
	}
	next, _ := w.word(fp)
	pc, ok := w.word(fp + uint64(w.CPU.Word))
	return fp, ok && pc < lowest && (next == 0 || pc == 0)
}

// isChained reports whether f was found by the frame pointer of the frame before.
func (w *walker) isChained(f *Frame) bool {
	sp, _ := f.Registers.Get(w.CPU.SP)
	fp, known := w.frames[max(len(w.frames)-2, 0)].Registers.Get(w.fpRegister())
	return known && f.Trust == FramePointer && sp == fp+2*uint64(w.CPU.Word)
}

// keepsChain reports whether all code keeps the chain of frame pointers.
func (w *walker) keepsChain() bool { return w.IsApple || w.CPU.Name == "arm64" }

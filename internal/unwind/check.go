package unwind

import (
	"strings"

	"symbolon/internal/unwind/rule"
)

// lowest is the least address that may be code. Systems do not map the pages
// below it, so that null pointers with offsets fault.
const lowest = 4096

// refuseCode returns the reason why an address cannot be one of code, "" if it
// can be.
func (w *walker) refuseCode(addr uint64) string {
	switch {
	case addr < lowest:
		return "too low for code"
	case w.CPU.Name == "amd64" && addr>>47 != 0 && addr>>47 != 1<<17-1:
		return "not a canonical address"
	}
	m := w.Module(addr)
	isCode, known := w.IsCode(addr)
	if m == nil {
		if isCode {
			return ""
		}
		return "in no module"
	}
	switch {
	case m.covers(addr - m.Base):
		return ""
	case known && !isCode:
		return "not executable"
	case m.hasRules() && !(known && w.isSparse(m)):
		return uncovered
	}
	return ""
}

// uncovered is the reason against addresses outside of all functions.
const uncovered = "neither unwind information nor symbols cover it"

// hasRules reports whether the module has unwind information. Code that it does
// not cover is rare, while tables of symbols often have exported functions only.
func (m *Module) hasRules() bool { return m.Rules != nil && m.Rules.HasRules() }

// isSparse reports whether most of the executable memory of a module has no unwind
// information: a stripped program often has it only for its first instructions and for
// calls to libraries.
func (w *walker) isSparse(m *Module) bool {
	const samples = 128
	if m.coverage.Load() == coverageUnknown {
		code, covered := 0, 0
		for i := range uint64(samples) {
			rel := m.Size/samples*i + m.Size%samples*i/samples
			if is, known := w.IsCode(m.Base + rel); is && known {
				code++
				if len(m.Rules.Row(rel)) > 0 {
					covered++
				}
			}
		}
		found := coverageFull
		if covered <= code/2 {
			found = coverageSparse
		}
		m.coverage.Store(found)
	}
	return m.coverage.Load() == coverageSparse
}

// covers reports whether an address has a name or unwind information.
func (m *Module) covers(addr uint64) bool {
	if m.Rules != nil && len(m.Rules.Row(addr)) > 0 {
		return true
	}
	if m.Names == nil {
		return false
	}
	_, _, ok := m.Names.Function(addr)
	return ok
}

// refuseReturn returns the reason why pc cannot be a return address, "" if it can
// be. The function that a call does not return to may end with it, so the address
// of the call is checked.
func (w *walker) refuseReturn(pc uint64) string {
	if pc < lowest {
		return "too low for code"
	}
	why := w.refuseCode(w.instruction(pc) - w.step())
	if why == uncovered {
		if is, known := w.IsCode(w.instruction(pc)); is && known {
			if kind, _ := w.callBefore(pc); kind >= callIndirect { // code of a part without unwind information
				return ""
			}
		}
	}
	return why
}

// refuseGuess returns the reason why pc, which is a guess, cannot be a return
// address, "" if it can be.
func (w *walker) refuseGuess(pc uint64) string {
	why := w.refuseReturn(pc)
	kind, lookup := callUnknown, w.instruction(pc)-w.step()
	if why == "" {
		kind, _ = w.callBefore(pc)
	}
	switch {
	case why != "":
	case w.step() >= 4 && pc&3 != 0:
		why = "not aligned"
	case kind == callNone:
		why = "no call before it"
	case kind == callUnknown && w.startsCode(pc):
		why = "the start of a function"
	case kind == callUnknown:
		m := w.Module(lookup)
		if m != nil && m.Names != nil && !m.covers(lookup-m.Base) {
			why = "no symbol covers it"
		}
	}
	if why != "" && w.trampoline(pc).isKnown() {
		return ""
	}
	return why
}

// A match is the result of comparing the call before a return address with a function.
type match uint8

const (
	matchUnknown match = iota
	matchNo            // it calls another function, which may have jumped to this one
	matchYes
)

// matches compares the target of the call before pc with the function at an
// address.
func (w *walker) matches(pc, callee uint64) match {
	kind, target := w.callBefore(pc)
	if kind != callDirect {
		return matchUnknown
	}
	start, name, ok := w.function(callee)
	at, _, isNamed := w.function(target)
	switch {
	case ok && target == start:
		return matchYes
	// Cold code is a part of another function. An address between symbols may be a
	// stub that jumps anywhere.
	case !ok || strings.Contains(name, ".cold") || !isNamed || at != target:
		return matchUnknown
	}
	return matchNo
}

// returnTo sets the program counter of c to the word at an address.
func (w *walker) returnTo(c *caller, addr uint64) bool {
	pc, ok := w.word(addr)
	if ok {
		c.regs.Set(w.CPU.PC, w.strip(pc))
	}
	return ok
}

// A check is the condition for the return address of a candidate.
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
	c.trampoline = w.trampoline(pc)
	c.isEntered = c.trampoline.isKnown() || must != mustBeCall && w.startsCode(pc)
	switch {
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
	w.found(technique)
	return true
}

// refuseProgress returns the reason why the stack pointer of c has not moved outwards
// from that of f, "" if it has. A function without a frame, on CPUs with a link register,
// does not move it. Another stack may be anywhere.
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

package unwind

import (
	"fmt"

	"symbolon/internal/unwind/rule"
)

// Options are options of Walk.
type Options struct {
	Frames  int  // most frames; 0: 4096
	Explain bool // fill Frame.Why
}

// Walk returns the frames of a thread with the given registers, innermost first:
// at least one, if the program counter is known.
func (p *Process) Walk(regs rule.Registers, opt Options) []Frame {
	pc, ok := regs.Get(p.CPU.PC)
	if !ok {
		return nil
	}
	if opt.Frames == 0 {
		opt.Frames = 4096
	}
	w := &walker{Process: p, explain: opt.Explain, frames: make([]Frame, 0, 16)}
	regs.Set(p.CPU.PC, w.strip(pc))
	w.add(&caller{regs: regs, trust: Context, isExact: true})
	for {
		f := &w.frames[len(w.frames)-1]
		if w.why = nil; len(w.frames) >= opt.Frames {
			w.note("end of the walk", f.PC, fmt.Sprintf("the limit of %d frames", opt.Frames))
			break
		}
		if why := w.isOutermost(); why != "" {
			w.note("end of the stack", f.PC, why)
			break
		}
		c, ok := w.callerOf(f)
		if !ok {
			break
		}
		from, _ := f.Registers.Get(p.CPU.SP)
		to, _ := c.regs.Get(p.CPU.SP)
		if to < from || !w.sameStack(from, to) {
			if w.moves++; w.moves > maxMoves {
				w.why = nil
				w.note("end of the walk", f.PC, fmt.Sprintf("the limit of %d changes of the stack", maxMoves))
				break
			}
		}
		w.add(&c)
	}
	if last := len(w.frames) - 1; w.explain {
		w.frames[last].Why = append(w.frames[last].Why, w.why...)
	}
	return w.frames
}

func (w *walker) add(c *caller) {
	pc, _ := c.regs.Get(w.CPU.PC)
	f := Frame{PC: pc, Lookup: w.instruction(pc), Trust: c.trust, Registers: c.regs, isExact: c.isExact, Why: w.why}
	if !c.isExact {
		f.IsSignal = c.trampoline == returnRT || c.trampoline == returnOld || c.trampoline == returnVDSO
		if f.isEntered = c.isEntered && !f.IsSignal; !f.IsSignal && !f.isEntered {
			f.Lookup -= w.step()
		}
	}
	if f.Module = w.Module(f.Lookup); f.Module != nil && f.Module.Names != nil {
		_, name, _ := f.Module.Names.Function(f.Lookup - f.Module.Base)
		f.name = plain(name)
	}
	w.frames = append(w.frames, f)
}

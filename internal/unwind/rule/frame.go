package rule

// windows evaluates a row of Windows. It returns the bytes after the row.
func (e *evaluator) windows(r Row, in Windows, caller *Caller) (rest Row, o Outcome, why string) {
	s, code, ok := r.windows()
	if !ok {
		return nil, Failed, e.fail(failInvalid, "row")
	}
	rest = code
	if r[0] == kindProgram {
		rest = after(code)
	}
	e.isWindows = true
	if r[0] == kindProgram {
		e.program(s, code, in, caller)
	} else {
		e.fpo(s, in, caller)
	}
	e.isWindows = false
	if e.reason != failNone {
		return rest, Failed, e.text("frame")
	}
	caller.CFA = caller.Values[x86.SP]
	return rest, Found, ""
}

// register returns the value of a register of the callee, which must be known.
func (e *evaluator) register(r Reg) uint32 {
	v, ok := e.callee.Get(r)
	if !ok {
		e.reg = r
		e.stop(failUnknown)
	}
	return uint32(v)
}

// fpo computes the caller of a frame without a program: the return address is
// above the locals, the saved registers and the parameters of the callee.
func (e *evaluator) fpo(s sizes, in Windows, caller *Caller) {
	esp := e.register(x86.SP)
	slot := esp + s.locals + s.saved + in.Params
	pc := e.load(uint64(slot))
	if callee, ok := e.callee.Get(x86.PC); ok && in.IsFirst && pc == callee {
		slot += 4 // a system call leaves its return address on the stack
		pc = e.load(uint64(slot))
	}
	caller.Set(x86.PC, pc)
	caller.Set(x86.SP, uint64(slot+4))
	if s.flags&flagBase != 0 {
		caller.Set(x86.FP, e.load(uint64(esp+in.Params+s.saved-8)))
	} else {
		e.copy(caller, x86.FP)
	}
	e.copy(caller, ebx)
}

// copy copies a register of the callee, if it is known.
func (e *evaluator) copy(caller *Caller, r Reg) {
	if v, ok := e.callee.Get(r); ok {
		caller.Set(r, v)
	}
}

// program executes the program of a frame.
func (e *evaluator) program(s sizes, code []byte, in Windows, caller *Caller) {
	esp, ebp := e.register(x86.SP), e.register(x86.FP)
	search := esp + s.locals + s.saved + in.Params
	if s.flags&flagAlign != 0 {
		search = ebp + 4
	}
	e.set, e.assigned = 1<<x86.SP|1<<x86.FP|1<<varOthers-1<<varParams, 0
	e.vars[x86.SP], e.vars[x86.FP] = esp, ebp
	copy(e.vars[varParams:], []uint32{s.params, in.Params, s.saved, s.locals, search, search})
	if v, ok := e.callee.Get(ebx); ok {
		e.vars[ebx] = uint32(v)
		e.set |= 1 << ebx
	}
	e.depth, e.code = 0, code
	if e.reason != failNone || !e.run() {
		return
	}
	if need := uint64(1)<<x86.PC | 1<<x86.SP; e.assigned&e.set&need != need {
		e.stop(failMissing)
		return
	}
	for r := range outputs {
		if e.set>>r&1 != 0 {
			caller.Set(r, uint64(e.vars[r]))
		}
	}
}

package rule

import "sync"

// Memory reads the memory of a process.
type Memory interface {
	// ReadAt reads memory from addr on and returns the number of bytes read. It
	// does not retain dst.
	ReadAt(dst []byte, addr uint64) int
}

// Windows has the part of the input of a row of 32-bit Windows that is not in
// registers.
type Windows struct {
	Params  uint32 // bytes of the parameters of the frame below, zero for the first frame
	IsFirst bool   // the registers are those of the thread
}

// A Caller is the frame that calls another one. Registers without a rule have the
// values of the callee if calls preserve them, and are unknown else.
type Caller struct {
	Registers
	CFA uint64 // frame address
}

// An Outcome is the result of an evaluation.
type Outcome uint8

const (
	Failed    Outcome = iota
	Found             // the caller is known, and its PC and SP are
	Outermost         // the frame has no caller
)

// String returns the name of an outcome.
func (o Outcome) String() string { return [...]string{"failed", "found", "outermost"}[o] }

var machines = sync.Pool{New: func() any { return new(machine) }}

// Eval computes the registers of the caller of a frame. If big is set, memory is
// big endian. If the row failed, why is the rule and the reason.
func (r Row) Eval(cpu *CPU, callee *Registers, mem Memory, big bool, in Windows) (caller Caller, o Outcome, why string) {
	m := machines.Get().(*machine)
	m.cpu, m.callee, m.mem, m.isBig, m.why = cpu, callee, mem, big, ""
	if isWindows, _ := r.IsWindows(); isWindows && cpu == x86 {
		var f frame
		f, r = r.frame()
		o, why = m.windows(&f, in, &caller)
	}
	if o == Failed && (why == "" || len(r) > 0) {
		caller = Caller{}
		o, why = m.cfi(r, &caller)
	}
	m.callee, m.mem, m.code = nil, nil, nil
	machines.Put(m)
	return caller, o, why
}

func (m *machine) cfi(r Row, caller *Caller) (Outcome, string) {
	if len(r) == 0 || r[0] != kindCFI {
		return Failed, "no rules"
	}
	cfa, rest := take(r[1:], targetCFA)
	ra, rest := take(rest, targetRA)
	m.hasCFA = false
	switch {
	case len(ra) == 1 && ra[0] == opUndefined, len(cfa) > 0 && len(ra) == 0 && m.cpu.LR == None:
		return Outermost, ""
	case len(cfa) == 0:
		return Failed, ".cfa: " + whyMissing
	case len(ra) == 0:
		return Failed, ".ra: " + whyMissing
	}
	var ok bool
	if caller.CFA, ok = m.expression(cfa); !ok {
		return Failed, m.text(".cfa")
	}
	m.cfa, m.hasCFA = caller.CFA, true
	pc, ok := m.expression(ra)
	if !ok {
		return Failed, m.text(".ra")
	}
	caller.Registers = *m.callee
	caller.Known &= m.cpu.Saved
	caller.Set(m.cpu.SP, m.cfa)
	caller.Set(m.cpu.PC, pc)
	for len(rest) > 0 {
		reg := Reg(rest[0]) - targetReg
		var program []byte
		program, rest = cut(rest[1:])
		if int(reg) >= m.cpu.Count() {
			return Failed, "register: " + whyInvalid
		}
		if v, ok := m.expression(program); ok {
			caller.Set(reg, v)
		} else if caller.Forget(reg); reg == m.cpu.SP || reg == m.cpu.PC {
			return Failed, m.text(m.cpu.RegName(reg))
		}
	}
	return Found, ""
}

// take splits rules after that of a target, if they begin with it.
func take(rules []byte, target byte) (program, rest []byte) {
	if len(rules) == 0 || rules[0] != target {
		return nil, rules
	}
	return cut(rules[1:])
}

func (m *machine) expression(program []byte) (uint64, bool) {
	m.run(program)
	switch v := m.stack[0]; {
	case m.why != "":
	case m.depth != 1 || v.isVar:
		m.fail(whyStack)
	case !m.cpu.fits(v.n):
		m.fail(whyWide)
	default:
		return v.n, true
	}
	return 0, false
}

// ebx is the register of x86 that programs may read, although the thread has not
// saved it.
const ebx Reg = 3

// lastOutput is the last of the registers that a program returns: edi.
const lastOutput Reg = 5

// windows evaluates a row of Windows.
func (m *machine) windows(f *frame, in Windows, caller *Caller) (Outcome, string) {
	m.isWindows = true
	if f.program != nil {
		m.program(f, in, caller)
	} else {
		m.sizes(f, in, caller)
	}
	m.isWindows = false
	if m.why != "" {
		return Failed, m.text("frame")
	}
	caller.CFA = caller.Values[x86.SP]
	return Found, ""
}

// sizes computes the caller of a frame without a program: the return address is
// above the locals, the saved registers and the parameters of the callee.
func (m *machine) sizes(f *frame, in Windows, caller *Caller) {
	esp := m.register(x86.SP)
	slot := esp + uint64(f.locals) + uint64(f.saved) + uint64(in.Params)
	pc := m.load(slot)
	if callee, ok := m.callee.Get(x86.PC); ok && in.IsFirst && pc == callee {
		slot += 4 // a system call leaves its return address on the stack
		pc = m.load(slot)
	}
	caller.Registers = *m.callee
	if caller.Known &= 1<<x86.FP | 1<<ebx; f.flags&flagBase != 0 {
		caller.Set(x86.FP, m.load(esp+uint64(in.Params)+uint64(f.saved)-8))
	}
	caller.Set(x86.PC, pc)
	caller.Set(x86.SP, uint64(uint32(slot+4)))
}

// program executes the program of a frame.
func (m *machine) program(f *frame, in Windows, caller *Caller) {
	esp, ebp := uint32(m.register(x86.SP)), uint32(m.register(x86.FP))
	if m.why != "" {
		return
	}
	search := esp + f.locals + f.saved + in.Params
	if f.flags&flagAlign != 0 {
		search = ebp + 4
	}
	for i, v := range [...]uint32{f.params, in.Params, f.saved, f.locals, search, search} {
		m.vars[varParams+i] = v
	}
	m.vars[x86.SP], m.vars[x86.FP] = esp, ebp
	m.set = 1<<x86.SP | 1<<x86.FP | (1<<varOthers - 1<<varParams)
	if v, ok := m.callee.Get(ebx); ok {
		m.vars[ebx] = uint32(v)
		m.set |= 1 << ebx
	}
	m.assigned = 0
	if !m.run(f.program) {
		return
	}
	if need := uint64(1)<<x86.PC | 1<<x86.SP; m.assigned&m.set&need != need {
		m.fail(whyMissing)
		return
	}
	for r := range lastOutput + 1 {
		if m.set>>r&1 != 0 {
			caller.Set(r, uint64(m.vars[r]))
		}
	}
}

package rule

import (
	"bytes"
	"encoding/binary"
	"strconv"
)

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

// A Caller is the frame that an evaluation returns: the registers of the caller,
// of which PC and SP are known. Those without a rule have the values of the
// callee if calls preserve them, and are unknown else.
type Caller struct {
	Registers
	CFA uint64 // frame address
}

// An Outcome is the result of an evaluation.
type Outcome uint8

const (
	Failed    Outcome = iota
	Found             // the caller is known
	Outermost         // the frame has no caller
)

// String returns the name of an outcome.
func (o Outcome) String() string { return [...]string{"failed", "found", "outermost"}[o] }

// Eval computes the registers of the caller of a frame. If big is set, memory is
// big endian. If the row failed, why is the rule and the reason.
func (r Row) Eval(cpu *CPU, callee *Registers, mem Memory, big bool, in Windows) (caller Caller, o Outcome, why string) {
	e := evaluators.Get().(*evaluator)
	e.cpu, e.callee, e.mem, e.order = cpu, callee, mem, binary.LittleEndian
	if big {
		e.order = binary.BigEndian
	}
	isWindows, _ := r.IsWindows()
	if isWindows {
		if cpu != x86 {
			r = nil
		} else if r, o, why = e.windows(r, in, &caller); o == Failed && len(r) > 0 {
			isWindows = false
		}
	}
	if !isWindows {
		o, why = e.cfi(r, &caller)
	}
	e.callee, e.mem, e.code = nil, nil, nil
	evaluators.Put(e)
	return caller, o, why
}

// cfi evaluates a row of CFI.
func (e *evaluator) cfi(r Row, caller *Caller) (Outcome, string) {
	e.hasCFA = false
	if len(r) == 0 || r[0] != kindCFI {
		return Failed, "no rules"
	}
	rest := []byte(r[1:])
	cfa, rest := program(rest, targetCFA)
	ra, rest := program(rest, targetRA)
	switch {
	case bytes.HasPrefix(ra, []byte{opFail, byte(failUndefined), opEnd}):
		return Outermost, ""
	case cfa == nil:
		return Failed, e.fail(failMissing, ".cfa")
	case ra == nil && e.cpu.LR == None:
		return Outermost, ""
	case ra == nil:
		return Failed, e.fail(failMissing, ".ra")
	}
	v, _, ok := e.expression(cfa)
	if !ok {
		return Failed, e.text(".cfa")
	}
	e.cfa, e.hasCFA = v, true
	pc, _, ok := e.expression(ra)
	if !ok {
		return Failed, e.text(".ra")
	}
	caller.CFA = e.cfa
	caller.Registers = *e.callee
	caller.Known &= e.cpu.Saved
	caller.Set(e.cpu.SP, e.cfa)
	caller.Set(e.cpu.PC, pc)
	for len(rest) > 0 {
		reg := Reg(rest[0]) - targetReg
		if int(reg) >= e.cpu.Count() {
			return Failed, e.fail(failInvalid, "register "+strconv.Itoa(int(reg)))
		}
		v, after, ok := e.expression(rest[1:])
		if ok {
			caller.Set(reg, v)
		} else {
			if reg == e.cpu.SP || reg == e.cpu.PC {
				return Failed, e.text(e.cpu.RegName(reg))
			}
			caller.Forget(reg)
			e.reason = failNone
		}
		rest = after
	}
	return Found, ""
}

// program returns the program at the start of the rules, if it is that of a
// target, and the rules after it.
func program(rules []byte, target byte) (program, rest []byte) {
	if len(rules) == 0 || rules[0] != target {
		return nil, rules
	}
	return rules[1:], after(rules[1:])
}

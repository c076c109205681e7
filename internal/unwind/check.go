package unwind

import (
	"bytes"
	"strings"

	"symbolon/internal/unwind/rule"
)

// lowest is the least address that may be code. Systems do not map the pages
// below it, so that null pointers with offsets fault.
const lowest = 4096

// refuseCode returns the reason why an address cannot be one of code, "" if it
// can be.
func (p *Process) refuseCode(addr uint64) string {
	switch {
	case addr < lowest:
		return "too low for code"
	case p.CPU.Name == "amd64" && addr>>47 != 0 && addr>>47 != 1<<17-1:
		return "not a canonical address"
	}
	m := p.Module(addr)
	isCode, known := false, false
	if p.IsCode != nil {
		isCode, known = p.IsCode(addr)
	}
	if m == nil {
		if isCode {
			return ""
		}
		return "in no module"
	}
	switch rel := addr - m.Base; {
	case m.covers(rel):
		return ""
	case m.hasRules():
		return "neither unwind information nor symbols cover it"
	}
	if known && !isCode {
		return "not executable"
	}
	return ""
}

// hasRules reports whether the module has unwind information. Code that it does
// not cover is rare, while tables of symbols often have exported functions only.
func (m *Module) hasRules() bool { return m.Rules != nil && m.Rules.HasRules() }

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
func (p *Process) refuseReturn(pc uint64) string {
	if pc < lowest {
		return "too low for code"
	}
	return p.refuseCode(p.instruction(pc) - p.step())
}

// refuseGuess returns the reason why pc, which is a guess, cannot be a return
// address, "" if it can be.
func (p *Process) refuseGuess(pc uint64) string {
	if p.isTrampoline(pc) {
		return ""
	}
	if why := p.refuseReturn(pc); why != "" {
		return why
	}
	if (p.CPU.Name == "arm64" || p.CPU.LR != rule.None && p.CPU.Name != "arm" && p.CPU.Name != "riscv64") && pc&3 != 0 {
		return "not aligned"
	}
	kind, _ := p.callBefore(pc)
	if kind == callNone {
		return "no call before it"
	}
	lookup := p.instruction(pc) - p.step()
	if m := p.Module(lookup); kind == callUnknown && m != nil && m.Names != nil && m.Names.HasNames() && !m.covers(lookup-m.Base) {
		return "no symbol covers it"
	}
	return ""
}

// A match tells whether the call before a return address reaches a function.
type match uint8

const (
	matchUnknown match = iota
	matchNo            // it calls another function, which may have jumped to this one
	matchYes
)

// matches compares the target of the call before pc with the function at an
// address.
func (p *Process) matches(pc, callee uint64) match {
	kind, target := p.callBefore(pc)
	if kind != callDirect {
		return matchUnknown
	}
	start, name, ok := p.function(callee)
	switch {
	case !ok:
		return matchUnknown
	case target == start:
		return matchYes
	case strings.Contains(name, ".cold"): // a part of another function
		return matchUnknown
	case p.isStub(target):
		return matchUnknown
	}
	// An address between symbols may be a stub that jumps anywhere.
	if at, _, ok := p.function(target); ok && at == target {
		return matchNo
	}
	return matchUnknown
}

// isStub reports whether code at an address begins with a jump, as stubs for
// imported functions do on x86.
func (p *Process) isStub(addr uint64) bool {
	var b [8]byte
	code := b[:p.code(b[:], addr)]
	code = bytes.TrimPrefix(code, []byte("\xf3\x0f\x1e\xfa")) // ENDBR64
	code = bytes.TrimPrefix(code, []byte("\xf2"))
	return len(code) > 1 && p.CPU.LR == rule.None && (code[0] == 0xe9 || code[0] == 0xeb || code[0] == 0xff && code[1] == 0x25)
}

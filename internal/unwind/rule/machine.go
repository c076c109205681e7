package rule

import (
	"encoding/binary"
	"strconv"
)

// Reasons of failures. The first two are followed by a value.
const (
	whyUnknown   = "unknown value of register "
	whyMemory    = "unreadable memory at 0x"
	whyInvalid   = "invalid instruction"
	whyUndefined = "undefined"
	whyLacking   = "register that the CPU lacks"
	whyOwn       = "frame address in its own rule"
	whyZero      = "division by zero"
	whyAlign     = "invalid alignment: must be a power of two"
	whyStack     = "invalid expression: must leave one value"
	whyWide      = "value exceeds a word"
	whyMissing   = "no rule"
	whyVariable  = "variable without a value"
)

// value is an element of a stack: a number, or the number of a variable.
type value struct {
	n     uint64
	isVar bool
}

// machine is a stack machine. The first failure ends a program.
type machine struct {
	cpu    *CPU
	callee *Registers
	mem    Memory
	isBig  bool
	cfa    uint64
	hasCFA bool

	isWindows bool
	vars      [maxVars]uint32 // of a Windows program
	set       uint64          // mask of those that have a value
	assigned  uint64          // mask of those that the program assigned

	code  []byte // rest of the program
	stack [maxStack]value
	depth int
	word  [8]byte

	why string // reason of the failure
	reg Reg    // whyUnknown
	at  uint64 // whyMemory
}

func (m *machine) run(code []byte) bool {
	m.code, m.depth, m.why = code, 0, ""
	for len(m.code) > 0 && m.why == "" {
		op := m.code[0]
		m.code = m.code[1:]
		switch op {
		case opConst:
			m.push(uint64(m.number()))
		case opReg:
			m.push(m.register(Reg(m.byte())) + uint64(m.number()))
		case opCFA:
			if !m.hasCFA {
				m.fail(whyOwn)
			}
			m.push(m.cfa + uint64(m.number()))
		case opVar:
			if m.push(uint64(m.byte())); m.depth > 0 {
				m.stack[m.depth-1].isVar = true
			}
		case opUndefined:
			m.fail(whyUndefined)
		case opLacking:
			m.fail(whyLacking)
		case opAssign:
			v := uint32(m.pop())
			m.assign(m.variable(), v)
		case opRemove:
			m.set &^= 1 << m.variable()
		case opLoad:
			m.push(m.load(m.pop()))
		default:
			b := m.pop()
			m.push(m.compute(op, m.pop(), b))
		}
	}
	return m.why == ""
}

// fail sets the reason of the failure, unless there is one.
func (m *machine) fail(why string) {
	if m.why == "" {
		m.why = why
	}
}

func (m *machine) byte() byte {
	if len(m.code) == 0 {
		m.fail(whyInvalid)
		return 0
	}
	b := m.code[0]
	m.code = m.code[1:]
	return b
}

func (m *machine) number() int64 {
	n, used := binary.Varint(m.code)
	if used <= 0 {
		m.fail(whyInvalid)
		return 0
	}
	m.code = m.code[used:]
	return n
}

func (m *machine) push(n uint64) {
	if m.depth == maxStack {
		m.fail(whyStack)
		return
	}
	m.stack[m.depth] = value{n: n}
	m.depth++
}

// top removes the top of the stack.
func (m *machine) top() value {
	if m.depth == 0 {
		m.fail(whyStack)
		return value{}
	}
	m.depth--
	return m.stack[m.depth]
}

// pop removes the top of the stack and returns its number, or that of the
// variable.
func (m *machine) pop() uint64 {
	v := m.top()
	if !v.isVar {
		return v.n
	}
	if v.n >= maxVars || !m.isWindows || m.set>>v.n&1 == 0 {
		m.fail(whyVariable)
		return 0
	}
	return uint64(m.vars[v.n])
}

// variable removes the top of the stack, which must be a variable.
func (m *machine) variable() uint64 {
	v := m.top()
	if !v.isVar || v.n >= maxVars {
		m.fail(whyVariable)
		return 0
	}
	return v.n
}

func (m *machine) assign(v uint64, n uint32) {
	m.vars[v] = n
	m.set |= 1 << v
	m.assigned |= 1 << v
}

// register returns the value of a register of the callee.
func (m *machine) register(r Reg) uint64 {
	v, ok := m.callee.Get(r)
	if !ok && m.why == "" {
		m.why, m.reg = whyUnknown, r
	}
	return v
}

// load returns the word at an address.
func (m *machine) load(addr uint64) uint64 {
	if m.isWindows {
		addr = uint64(uint32(addr))
	}
	word := m.word[:m.cpu.Word]
	switch {
	case m.why != "":
		return 0
	case m.mem.ReadAt(word, addr) < len(word):
		m.why, m.at = whyMemory, addr
		return 0
	}
	return m.cpu.Uint(word, m.isBig)
}

func (m *machine) compute(op byte, a, b uint64) uint64 {
	if m.isWindows {
		a, b = uint64(uint32(a)), uint64(uint32(b))
	}
	switch {
	case op == opAdd:
		return a + b
	case op == opSub:
		return a - b
	case op == opMul:
		return a * b
	case op > opAlign:
		m.fail(whyInvalid)
	case op == opAlign && b != 0 && b&(b-1) == 0:
		return a &^ (b - 1)
	case op == opAlign:
		m.fail(whyAlign)
	case b == 0:
		m.fail(whyZero)
	case op == opDiv:
		return a / b
	default:
		return a % b
	}
	return 0
}

// text returns the reason of the failure of a rule.
func (m *machine) text(rule string) string {
	text := rule + ": " + m.why
	switch m.why {
	case whyUnknown:
		if int(m.reg) < m.cpu.Count() {
			return text + m.cpu.RegName(m.reg)
		}
		return text + strconv.Itoa(int(m.reg))
	case whyMemory:
		return text + strconv.FormatUint(m.at, 16)
	}
	return text
}

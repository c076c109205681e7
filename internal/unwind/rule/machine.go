package rule

import (
	"encoding/binary"
	"strconv"
	"sync"
)

// reason is why a rule cannot be evaluated.
type reason uint8

const (
	failNone reason = iota
	failInvalid
	failUndefined
	failLacking
	failUnknown
	failMemory
	failZero
	failAlign
	failStack
	failWide
	failMissing
	failVariable
	failOwn
	reasons
)

var reasonTexts = [reasons]string{
	failInvalid:   "invalid instruction",
	failUndefined: "undefined",
	failLacking:   "register that the CPU lacks",
	failUnknown:   "unknown value of register ",
	failMemory:    "unreadable memory at 0x",
	failZero:      "division by zero",
	failAlign:     "invalid alignment: must be a power of two",
	failStack:     "invalid expression: must leave one value",
	failWide:      "value exceeds a word",
	failMissing:   "no rule",
	failVariable:  "variable without a value",
	failOwn:       "frame address in its own rule",
}

// value is an element of a stack: a number, or the number of a variable.
type value struct {
	n     uint64
	isVar bool
}

// evaluator is a stack machine.
type evaluator struct {
	cpu    *CPU
	callee *Registers
	mem    Memory
	order  binary.ByteOrder
	cfa    uint64
	hasCFA bool

	code  []byte // rest of the program
	stack [maxStack]value
	depth int

	isWindows bool
	vars      [maxVars]uint32 // of a Windows program
	set       uint64          // mask of those that have a value
	assigned  uint64          // mask of those that the program assigned
	reason    reason          // of the failure
	reg       Reg             // failUnknown
	addr      uint64          // failMemory
	word      [8]byte
}

var evaluators = sync.Pool{New: func() any { return new(evaluator) }}

// after returns the bytes after the program at the start of code.
func after(code []byte) []byte {
	for len(code) > 0 {
		op := code[0]
		code = code[1:]
		switch op {
		case opEnd:
			return code
		case opVar, opFail:
			code = code[min(1, len(code)):]
		case opReg:
			code = code[min(1, len(code)):]
			fallthrough
		case opConst, opCFA:
			_, n := binary.Varint(code)
			code = code[max(n, 0):]
		}
	}
	return nil
}

// expression executes the program at the start of code, and returns the value
// that it leaves and the bytes after it.
func (e *evaluator) expression(code []byte) (v uint64, rest []byte, ok bool) {
	e.depth, e.code = 0, code
	if !e.run() {
		return 0, after(e.code), false
	}
	if e.depth != 1 {
		return 0, e.code, e.stop(failStack)
	}
	if v = e.stack[0].n; !e.cpu.fits(v) {
		return 0, e.code, e.stop(failWide)
	}
	return v, e.code, true
}

// run executes instructions up to the end of a program, or to one that fails.
func (e *evaluator) run() bool {
	for {
		switch op := e.byte(); op {
		case opEnd:
			return true
		case opConst:
			e.push(value{n: uint64(e.number())})
		case opReg:
			r := Reg(e.byte())
			v, ok := e.callee.Get(r)
			if !ok {
				e.reg = r
				e.stop(failUnknown)
			}
			e.push(value{n: v + uint64(e.number())})
		case opCFA:
			if !e.hasCFA {
				e.stop(failOwn)
			}
			e.push(value{n: e.cfa + uint64(e.number())})
		case opVar:
			e.push(value{n: uint64(e.byte()), isVar: true})
		case opFail:
			e.stop(min(max(reason(e.byte()), failInvalid), reasons-1))
		case opLoad:
			e.push(value{n: e.load(e.pop())})
		case opAssign:
			e.assign()
		case opRemove:
			e.remove()
		default:
			b := e.pop()
			a := e.pop()
			e.push(value{n: e.compute(op, a, b)})
		}
		if e.reason != failNone {
			return false
		}
	}
}

// stop sets the reason of a failure, unless there is one.
func (e *evaluator) stop(why reason) bool {
	if e.reason == failNone {
		e.reason = why
	}
	return false
}

// byte returns the next byte of the program.
func (e *evaluator) byte() byte {
	if len(e.code) == 0 {
		e.stop(failInvalid)
		return 0
	}
	b := e.code[0]
	e.code = e.code[1:]
	return b
}

// number returns the next number of the program.
func (e *evaluator) number() int64 {
	n, used := binary.Varint(e.code)
	if used <= 0 {
		e.code = nil
		e.stop(failInvalid)
		return 0
	}
	e.code = e.code[used:]
	return n
}

func (e *evaluator) push(v value) {
	if e.depth == maxStack {
		e.stop(failStack)
		return
	}
	e.stack[e.depth] = v
	e.depth++
}

// pop removes a value from the stack.
func (e *evaluator) pop() uint64 {
	if e.depth == 0 {
		e.stop(failStack)
		return 0
	}
	e.depth--
	v := e.stack[e.depth]
	if !v.isVar {
		return v.n
	}
	if !e.isWindows || v.n >= maxVars || e.set>>v.n&1 == 0 {
		e.stop(failVariable)
		return 0
	}
	return uint64(e.vars[v.n])
}

// load returns the word at an address.
func (e *evaluator) load(addr uint64) uint64 {
	if e.isWindows {
		addr = uint64(uint32(addr))
	}
	if e.reason != failNone {
		return 0
	}
	n := e.cpu.Word
	if e.mem.ReadAt(e.word[:n], addr) < n {
		e.addr = addr
		e.stop(failMemory)
		return 0
	}
	if n == 4 {
		return uint64(e.order.Uint32(e.word[:]))
	}
	return e.order.Uint64(e.word[:])
}

// compute returns the result of an operator.
func (e *evaluator) compute(op byte, a, b uint64) uint64 {
	if e.isWindows {
		a, b = uint64(uint32(a)), uint64(uint32(b))
	}
	switch op {
	case opAdd:
		return a + b
	case opSub:
		return a - b
	case opMul:
		return a * b
	case opDiv, opMod:
		if b == 0 {
			e.stop(failZero)
			return 0
		}
		if op == opDiv {
			return a / b
		}
		return a % b
	case opAlign:
		if b == 0 || b&(b-1) != 0 {
			e.stop(failAlign)
			return 0
		}
		return a &^ (b - 1)
	}
	e.stop(failInvalid)
	return 0
}

// popVar removes a variable from the stack.
func (e *evaluator) popVar() (v uint64, ok bool) {
	if e.depth == 0 {
		return 0, e.stop(failStack)
	}
	e.depth--
	top := e.stack[e.depth]
	if !top.isVar || top.n >= maxVars {
		return 0, e.stop(failVariable)
	}
	return top.n, true
}

// assign executes an assignment of the top of the stack to the variable below it.
func (e *evaluator) assign() {
	n := uint32(e.pop())
	if v, ok := e.popVar(); ok {
		e.vars[v] = n
		e.set |= 1 << v
		e.assigned |= 1 << v
	}
}

// remove makes the variable at the top of the stack undefined.
func (e *evaluator) remove() {
	if v, ok := e.popVar(); ok {
		e.set &^= 1 << v
	}
}

// fail returns the text of a failure of a rule.
func (e *evaluator) fail(why reason, rule string) string {
	e.reason = why
	return e.text(rule)
}

// text returns the text of the last failure, and forgets it.
func (e *evaluator) text(rule string) string {
	text := rule + ": " + reasonTexts[e.reason]
	switch e.reason {
	case failUnknown:
		name := strconv.Itoa(int(e.reg))
		if int(e.reg) < e.cpu.Count() {
			name = e.cpu.RegName(e.reg)
		}
		text += name
	case failMemory:
		text += strconv.FormatUint(e.addr, 16)
	}
	e.reason = failNone
	return text
}

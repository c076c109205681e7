package cfi

import (
	"encoding/binary"
	"strconv"

	"symbolon/internal/bin"
)

// Limits of an expression that becomes text: values that are duplicated on its
// stack are written twice.
const (
	maxExpression = 256
	maxTerm       = 512
	maxTerms      = 32
)

// postfix translates DWARF expressions to the notation of Breakpad.
type postfix struct {
	terms []term
	names *Registers
	order binary.ByteOrder // of constants
}

// term is a value on the stack of an expression.
type term struct {
	text     string
	isNumber bool
	number   uint64
	below    uint64 // the value is less than this; 0: no bound
}

// translate appends the translation of expr, which starts with the CFA on the
// stack unless it computes the CFA. Breakpad's notation has no jumps,
// comparisons or bit operations. Those that compilers need are expressed by
// arithmetic: the low bits of a value as a remainder, and the comparison of a
// remainder with a number as a quotient.
func (p *postfix) translate(dst, expr []byte, isCFA bool) (_ []byte, ok bool) {
	p.terms = p.terms[:0]
	if !isCFA {
		p.push(term{text: ".cfa"})
	}
	for c := bin.NewCursor(expr, p.order); c.Len() > 0; {
		if !p.operation(c) || c.Err() != nil || c.Off() > maxExpression || len(p.terms) > maxTerms {
			return dst, false
		}
	}
	if len(p.terms) == 0 {
		return dst, false
	}
	text := p.pop().text
	return append(dst, text...), len(text) <= maxTerm
}

// operation executes the operation (DW_OP) at c, if it can be translated.
func (p *postfix) operation(c *bin.Cursor) bool {
	op := c.U8()
	var n uint64
	switch {
	case op == 0x96: // nop
		return true
	case op >= 0x70 && op < 0x90: // breg
		return p.register(uint64(op-0x70), c.Sleb())
	case op == 0x92: // bregx
		return p.register(c.Uleb(), c.Sleb())
	case op >= 0x30 && op < 0x50: // lit
		n = uint64(op - 0x30)
	case op == 0x08: // const1u, const1s, const2u and so on
		n = uint64(c.U8())
	case op == 0x09:
		n = uint64(int8(c.U8()))
	case op == 0x0a:
		n = uint64(c.U16())
	case op == 0x0b:
		n = uint64(int16(c.U16()))
	case op == 0x0c:
		n = uint64(c.U32())
	case op == 0x0d:
		n = uint64(int32(c.U32()))
	case op == 0x0e, op == 0x0f:
		n = c.U64()
	case op == 0x10: // constu
		n = c.Uleb()
	case op == 0x11: // consts
		n = uint64(c.Sleb())
	case op == 0x23: // plus_uconst
		p.push(number(c.Uleb()))
		return p.compute(0x22)
	default:
		return p.compute(op)
	}
	p.push(number(n))
	return true
}

// register pushes the sum of a register and a number, if the register has a
// name.
func (p *postfix) register(reg uint64, n int64) bool {
	if reg >= uint64(len(p.names.names)) || p.names.names[reg] == "" {
		return false
	}
	p.push(term{text: p.names.names[reg]})
	if n != 0 {
		p.with(p.pop(), " +", uint64(n), 0)
	}
	return true
}

// compute executes an operation without operands, if it can be translated.
func (p *postfix) compute(op uint8) bool {
	n := len(p.terms)
	if n == 0 {
		return false
	}
	b := p.pop()
	switch op {
	case 0x06: // deref
		p.push(term{text: b.text + " ^"})
		return len(b.text) <= maxTerm
	case 0x12: // dup
		p.push(b, b)
		return true
	case 0x13: // drop
		return true
	}
	if n == 1 {
		return false
	}
	a := p.pop()
	if len(a.text)+len(b.text) > maxTerm {
		return false
	}
	switch op {
	case 0x14: // over
		p.push(a, b, a)
	case 0x16: // swap
		p.push(b, a)
	case 0x1c: // minus
		p.push(term{text: a.text + " " + b.text + " -"})
	case 0x1e: // mul
		p.push(term{text: a.text + " " + b.text + " *"})
	case 0x22: // plus
		p.push(term{text: a.text + " " + b.text + " +"})
	default:
		return b.isNumber && p.shift(op, a, b.number)
	}
	return true
}

// shift executes an operation with a constant that Breakpad's notation lacks.
func (p *postfix) shift(op uint8, a term, n uint64) bool {
	switch {
	case op == 0x24 && n < 63: // shl
		p.with(a, " *", 1<<n, 0)
	case op == 0x25 && n < 63: // shr
		p.with(a, " /", 1<<n, 0)
	case op == 0x1a && n < 1<<62 && n&(n+1) == 0: // and: the low bits
		p.with(a, " %", n+1, n+1)
	case op == 0x1a && n >= 1<<63 && -n&(-n-1) == 0: // and: all but the low bits
		p.with(a, " @", -n, 0)
	case op == 0x2a && n > 0 && n < a.below: // ge
		p.with(a, " +", a.below-n, 0)
		p.with(p.pop(), " /", a.below, 2)
	default:
		return false
	}
	return true
}

// with pushes the result of an operator on a and a number.
func (p *postfix) with(a term, operator string, n, below uint64) {
	p.push(term{text: a.text + " " + number(n).text + operator, below: below})
}

func number(n uint64) term {
	return term{text: strconv.FormatInt(int64(n), 10), isNumber: true, number: n}
}

func (p *postfix) push(t ...term) { p.terms = append(p.terms, t...) }

// pop removes the last term, which must exist.
func (p *postfix) pop() term {
	t := p.terms[len(p.terms)-1]
	p.terms = p.terms[:len(p.terms)-1]
	return t
}

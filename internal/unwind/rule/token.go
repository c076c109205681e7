package rule

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"strings"
)

// word removes the first word of text and returns it, nothing at its end.
func word(text *[]byte) []byte {
	b := *text
	i := 0
	for i < len(b) && b[i] <= ' ' {
		i++
	}
	start := i
	for i < len(b) && b[i] > ' ' {
		i++
	}
	*text = b[i:]
	return b[start:i]
}

// operator returns the instruction of an operator, -1 if token is another.
func operator(token []byte) int {
	if len(token) == 1 {
		if i := strings.IndexByte(operators, token[0]); i >= 0 {
			return opLoad + i
		}
	}
	return -1
}

func number(token []byte, bits int) (int64, bool) {
	if c := token[0]; c > '9' || c < '0' && c != '-' && c != '+' {
		return 0, false
	}
	n, err := strconv.ParseInt(string(token), 10, bits)
	return n, err == nil
}

// dollar may be before the name of a register.
var dollar = []byte("$")

// An expression is the program of a rule of CFI.
type expression struct {
	code         []byte
	last, before int // offsets of the last two instructions; -1: none that may be replaced
}

func (x *expression) reset() { x.code, x.last, x.before = x.code[:0], -1, -1 }

// token appends the instruction of a token.
func (x *expression) token(cpu *CPU, token []byte) {
	if op := operator(token); op >= 0 {
		x.operator(byte(op))
		return
	}
	x.before, x.last = x.last, len(x.code)
	n, isNumber := number(token, 64)
	reg, isReg := cpu.numbers[string(bytes.TrimPrefix(token, dollar))]
	switch {
	case isNumber:
		x.code = binary.AppendVarint(append(x.code, opConst), n)
	case isReg:
		x.code = append(x.code, opReg, byte(reg), 0)
	case string(token) == ".cfa":
		x.code = append(x.code, opCFA, 0)
	case string(token) == ".undef":
		x.code = append(x.code, opUndefined)
	default:
		x.code = append(x.code, opLacking)
	}
}

// operator appends an operator. The sum of a register and a number is one
// instruction.
func (x *expression) operator(op byte) {
	if (op == opAdd || op == opSub) && x.before >= 0 && x.code[x.last] == opConst {
		at := x.before + 1 // of the number of the instruction before
		switch x.code[x.before] {
		case opReg:
			at++
			fallthrough
		case opCFA:
			n, _ := binary.Varint(x.code[at:])
			add, _ := binary.Varint(x.code[x.last+1:])
			if op == opSub {
				add = -add
			}
			x.code = binary.AppendVarint(x.code[:at], n+add)
			x.last, x.before = x.before, -1
			return
		}
	}
	x.before, x.last = -1, len(x.code)
	x.code = append(x.code, op)
}

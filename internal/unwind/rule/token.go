package rule

import (
	"encoding/binary"
	"strconv"
)

func trimDollar(name []byte) []byte {
	if len(name) > 0 && name[0] == '$' {
		return name[1:]
	}
	return name
}

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

// An assembler appends instructions to a program.
type assembler struct {
	last, before int // offsets of the last two instructions; -1: none that may be replaced
}

func (a *assembler) reset() { a.last, a.before = -1, -1 }

// token appends the instruction of a token of a CFI rule.
func (a *assembler) token(cpu *CPU, out *[]byte, token []byte) {
	if op := operator(token); op != 0 {
		a.operator(out, op)
		return
	}
	at := len(*out)
	n, isNumber := number(token, 64)
	switch {
	case isNumber:
		*out = binary.AppendVarint(append(*out, opConst), n)
	case string(token) == ".cfa":
		*out = append(*out, opCFA, 0)
	case string(token) == ".undef":
		*out = append(*out, opFail, byte(failUndefined))
	default:
		if r, ok := cpu.numbers[string(trimDollar(token))]; ok {
			*out = append(*out, opReg, byte(r), 0)
		} else {
			*out = append(*out, opFail, byte(failLacking))
		}
	}
	a.before, a.last = a.last, at
}

// operator appends an operator. The sum of a register and a number is one
// instruction.
func (a *assembler) operator(out *[]byte, op byte) {
	code := *out
	if a.before >= 0 && (op == opAdd || op == opSub) && code[a.last] == opConst && (code[a.before] == opReg || code[a.before] == opCFA) {
		add, _ := binary.Varint(code[a.last+1:])
		if op == opSub {
			add = -add
		}
		at := a.before + 1
		if code[a.before] == opReg {
			at++
		}
		n, _ := binary.Varint(code[at:])
		*out = binary.AppendVarint(code[:at], n+add)
		a.last, a.before = a.before, -1
		return
	}
	a.before, a.last = -1, len(code)
	*out = append(code, op)
}

// operator returns the instruction of an operator, 0 if token is another.
func operator(token []byte) byte {
	if len(token) != 1 {
		return 0
	}
	switch token[0] {
	case '+':
		return opAdd
	case '-':
		return opSub
	case '*':
		return opMul
	case '/':
		return opDiv
	case '%':
		return opMod
	case '@':
		return opAlign
	case '^':
		return opLoad
	}
	return 0
}

// number returns the value of a decimal number.
func number(token []byte, bits int) (int64, bool) {
	if c := token[0]; c > '9' || c < '0' && c != '-' && c != '+' {
		return 0, false
	}
	n, err := strconv.ParseInt(string(token), 10, bits)
	return n, err == nil
}

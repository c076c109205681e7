package rule

import (
	"bytes"
	"encoding/binary"
	"slices"

	"symbolon/internal/sym"
)

// Variables of programs of Windows. Those before have the numbers of registers.
const (
	varParams = iota + 16
	varCalleeParams
	varSaved
	varLocals
	varSearch
	varSearchStart
	varOthers
)

// Registers of x86.
const (
	ebx     Reg = 3
	outputs Reg = 6 // eip to edi: those that a program returns
)

// codeView has the names of registers by their numbers in CodeView.
var codeView = [...]string{17: "eax", 18: "ecx", 19: "edx", 20: "ebx", 21: "esp", 22: "ebp", 23: "esi", 24: "edi", 33: "eip"}

// appendWindows appends the row of a record of type 0 or 4. It returns false if
// the record is invalid.
func appendWindows(row Row, u *sym.Unwind) (_ Row, ok bool) {
	w := &u.Windows
	isProgram := w.Type == 4
	if isProgram != w.HasProgram {
		return row, false
	}
	kind, flags := byte(kindFPO), byte(0)
	if isProgram {
		kind = kindProgram
		if bytes.IndexByte(u.Rules, '@') >= 0 {
			flags |= flagAlign
		}
	} else if w.UsesBase {
		flags |= flagBase
	}
	row = append(row, kind)
	for _, n := range [...]uint32{w.Params, w.Saved, w.Locals} {
		row = binary.AppendUvarint(row, uint64(n))
	}
	row = append(row, flags)
	if isProgram {
		return appendProgram(row, u.Rules)
	}
	return row, true
}

// appendProgram appends a program of Windows. It returns false if it is invalid
// or too long.
func appendProgram(row Row, text []byte) (Row, bool) {
	var names [maxVars - varOthers][]byte
	count := 0
	isUndefined := false // the last instruction is .undef
	for token := word(&text); len(token) > 0; token = word(&text) {
		if token[0] == '=' { // may be glued to the next token
			if isUndefined {
				row = append(row[:len(row)-2], opRemove)
			} else {
				row = append(row, opAssign)
			}
			isUndefined = false
			if token = token[1:]; len(token) == 0 {
				continue
			}
		}
		op := operator(token)
		isUndefined = string(token) == ".undef"
		switch {
		case op != 0:
			row = append(row, op)
		case isUndefined:
			row = append(row, opFail, byte(failUndefined))
		case token[0] == '$' || token[0] == '.':
			v := variable(token)
			if v == varOthers {
				i := slices.IndexFunc(names[:count], func(n []byte) bool { return bytes.Equal(n, token) })
				if i < 0 {
					i, count = count, count+1
				}
				if v += i; v >= maxVars {
					return row, false
				}
				names[i] = token
			}
			row = append(row, opVar, byte(v))
		default:
			n, ok := number(token, 32)
			if !ok {
				return row, false
			}
			row = binary.AppendVarint(append(row, opConst), n)
		}
		if len(row) >= maxRow {
			return row, false
		}
	}
	return append(row, opEnd), true
}

// variable returns the number of a variable, varOthers for one that the program
// names.
func variable(name []byte) int {
	switch string(name) {
	case ".cbParams":
		return varParams
	case ".cbCalleeParams":
		return varCalleeParams
	case ".cbSavedRegs":
		return varSaved
	case ".cbLocals":
		return varLocals
	case ".raSearch":
		return varSearch
	case ".raSearchStart":
		return varSearchStart
	}
	if name[0] == '$' {
		if r, ok := x86.numbers[string(name[1:])]; ok {
			return int(r)
		}
		if len(name) == 3 {
			if n, ok := number(name[1:], 8); ok && n >= 0 && n < int64(len(codeView)) && codeView[n] != "" {
				return int(x86.numbers[codeView[n]])
			}
		}
	}
	return varOthers
}

package rule

import (
	"bytes"
	"encoding/binary"
	"slices"

	"symbolon/internal/sym"
)

// codeView has the names of registers by their numbers in CodeView, which the
// programs of newer PDBs contain.
var codeView = [...]string{17: "eax", 18: "ecx", 19: "edx", 20: "ebx", 21: "esp", 22: "ebp", 23: "esi", 24: "edi", 33: "eip"}

// appendFrame appends the row of a record of Windows of type 0 or 4. It returns
// false if the record is invalid.
func appendFrame(row Row, u *sym.Unwind) (_ Row, ok bool) {
	w := &u.Windows
	if (w.Type == 4) != w.HasProgram {
		return row, false
	}
	var code []byte
	kind, flags := byte(kindFrame), byte(0)
	if w.HasProgram {
		kind = kindProgram
		if code, flags, ok = compileProgram(make([]byte, 0, 128), u.Rules); !ok {
			return row, false
		}
	} else if w.UsesBase {
		flags = flagBase
	}
	row = append(row, kind)
	for _, n := range [...]uint32{w.Params, w.Saved, w.Locals} {
		row = binary.AppendUvarint(row, uint64(n))
	}
	if row = append(row, flags); w.HasProgram {
		row = appendProgram(row, code)
	}
	return row, true
}

// compileProgram appends the instructions of a program of Windows. It returns
// false if it is invalid or too long.
func compileProgram(code, text []byte) (_ []byte, flags byte, ok bool) {
	var names [maxVars - varOthers][]byte
	count := 0
	isUndefined := false // the last instruction is .undef
	for token := word(&text); len(token) > 0; token = word(&text) {
		if token[0] == '=' { // may be glued to the next token
			op := byte(opAssign)
			if isUndefined {
				op, code = opRemove, code[:len(code)-1]
			}
			isUndefined = false
			code = append(code, op)
			if token = token[1:]; len(token) == 0 {
				continue
			}
		}
		op := operator(token)
		isUndefined = string(token) == ".undef"
		switch {
		case op >= 0:
			if code = append(code, byte(op)); op == opAlign {
				flags = flagAlign
			}
		case isUndefined:
			code = append(code, opUndefined)
		case token[0] == '$' || token[0] == '.':
			v := variable(token)
			if v == varOthers {
				i := slices.IndexFunc(names[:count], func(n []byte) bool { return bytes.Equal(n, token) })
				if i < 0 && count == len(names) {
					return code, flags, false
				} else if i < 0 {
					i, count = count, count+1
				}
				names[i] = token
				v += i
			}
			code = append(code, opVar, byte(v))
		default:
			n, ok := number(token, 32)
			if !ok {
				return code, flags, false
			}
			code = binary.AppendVarint(append(code, opConst), n)
		}
		if len(code) > maxRow/2 {
			return code, flags, false
		}
	}
	return code, flags, true
}

// variable returns the number of a variable, varOthers for one without a meaning.
func variable(name []byte) int {
	if i := slices.Index(varNames[:], string(name)); i >= 0 {
		return varParams + i
	}
	if r, ok := x86.numbers[string(bytes.TrimPrefix(name, dollar))]; ok {
		return int(r)
	}
	if name[0] == '$' && len(name) == 3 {
		if n, ok := number(name[1:], 8); ok && n >= 0 && int(n) < len(codeView) && codeView[n] != "" {
			return int(x86.numbers[codeView[n]])
		}
	}
	return varOthers
}

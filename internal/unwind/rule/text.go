package rule

import (
	"bytes"
	"strconv"

	"symbolon/internal/sym"
)

// Records calls yield with records that have r as the row from start to end: one
// of Windows and one of CFI, if r has both. Their text is valid until yield
// returns.
func (r Row) Records(cpu *CPU, start, end uint64, yield func(*sym.Unwind) error) error {
	u := sym.Unwind{Kind: sym.UnwindWindows, Addr: start, Size: end - start}
	if isWindows, hasProgram := r.IsWindows(); isWindows {
		var f frame
		f, r = r.frame()
		u.Windows = sym.WindowsFrame{
			Params: f.params, Saved: f.saved, Locals: f.locals, HasProgram: hasProgram, UsesBase: f.flags&flagBase != 0,
		}
		if hasProgram {
			u.Windows.Type = 4
			u.Rules = bytes.TrimPrefix(appendText(nil, x86, f.program), []byte(" "))
		}
		if err := yield(&u); err != nil {
			return err
		}
	}
	if len(r) == 0 || r[0] != kindCFI {
		return nil
	}
	u = sym.Unwind{Addr: start, Size: end - start}
	for rest := []byte(r[1:]); len(rest) > 0; {
		target := rest[0]
		var program []byte
		program, rest = cut(rest[1:])
		name := ".cfa"
		if target == targetRA {
			name = ".ra"
		} else if reg := int(target) - targetReg; reg >= cpu.Count() {
			continue
		} else if reg >= 0 {
			name = cpu.RegName(Reg(reg))
		}
		if len(u.Rules) > 0 {
			u.Rules = append(u.Rules, ' ')
		}
		u.Rules = appendText(append(append(u.Rules, name...), ':'), cpu, program)
	}
	return yield(&u)
}

// appendText appends the tokens of a program, with a blank before each.
func appendText(dst []byte, cpu *CPU, program []byte) []byte {
	m := machine{code: program}
	for len(m.code) > 0 && m.why == "" {
		op := m.byte()
		dst = append(dst, ' ')
		switch {
		case op == opConst:
			dst = strconv.AppendInt(dst, m.number(), 10)
		case op == opReg:
			if r := int(m.byte()); r < cpu.Count() {
				dst = append(dst, cpu.RegName(Reg(r))...)
			} else {
				dst = append(dst, '?')
			}
			dst = appendSum(dst, m.number())
		case op == opCFA:
			dst = appendSum(append(dst, ".cfa"...), m.number())
		case op == opVar:
			dst = appendVariable(dst, int(m.byte()))
		case op == opUndefined:
			dst = append(dst, ".undef"...)
		case op == opAssign:
			dst = append(dst, '=')
		case op == opRemove:
			dst = append(dst, ".undef ="...)
		case op >= opLoad && op <= opAlign:
			dst = append(dst, operators[op-opLoad])
		default:
			dst = append(dst, '?') // a register that the CPU lacks
		}
	}
	return dst
}

// appendSum appends the addition of n.
func appendSum(dst []byte, n int64) []byte {
	if n == 0 {
		return dst
	}
	return append(strconv.AppendInt(append(dst, ' '), n, 10), " +"...)
}

// appendVariable appends the name of a variable of a Windows program.
func appendVariable(dst []byte, v int) []byte {
	switch {
	case v < x86.Count():
		return append(append(dst, '$'), x86.RegName(Reg(v))...)
	case v >= varParams && v < varOthers:
		return append(dst, varNames[v-varParams]...)
	}
	return strconv.AppendInt(append(dst, "$T"...), int64(v), 10)
}

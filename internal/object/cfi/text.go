// Package cfi writes the unwind information of DWARF as STACK CFI records of
// Breakpad. Those cannot express everything: a register without a name in
// Breakpad and an expression without a counterpart are omitted, and the code of
// a CFA that cannot be expressed is a gap.
//
// Input is hostile: an expression has at most 256 bytes, 32 values at a time
// and 512 bytes of text, so that the text of a row is bounded.
package cfi

import (
	"bytes"
	"strconv"

	"symbolon/internal/format/dwarf"
)

// A Text writes FDEs as records. The zero value with Base and Registers set is
// ready to use; it belongs to one goroutine.
type Text struct {
	Base      uint64 // address of the image; the records are relative to it
	Registers Registers
	Untold    int // number of rules omitted because the records cannot express them

	m       dwarf.FrameMachine
	prev    dwarf.FrameRow // the previous row
	started bool           // there is an INIT record, which begins at start; body is the text after its size
	start   uint64
	body    []byte
	expr    postfix
}

// Append appends the records of an FDE: an INIT record with all rules at its
// start, then the changes. If the CFA cannot be expressed, there is a gap. An
// FDE before the image has no records. An error is a Problem; the records
// before the damage are appended.
func (t *Text) Append(dst []byte, f *dwarf.FDE) ([]byte, error) {
	if f.Start < t.Base {
		return dst, nil
	}
	t.started = false
	t.expr.names, t.expr.order = &t.Registers, f.Order()
	err := f.Rows(&t.m, func(row *dwarf.FrameRow) bool {
		dst = t.row(dst, row)
		return true
	})
	return t.close(dst), err
}

func (t *Text) row(dst []byte, row *dwarf.FrameRow) []byte {
	if !t.started {
		t.body = t.body[:0]
		t.prev.Regs, t.prev.CFA = t.prev.Regs[:0], dwarf.Rule{}
	}
	before := len(t.body)
	if t.started {
		t.body = strconv.AppendUint(append(t.body, "STACK CFI "...), row.Start-t.Base, 16)
	}
	bare := len(t.body)
	body, ok := t.changes(t.body, row)
	if !ok {
		t.Untold++
		t.body = body[:before]
		dst = t.close(dst)
		t.started = false
		return dst
	}
	if t.body = append(body, '\n'); t.started && len(body) == bare {
		t.body = body[:before] // nothing changes
	}
	if !t.started {
		t.started, t.start = true, row.Start
	}
	regs := append(t.prev.Regs[:0], row.Regs...)
	t.prev = *row
	t.prev.Regs = regs
	return dst
}

// close writes the pending INIT record and the records after it.
func (t *Text) close(dst []byte) []byte {
	if !t.started {
		return dst
	}
	dst = strconv.AppendUint(append(dst, "STACK CFI INIT "...), t.start-t.Base, 16)
	dst = strconv.AppendUint(append(dst, ' '), t.prev.End-t.start, 16)
	return append(dst, t.body...)
}

// changes appends the rules of row that differ from the previous row. It
// returns false if the CFA cannot be expressed.
func (t *Text) changes(dst []byte, row *dwarf.FrameRow) (_ []byte, ok bool) {
	if !t.started || !equal(row.CFA, t.prev.CFA) {
		dst = append(dst, " .cfa: "...)
		if dst, ok = t.rule(dst, row.CFA, 0, true); !ok {
			return dst, false
		}
	}
	if _, ok := row.Find(row.RA); !ok && !t.started && t.Registers.link {
		dst = t.change(dst, row.RA, dwarf.Rule{Kind: dwarf.RuleSameValue}, row)
	}
	was, now := t.prev.Regs, row.Regs
	for len(was) > 0 || len(now) > 0 {
		switch {
		case len(now) == 0 || len(was) > 0 && was[0].Reg < now[0].Reg:
			dst = t.change(dst, was[0].Reg, dwarf.Rule{Kind: dwarf.RuleSameValue}, row)
			was = was[1:]
			continue
		case len(was) == 0 || was[0].Reg > now[0].Reg:
			dst = t.change(dst, now[0].Reg, now[0].Rule, row)
		default:
			if !equal(was[0].Rule, now[0].Rule) {
				dst = t.change(dst, now[0].Reg, now[0].Rule, row)
			}
			was = was[1:]
		}
		now = now[1:]
	}
	return dst, true
}

// change appends a rule. One that cannot be expressed is omitted, or
// invalidates the previous one.
func (t *Text) change(dst []byte, reg uint16, rule dwarf.Rule, row *dwarf.FrameRow) []byte {
	name := t.Registers.name(reg)
	if reg == row.RA {
		name = ".ra"
	}
	if name == "" {
		t.Untold++
		return dst
	}
	start := len(dst)
	dst = append(append(append(dst, ' '), name...), ": "...)
	dst, ok := t.rule(dst, rule, reg, false)
	if ok {
		return dst
	}
	if rule.Kind != dwarf.RuleUndefined {
		t.Untold++
	}
	dst = dst[:start]
	if _, had := t.prev.Find(reg); had {
		dst = append(append(append(dst, ' '), name...), ": .undef"...)
	}
	return dst
}

// rule appends the expression for the value of reg, or for the CFA.
func (t *Text) rule(dst []byte, r dwarf.Rule, reg uint16, isCFA bool) (_ []byte, ok bool) {
	from := r.Reg
	switch r.Kind {
	case dwarf.RuleOffset, dwarf.RuleValOffset:
		dst = strconv.AppendInt(append(dst, ".cfa "...), r.Offset, 10)
		if dst = append(dst, " +"...); r.Kind == dwarf.RuleOffset {
			dst = append(dst, " ^"...)
		}
		return dst, true
	case dwarf.RuleExpression, dwarf.RuleValExpression:
		if dst, ok = t.expr.translate(dst, r.Expr, isCFA); ok && r.Kind == dwarf.RuleExpression {
			dst = append(dst, " ^"...)
		}
		return dst, ok
	case dwarf.RuleSameValue:
		from = reg
	case dwarf.RuleRegister, dwarf.RuleRegisterOffset:
	default:
		return dst, false
	}
	name := t.Registers.name(from)
	dst = append(dst, name...)
	if r.Kind == dwarf.RuleRegisterOffset {
		dst = append(strconv.AppendInt(append(dst, ' '), r.Offset, 10), " +"...)
	}
	return dst, name != ""
}

func equal(a, b dwarf.Rule) bool {
	return a.Kind == b.Kind && a.Reg == b.Reg && a.Offset == b.Offset && bytes.Equal(a.Expr, b.Expr)
}

// Package cfi translates the unwind information of DWARF to records of package
// sym. Those cannot express everything: a register without a name there and an
// expression without a counterpart are omitted, and the code of a CFA that cannot
// be expressed is a gap.
//
// Input is hostile: an expression has at most 256 bytes, 32 values at a time
// and 512 bytes of text, so that the text of a row is bounded.
package cfi

import (
	"bytes"
	"strconv"

	"symbolon/internal/format/frame"
	"symbolon/internal/sym"
)

// A Text makes records of FDEs. The zero value with Base and Registers set is
// ready to use; it belongs to one goroutine.
type Text struct {
	Base      uint64 // address of the image; the records are relative to it
	Registers Registers
	Untold    int // number of rules omitted because the records cannot express them

	m       frame.Machine
	prev    frame.Row // the previous row
	started bool      // buf has records
	buf     sym.UnwindBuffer
	expr    postfix
}

// Each calls yield with the records of an FDE until it returns an error: one with
// all rules at its start, then the changes. If the CFA cannot be expressed, there
// is a gap. An FDE before the image has no records. Damage is a Problem; the
// records before it are yielded.
func (t *Text) Each(f *frame.FDE, yield func(*sym.Unwind) error) (damage, err error) {
	if f.Start < t.Base {
		return nil, nil
	}
	t.started = false
	t.expr.names, t.expr.order = &t.Registers, f.Order()
	damage = f.Rows(&t.m, func(row *frame.Row) bool {
		err = t.row(row, yield)
		return err == nil
	})
	if err == nil {
		err = t.close(yield)
	}
	return damage, err
}

// row adds a record for a row. It yields those before a gap.
func (t *Text) row(row *frame.Row, yield func(*sym.Unwind) error) error {
	if !t.started {
		t.buf.Reset()
		t.prev.Regs, t.prev.CFA = t.prev.Regs[:0], frame.Rule{}
	}
	rules, ok := t.changes(t.buf.Rules, row)
	if !ok {
		t.Untold++
		t.buf.Cut()
		err := t.close(yield)
		t.started = false
		return err
	}
	if t.buf.Rules = rules; !t.started || !t.buf.IsBare() {
		t.buf.Add(row.Start - t.Base)
	}
	t.started = true
	regs := append(t.prev.Regs[:0], row.Regs...)
	t.prev = *row
	t.prev.Regs = regs
	return nil
}

// close yields the records that have been added.
func (t *Text) close(yield func(*sym.Unwind) error) error {
	if !t.started {
		return nil
	}
	return t.buf.Each(t.prev.End-t.Base, yield)
}

// changes appends the rules of row that differ from the previous row. It
// returns false if the CFA cannot be expressed.
func (t *Text) changes(dst []byte, row *frame.Row) (_ []byte, ok bool) {
	if !t.started || !equal(&row.CFA, &t.prev.CFA) {
		dst = append(dst, " .cfa: "...)
		if dst, ok = t.rule(dst, row.CFA, 0, true); !ok {
			return dst, false
		}
	}
	if !t.started && t.Registers.link {
		if _, ok := row.Find(row.RA); !ok {
			dst = t.change(dst, row.RA, frame.Rule{Kind: frame.RuleSameValue}, row)
		}
	}
	was, now := t.prev.Regs, row.Regs
	for len(was) > 0 || len(now) > 0 {
		switch {
		case len(now) == 0 || len(was) > 0 && was[0].Reg < now[0].Reg:
			dst = t.change(dst, was[0].Reg, frame.Rule{Kind: frame.RuleSameValue}, row)
			was = was[1:]
			continue
		case len(was) == 0 || was[0].Reg > now[0].Reg:
			dst = t.change(dst, now[0].Reg, now[0].Rule, row)
		default:
			if !equal(&was[0].Rule, &now[0].Rule) {
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
func (t *Text) change(dst []byte, reg uint16, rule frame.Rule, row *frame.Row) []byte {
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
	if rule.Kind != frame.RuleUndefined {
		t.Untold++
	}
	dst = dst[:start]
	if _, had := t.prev.Find(reg); had || reg == row.RA && rule.Kind == frame.RuleUndefined { // the last frame of a stack
		dst = append(append(append(dst, ' '), name...), ": .undef"...)
	}
	return dst
}

// rule appends the expression for the value of reg, or for the CFA.
func (t *Text) rule(dst []byte, r frame.Rule, reg uint16, isCFA bool) (_ []byte, ok bool) {
	from := r.Reg
	switch r.Kind {
	case frame.RuleOffset, frame.RuleValOffset:
		dst = strconv.AppendInt(append(dst, ".cfa "...), r.Offset, 10)
		if dst = append(dst, " +"...); r.Kind == frame.RuleOffset {
			dst = append(dst, " ^"...)
		}
		return dst, true
	case frame.RuleExpression, frame.RuleValExpression:
		if dst, ok = t.expr.translate(dst, r.Expr, isCFA); ok && r.Kind == frame.RuleExpression {
			dst = append(dst, " ^"...)
		}
		return dst, ok
	case frame.RuleSameValue:
		from = reg
	case frame.RuleRegister, frame.RuleRegisterOffset:
	default:
		return dst, false
	}
	name := t.Registers.name(from)
	dst = append(dst, name...)
	if r.Kind == frame.RuleRegisterOffset {
		dst = append(strconv.AppendInt(append(dst, ' '), r.Offset, 10), " +"...)
	}
	return dst, name != ""
}

func equal(a, b *frame.Rule) bool {
	return a.Kind == b.Kind && a.Reg == b.Reg && a.Offset == b.Offset && bytes.Equal(a.Expr, b.Expr)
}

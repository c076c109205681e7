package frame

import (
	"slices"

	"symbolon/internal/bin"
)

// Row has the rules that are valid from Start to End.
type Row struct {
	Start, End uint64
	CFA        Rule      // RuleRegisterOffset or RuleValExpression; RuleNone if unset
	RA         uint16    // the register of the rule for the return address
	Signed     bool      // arm64: the return address is signed
	Regs       []RegRule // by register
}

// RegRule is the rule to restore a register of the calling frame.
type RegRule struct {
	Reg  uint16
	Rule Rule
}

// Rule describes a value. Fields that its Kind does not mention are zero.
type Rule struct {
	Kind   RuleKind
	Reg    uint16
	Offset int64
	Expr   []byte // aliases the section
}

// RuleKind is the kind of a Rule.
type RuleKind uint8

const (
	RuleNone           RuleKind = iota
	RuleUndefined               // the value is lost
	RuleSameValue               // it is still in the register
	RuleOffset                  // it is stored at CFA+Offset
	RuleValOffset               // it is CFA+Offset
	RuleRegister                // it is in Reg
	RuleExpression              // it is stored at the address computed by Expr from the CFA
	RuleValExpression           // it is computed by Expr from the CFA; or Expr computes the CFA
	RuleRegisterOffset          // the CFA is Reg+Offset
)

// Limits that real code does not reach.
const (
	maxRegister   = 1<<16 - 1
	maxRules      = 192
	maxRemembered = 64
)

// Machine executes the instructions of FDEs. It can be reused, and belongs
// to one goroutine; the zero value is ready to use.
type Machine struct {
	row   Row
	saved []Row // remembered states; those from depth on are unused memory
	depth int
}

// Rows executes the instructions and calls yield for each row until it returns
// false. Rows are in ascending order without gaps; each is valid only during
// the call. An error is a Problem, returned after the rows before the damage.
func (f *FDE) Rows(m *Machine, yield func(*Row) bool) error {
	m.depth = 0
	m.row.load(&f.CIE.initial)
	m.row.Start = f.Start
	end := f.Start + f.Size
	for c := f.CIE.s.cursor(f.first, f.end); c.Len() > 0; {
		pos := c.Off()
		by, reason := m.step(f.CIE, c)
		if reason != "" {
			return Problem{Section: f.CIE.s.name(), Off: uint64(pos), Reason: reason}
		}
		if by == 0 {
			continue
		}
		if by >= end-m.row.Start {
			break
		}
		if m.row.End = m.row.Start + by; !yield(&m.row) {
			return nil
		}
		m.row.Start = m.row.End
	}
	m.row.End = end
	yield(&m.row)
	return nil
}

// begin executes the initial instructions of all FDEs.
func (cie *CIE) begin(c *bin.Cursor) (reason string) {
	m := Machine{row: Row{RA: cie.RA}}
	for c.Len() > 0 && reason == "" {
		_, reason = m.step(cie, c)
	}
	cie.initial = m.row
	return reason
}

// load copies the rules of from to r.
func (r *Row) load(from *Row) {
	r.CFA, r.RA, r.Signed = from.CFA, from.RA, from.Signed
	r.Regs = append(r.Regs[:0], from.Regs...)
}

// Find returns the index in Regs of the rule for reg, and whether it exists. If
// it does not, the index is where it would be.
func (r *Row) Find(reg uint16) (int, bool) {
	low, high := 0, len(r.Regs)
	for low < high {
		if mid := (low + high) / 2; r.Regs[mid].Reg < reg {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low, low < len(r.Regs) && r.Regs[low].Reg == reg
}

func (r *Row) set(reg uint16, rule Rule) (reason string) {
	i, ok := r.Find(reg)
	switch {
	case ok:
		r.Regs[i].Rule = rule
	case len(r.Regs) == maxRules:
		return "too many rules"
	default:
		r.Regs = slices.Insert(r.Regs, i, RegRule{reg, rule})
	}
	return ""
}

// restore sets the rule of reg to that of the CIE.
func (r *Row) restore(cie *CIE, reg uint16) (reason string) {
	if i, ok := cie.initial.Find(reg); ok {
		return r.set(reg, cie.initial.Regs[i].Rule)
	}
	if i, ok := r.Find(reg); ok {
		r.Regs = slices.Delete(r.Regs, i, i+1)
	}
	return ""
}

// step executes an instruction (DW_CFA) and returns the advance of the address.
// With a reason the rules are undefined.
func (m *Machine) step(cie *CIE, c *bin.Cursor) (by uint64, reason string) {
	r := &m.row
	op := c.U8()
	switch low := uint64(op & 0x3f); op & 0xc0 {
	case 0x40: // advance_loc
		return low * cie.codeAlign, ""
	case 0x80: // offset
		reason = r.set(uint16(low), Rule{Kind: RuleOffset, Offset: int64(c.Uleb()) * cie.dataAlign})
	case 0xc0:
		reason = r.restore(cie, uint16(low))
	default:
		switch op {
		case 0x01: // set_loc
			if by = cie.pointer(c, cie.encoding) - r.Start; int64(by) < 0 || cie.encoding&peIndirect != 0 {
				reason = "the address decreases"
			}
		case 0x02: // advance_loc1, 2, 4, MIPS_advance_loc8
			by = uint64(c.U8()) * cie.codeAlign
		case 0x03:
			by = uint64(c.U16()) * cie.codeAlign
		case 0x04:
			by = uint64(c.U32()) * cie.codeAlign
		case 0x1d:
			by = c.U64() * cie.codeAlign
		default:
			reason = m.rule(cie, op, c)
		}
	}
	if reason == "" && c.Err() != nil {
		reason = "truncated instruction"
	}
	return by, reason
}

// rule executes an instruction that changes the rules.
func (m *Machine) rule(cie *CIE, op uint8, c *bin.Cursor) (reason string) {
	r := &m.row
	switch op {
	case 0x00: // nop
	case 0x05: // offset_extended
		return r.set(register(c), Rule{Kind: RuleOffset, Offset: int64(c.Uleb()) * cie.dataAlign})
	case 0x06: // restore_extended
		return r.restore(cie, register(c))
	case 0x07:
		return r.set(register(c), Rule{Kind: RuleUndefined})
	case 0x08:
		return r.set(register(c), Rule{Kind: RuleSameValue})
	case 0x09:
		return r.set(register(c), Rule{Kind: RuleRegister, Reg: register(c)})
	case 0x0a, 0x0b: // remember_state, restore_state
		return m.remember(op == 0x0a)
	case 0x0c: // def_cfa
		r.CFA = Rule{Kind: RuleRegisterOffset, Reg: register(c), Offset: int64(c.Uleb())}
	case 0x0d: // def_cfa_register
		r.CFA = Rule{Kind: RuleRegisterOffset, Reg: register(c), Offset: r.CFA.Offset}
	case 0x0e: // def_cfa_offset
		r.CFA.Offset = int64(c.Uleb())
	case 0x0f: // def_cfa_expression
		r.CFA = Rule{Kind: RuleValExpression, Expr: block(c)}
	case 0x10:
		return r.set(register(c), Rule{Kind: RuleExpression, Expr: block(c)})
	case 0x11: // offset_extended_sf
		return r.set(register(c), Rule{Kind: RuleOffset, Offset: c.Sleb() * cie.dataAlign})
	case 0x12: // def_cfa_sf
		r.CFA = Rule{Kind: RuleRegisterOffset, Reg: register(c), Offset: c.Sleb() * cie.dataAlign}
	case 0x13: // def_cfa_offset_sf
		r.CFA.Offset = c.Sleb() * cie.dataAlign
	case 0x14: // val_offset
		return r.set(register(c), Rule{Kind: RuleValOffset, Offset: int64(c.Uleb()) * cie.dataAlign})
	case 0x15: // val_offset_sf
		return r.set(register(c), Rule{Kind: RuleValOffset, Offset: c.Sleb() * cie.dataAlign})
	case 0x16:
		return r.set(register(c), Rule{Kind: RuleValExpression, Expr: block(c)})
	case 0x2c, 0x2d: // AARCH64_negate_ra_state; the latter is SPARC's GNU_window_save
		r.Signed = !r.Signed
	case 0x2e: // GNU_args_size
		c.Uleb()
	case 0x2f: // GNU_negative_offset_extended
		return r.set(register(c), Rule{Kind: RuleOffset, Offset: -int64(c.Uleb()) * cie.dataAlign})
	default:
		return "unknown instruction"
	}
	return ""
}

// register reads the number of a register.
func register(c *bin.Cursor) uint16 {
	n := c.Uleb()
	if n > maxRegister {
		c.Skip(-1) // fails
	}
	return uint16(n)
}

// block reads an expression.
func block(c *bin.Cursor) []byte { return c.Bytes(int(min(c.Uleb(), 1<<31-1))) }

// remember saves the rules, or restores the last saved ones.
func (m *Machine) remember(save bool) (reason string) {
	switch {
	case !save && m.depth == 0:
		return "restore_state without a remembered state"
	case !save:
		m.depth--
		m.row.load(&m.saved[m.depth])
		return ""
	case m.depth == maxRemembered:
		return "too many remembered states"
	case m.depth == len(m.saved):
		m.saved = append(m.saved, Row{})
	}
	m.saved[m.depth].load(&m.row)
	m.depth++
	return ""
}

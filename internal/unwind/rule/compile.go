package rule

import (
	"cmp"
	"math"
	"slices"

	"symbolon/internal/sym"
)

// A Compiler turns records into rows. It belongs to one goroutine.
type Compiler struct {
	CPU *CPU
	Bad int // number of records that were skipped because they are invalid

	start, end uint64 // of the piece; equal without one
	text       []byte // rules of the piece
	changes    []change

	rules [targets + 1][]byte // programs in force; empty: no rule. The last is of registers that the CPU lacks
	row   Row
	asm   assembler
}

// change has the rules from an address on; they end at an offset in the text.
type change struct {
	addr uint64
	end  int
}

// maxPiece limits the text of a piece. Those of large functions have 20 KiB.
const maxPiece = 1 << 20

// Yield receives the row of a range. The row is valid until the function returns.
type Yield func(start, end uint64, row Row) error

// Add adds a record. The records of a piece must follow each other: one that
// begins it and its changes, or one of Windows. Add calls yield for each range
// of the piece before, or of Windows, with all rules that apply to it. After a
// record with invalid rules, nothing is known in the rest of the piece.
func (c *Compiler) Add(u *sym.Unwind, yield Yield) error {
	if u.Kind == sym.UnwindChange {
		c.change(u)
		return nil
	}
	if err := c.Flush(yield); err != nil {
		return err
	}
	end := u.Addr + u.Size
	if end < u.Addr {
		end = math.MaxUint64
	}
	if u.Kind == sym.UnwindBegin {
		c.start, c.end = u.Addr, end
		c.change(u)
		return nil
	}
	if t := u.Windows.Type; u.Size == 0 || t != 0 && t != 4 {
		return nil
	}
	row, ok := appendWindows(c.row[:0], u)
	if c.row = row; !ok || c.CPU != x86 {
		c.Bad++
		return nil
	}
	return yield(u.Addr, end, row)
}

// change keeps the rules of a record of the piece.
func (c *Compiler) change(u *sym.Unwind) {
	switch {
	case c.start == c.end:
		if u.Kind == sym.UnwindChange {
			c.Bad++
		}
	case u.Addr >= c.end:
	case len(c.text)+len(u.Rules) > maxPiece:
		c.Bad++
		c.end = max(c.start, u.Addr)
	default:
		c.text = append(c.text, u.Rules...)
		c.changes = append(c.changes, change{u.Addr, len(c.text)})
	}
}

// Flush calls yield for the last piece.
func (c *Compiler) Flush(yield Yield) error {
	if c.start == c.end {
		return nil
	}
	err := c.piece(yield)
	c.start, c.end = 0, 0
	c.text, c.changes = c.text[:0], c.changes[:0]
	return err
}

// piece yields the rows of the piece.
func (c *Compiler) piece(yield Yield) error {
	for i := range c.rules {
		c.rules[i] = c.rules[i][:0]
	}
	from := 0
	ordered := slices.IsSortedFunc(c.changes[1:], byAddr)
	texts := make([][]byte, 0, 8)
	if !ordered {
		for _, ch := range c.changes {
			texts = append(texts, c.text[from:ch.end])
			from = ch.end
		}
		for i := range c.changes {
			c.changes[i].end = i
		}
		slices.SortStableFunc(c.changes[1:], byAddr)
	}
	at := c.start
	for _, ch := range c.changes {
		if ch.addr > at {
			if err := yield(at, ch.addr, c.build()); err != nil {
				return err
			}
			at = ch.addr
		}
		text := c.text
		if ordered {
			text = c.text[from:ch.end]
			from = ch.end
		} else {
			text = texts[ch.end]
		}
		if !c.apply(text) {
			c.Bad++
			return nil
		}
	}
	if at < c.end {
		return yield(at, c.end, c.build())
	}
	return nil
}

func byAddr(a, b change) int { return cmp.Compare(a.addr, b.addr) }

// build returns the row of the rules in force.
func (c *Compiler) build() Row {
	c.row = append(c.row[:0], kindCFI)
	for i, program := range c.rules[:targets] {
		if len(program) > 0 {
			c.row = append(append(append(c.row, byte(i)), program...), opEnd)
		}
	}
	return c.row
}

// apply replaces the rules of the registers in text. It returns false if the text
// is invalid.
func (c *Compiler) apply(text []byte) bool {
	target, size := -1, 0
	var out *[]byte
	for token := word(&text); ; token = word(&text) {
		if n := len(token); n == 0 || n > 1 && token[n-1] == ':' {
			if target >= 0 && !c.finish(target, out) {
				return false
			}
			if n == 0 {
				break
			}
			target = c.target(token[:n-1])
			out = &c.rules[target]
			*out = (*out)[:0]
			c.asm.reset()
			continue
		}
		if target < 0 {
			return false
		}
		c.asm.token(c.CPU, out, token)
	}
	for _, program := range c.rules {
		size += 2 + len(program)
	}
	return size < maxRow
}

// finish ends the program of a target. It returns false if it is empty. Without
// a rule, a register that calls preserve has its own value, too.
func (c *Compiler) finish(target int, out *[]byte) bool {
	if len(*out) == 0 {
		return false
	}
	if reg := target - targetReg; target >= targetReg && target < targets && c.CPU.Saved>>reg&1 != 0 &&
		len(*out) == 3 && (*out)[0] == opReg && (*out)[1] == byte(reg) && (*out)[2] == 0 {
		*out = (*out)[:0]
	}
	return true
}

// target returns the target with a name, or targets.
func (c *Compiler) target(name []byte) int {
	switch string(name) {
	case ".cfa":
		return targetCFA
	case ".ra":
		return targetRA
	}
	if r, ok := c.CPU.numbers[string(trimDollar(name))]; ok {
		return targetReg + int(r)
	}
	return targets
}

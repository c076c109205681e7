package rule

import (
	"bytes"
	"cmp"
	"hash/maphash"
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

	row   Row                 // in force
	rules [targets + 1][]byte // its programs; empty: no rule. The last is of registers that the CPU lacks
	isCut bool                // rules are those of row
	x     expression

	compiled int    // number of records
	hash     uint64 // of row, if there is a memo
	seed     maphash.Seed
	memo     []memo
}

// change has the rules from an address on: text from from to end.
type change struct {
	addr      uint64
	from, end int
}

// memo is the result of a record. Nearly all repeat others: the 890,000 of libLLVM
// have 1,100 different texts.
type memo struct {
	before, text, after []byte
	hash                uint64 // of after
}

// Limits of a Compiler.
const (
	maxPiece  = 1 << 20 // text of a piece; libLLVM needs 8 KiB at most
	maxMemo   = 256     // text or row of a memo
	memos     = 1 << 12
	memoAfter = 1 << 9 // records before there are memos
)

// A Yield receives the row of a range. The row is valid until the function
// returns.
type Yield = func(start, end uint64, row Row) error

// Add adds a record. The records of a piece must follow each other: one that
// begins it and its changes, or one of Windows. Add calls yield for each range of
// the piece before, or of Windows, with all rules that apply to it. After a
// record with invalid rules, nothing is known in the rest of the piece.
func (c *Compiler) Add(u *sym.Unwind, yield Yield) error {
	if u.Kind == sym.UnwindChange {
		if c.start == c.end {
			c.Bad++
			return nil
		}
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
	row, ok := appendFrame(c.row[:0], u)
	if c.row = row; !ok || c.CPU != x86 {
		c.Bad++
		return nil
	}
	return yield(u.Addr, end, row)
}

// change keeps the rules of a record of the piece.
func (c *Compiler) change(u *sym.Unwind) {
	switch from := len(c.text); {
	case u.Addr >= c.end:
	case from+len(u.Rules) > maxPiece:
		c.Bad++
		c.end = max(c.start, u.Addr)
	default:
		c.text = append(c.text, u.Rules...)
		c.changes = append(c.changes, change{u.Addr, from, len(c.text)})
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
	c.row, c.hash, c.isCut = append(c.row[:0], kindCFI), 0, false
	byAddr := func(a, b change) int { return cmp.Compare(a.addr, b.addr) }
	if changes := c.changes[1:]; !slices.IsSortedFunc(changes, byAddr) {
		slices.SortStableFunc(changes, byAddr)
	}
	at := c.start
	for _, ch := range c.changes {
		if ch.addr > at {
			if err := yield(at, ch.addr, c.row); err != nil {
				return err
			}
			at = ch.addr
		}
		if !c.apply(c.text[ch.from:ch.end]) {
			c.Bad++
			return nil
		}
	}
	if at < c.end {
		return yield(at, c.end, c.row)
	}
	return nil
}

// apply replaces the rules of the registers in text. It returns false if the text
// is invalid.
func (c *Compiler) apply(text []byte) bool {
	if c.compiled++; c.compiled < memoAfter || max(len(text), len(c.row)) > maxMemo {
		return c.compile(text)
	}
	if c.memo == nil {
		c.memo, c.seed = make([]memo, memos), maphash.MakeSeed()
	}
	m := &c.memo[(maphash.Bytes(c.seed, text)+c.hash)%memos]
	if bytes.Equal(m.text, text) && bytes.Equal(m.before, c.row) {
		c.row, c.hash, c.isCut = append(c.row[:0], m.after...), m.hash, false
		return true
	}
	m.before = append(m.before[:0], c.row...)
	m.text = append(m.text[:0], text...)
	ok := c.compile(text)
	c.hash = maphash.Bytes(c.seed, c.row)
	m.after, m.hash = append(m.after[:0], c.row...), c.hash
	if !ok || len(c.row) > maxMemo {
		m.before, m.after = m.before[:0], nil
	}
	return ok
}

// compile does the work of apply.
func (c *Compiler) compile(text []byte) bool {
	c.cutRow()
	target := -1
	for {
		token := word(&text)
		n := len(token)
		isTarget := n > 1 && token[n-1] == ':'
		if (n == 0 || isTarget) && target >= 0 && !c.finish(target) {
			return false
		}
		if n == 0 {
			break
		}
		if isTarget {
			target = c.target(token[:n-1])
			c.x.reset()
			continue
		}
		if target < 0 {
			return false
		}
		c.x.token(c.CPU, token)
	}
	c.row = c.row[:1]
	for i, program := range c.rules[:targets] {
		if len(program) > 0 {
			c.row = appendProgram(append(c.row, byte(i)), program)
		}
	}
	return len(c.row) <= maxRow
}

// cutRow sets the rules to the rules of the row.
func (c *Compiler) cutRow() {
	if c.isCut {
		return
	}
	for i := range c.rules {
		c.rules[i] = c.rules[i][:0]
	}
	for rest := []byte(c.row[1:]); len(rest) > 0; {
		target := rest[0]
		var program []byte
		program, rest = cut(rest[1:])
		c.rules[target] = append(c.rules[target], program...)
	}
	c.isCut = true
}

// finish sets the rule of a target. It returns false if the rule is empty. A
// register that calls preserve needs no rule to have its own value.
func (c *Compiler) finish(target int) bool {
	code := c.x.code
	rule := &c.rules[target]
	*rule = append((*rule)[:0], code...)
	reg := target - targetReg
	if reg >= 0 && c.CPU.Saved>>reg&1 != 0 && string(code) == string([]byte{opReg, byte(reg), 0}) {
		*rule = (*rule)[:0]
	}
	return len(code) > 0
}

func (c *Compiler) target(name []byte) int {
	switch string(name) {
	case ".cfa":
		return targetCFA
	case ".ra":
		return targetRA
	}
	if r, ok := c.CPU.numbers[string(bytes.TrimPrefix(name, dollar))]; ok {
		return targetReg + int(r)
	}
	return targets
}

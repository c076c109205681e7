package dwarf

// Lines is what line programs say about addresses. It is reused: Reset keeps
// its memory.
type Lines struct {
	Rows      []LineRow
	Sequences []Sequence // in the order of the programs
}

// Reset empties l.
func (l *Lines) Reset() { l.Rows, l.Sequences = l.Rows[:0], l.Sequences[:0] }

// LineRow says where the code comes from that begins at Addr and reaches to the
// next row of its sequence.
type LineRow struct {
	Addr   uint64
	File   uint32 // as the program numbers files
	Line   uint32 // 0: made by the compiler
	Column uint32 // 0: unknown, or not wanted
	Branch uint32 // discriminator: which code of the line; 0: there is one only, or not wanted
}

// Sequence is a stretch of code without gaps. Its rows ascend strictly, the
// first one is at Start and all are below End.
type Sequence struct {
	Start, End uint64
	First, N   int // its rows
}

// RunOptions says what is wanted of a line program.
type RunOptions struct {
	Columns     bool // rows that differ only in the column or the discriminator are kept
	Relocatable bool // code may begin at address 0
}

// Opcodes (DW_LNS) with an effect; set_isa and unknown ones are skipped by the
// lengths in the header.
const (
	lnsCopy           = 1
	lnsAdvancePC      = 2
	lnsAdvanceLine    = 3
	lnsSetFile        = 4
	lnsSetColumn      = 5
	lnsNegateStmt     = 6
	lnsConstAddPC     = 8
	lnsFixedAdvancePC = 9
)

// Extended opcodes (DW_LNE) with an effect.
const (
	lneEndSequence = 1
	lneSetAddress  = 2
	lneDefineFile  = 3
	lneSetBranch   = 4 // DW_LNE_set_discriminator
)

// noRow is the address of no row.
const noRow = ^uint64(0)

// lineState is the registers of the machine, and the sequence that it is in.
type lineState struct {
	LineRow         // as the next row would be
	op      uint32  // operation in the instruction at Addr
	first   int     // row of the sequence
	last    LineRow // the last row, which another one at its address may yet replace; Addr has all bits while there is none
	dead    bool    // the sequence is of code that the linker dropped
	zero    bool    // code may begin at address 0
	columns bool    // those and discriminators are wanted
}

func (s *lineState) begin(first int) {
	*s = lineState{LineRow: LineRow{File: 1, Line: 1}, first: first, last: LineRow{Addr: noRow}, zero: s.zero, columns: s.columns}
}

// Run executes the program and appends what it says to dst. Of rows at one
// address the last one counts; a row below the one before it is ignored; one
// that repeats the place of the one before it is dropped. A sequence that is
// not ended has a last row of one byte. Sequences that are empty, or whose code
// the linker dropped, are left out. An error is a Problem; what was read in
// front of the damage is in dst.
func (p *Program) Run(dst *Lines, opt RunOptions) error {
	p.defined = p.defined[:0]
	if p.code == 0 {
		return nil
	}
	s := lineState{zero: opt.Relocatable, columns: opt.Columns}
	s.begin(len(dst.Rows))
	// What most opcodes change is kept in variables beside s.
	b, i, base, rows := p.unit, p.code, p.params.opcodeBase, dst.Rows
	row, last := s.LineRow, s.last
	var v uint64
	for uint(i) < uint(len(b)) {
		op := b[i]
		i++
		if op >= base {
			a := p.special[op]
			row.Addr += uint64(a.addr)
			row.Line += uint32(int32(a.line))
			if p.params.maxOps > 1 {
				row.Addr = s.advance(&p.params, row.Addr-uint64(a.addr), uint64(a.addr))
			}
		} else {
			switch op {
			case lnsCopy:
			case lnsAdvanceLine:
				v, i = sleb(b, i)
				row.Line += uint32(v)
				continue
			case lnsSetFile:
				v, i = uleb(b, i)
				row.File = lineClip(v)
				continue
			case lnsSetColumn:
				if v, i = uleb(b, i); opt.Columns {
					row.Column = lineClip(v)
				}
				continue
			case lnsNegateStmt:
				continue
			case 0:
				s.LineRow, s.last, dst.Rows = row, last, rows
				i = p.extended(&s, dst, i)
				row, last, rows = s.LineRow, s.last, dst.Rows
				continue
			default:
				row.Addr, i = p.standard(&s, op, row.Addr, i)
				continue
			}
		}
		if row.Addr != last.Addr {
			if last.Addr != noRow {
				if row.Addr < last.Addr {
					row.Branch = 0
					continue
				}
				if n := len(rows) - 1; n < s.first || !rows[n].same(&last) {
					rows = append(rows, last)
				}
			}
		}
		last = row
		row.Branch = 0
	}
	s.last, dst.Rows = last, rows
	s.close(dst, 0)
	if i < 0 {
		return lineFault(p.Off, "ends inside an instruction")
	}
	return nil
}

// same says whether two rows name the same place.
func (r *LineRow) same(o *LineRow) bool {
	return r.Line == o.Line && r.File == o.File && r.Column == o.Column && r.Branch == o.Branch
}

// advance is addr moved by n operations.
func (s *lineState) advance(q *lineParams, addr, n uint64) uint64 {
	if q.maxOps == 1 {
		return addr + n*uint64(q.minInst)
	}
	n += uint64(s.op)
	s.op = uint32(n % uint64(q.maxOps))
	return addr + n/uint64(q.maxOps)*uint64(q.minInst)
}

// standard executes one of the other standard opcodes, whose operands are at i.
// It returns the address, and where the next opcode is: -1 if the operands are
// cut off.
func (p *Program) standard(s *lineState, op uint8, addr uint64, i int) (uint64, int) {
	var v uint64
	switch op {
	case lnsAdvancePC:
		v, i = uleb(p.unit, i)
		return s.advance(&p.params, addr, v), i
	case lnsConstAddPC:
		v = uint64(p.special[255].addr)
		if p.params.maxOps == 1 {
			return addr + v, i
		}
		return s.advance(&p.params, addr, v), i
	case lnsFixedAdvancePC:
		v, i = p.r.number(p.unit, i, 2)
		s.op = 0
		return addr + v, i
	}
	for n := p.lengths[op-1]; n > 0 && i >= 0; n-- {
		_, i = uleb(p.unit, i)
	}
	return addr, i
}

// extended executes an extended opcode, whose length is at i, and returns where
// the next opcode is: -1 if it is cut off.
func (p *Program) extended(s *lineState, dst *Lines, i int) int {
	n, i := uleb(p.unit, i)
	if i < 0 || n > uint64(len(p.unit)-i) {
		return -1
	}
	if n == 0 {
		return i
	}
	end := i + int(n)
	switch p.unit[i] {
	case lneEndSequence:
		s.close(dst, s.Addr)
	case lneSetAddress:
		s.setAddress(dst, p.unit[i+1:end], p.r)
	case lneDefineFile:
		p.defined = append(p.defined, i+1)
	case lneSetBranch:
		if v, _ := uleb(p.unit[:end], i+1); s.columns {
			s.Branch = lineClip(v)
		}
	}
	return end
}

// setAddress sets the address to arg, a number of any size. The linker has put
// the greatest number but one or two, or zero, where it dropped the code.
func (s *lineState) setAddress(dst *Lines, arg []byte, r reader) {
	if len(arg) == 0 || len(arg) > 8 {
		return
	}
	v := r.uint(arg, 0, len(arg))
	switch limit := ^uint64(0) >> (64 - 8*len(arg)); {
	case v >= limit-1:
		s.close(dst, 0)
		s.dead = true
	case v == 0 && !s.zero && s.last.Addr == noRow:
		s.dead = true
	}
	s.Addr, s.op = v, 0
}

// close ends the sequence, and begins the next one. An end below the last row
// is none.
func (s *lineState) close(dst *Lines, end uint64) {
	rows := dst.Rows
	if s.last.Addr != noRow {
		if n := len(rows) - 1; n < s.first || !rows[n].same(&s.last) {
			rows = append(rows, s.last)
		}
		if end < s.last.Addr {
			end = s.last.Addr + 1
		}
	}
	for len(rows) > s.first && rows[len(rows)-1].Addr >= end {
		rows = rows[:len(rows)-1]
	}
	if n := len(rows) - s.first; n > 0 && !s.dead && (s.zero || rows[s.first].Addr != 0) {
		dst.Sequences = append(dst.Sequences, Sequence{Start: rows[s.first].Addr, End: end, First: s.first, N: n})
	} else {
		rows = rows[:s.first]
	}
	dst.Rows = rows
	s.begin(len(rows))
}

package dwarf

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"symbolon/internal/bin"
)

// LineSections has the sections of line programs. LineStr and Str may be empty
// if nothing refers to them.
type LineSections struct {
	Line, LineStr, Str []byte
	Order              binary.ByteOrder
}

// Program is a line program of version 2 to 5, read in place. Read reuses its
// memory. It belongs to one goroutine.
type Program struct {
	Off     uint64 // offset of its header in the section
	Size    uint64 // of header and instructions; the next program follows
	Version uint16

	s       LineSections
	unit    []byte // header and instructions
	code    int    // offset of the instructions in unit
	r       reader
	layout  layout
	params  lineParams
	lengths []byte // number of operands of each standard opcode

	dirs, files lineTable
	defined     []int // files defined by instructions: their offsets in unit

	special     [256]lineAdvance // by opcode, for specialFor
	specialFor  lineParams
	specialDone bool
}

// lineParams are the header fields that define the special opcodes.
type lineParams struct {
	minInst, maxOps       uint8
	lineBase              int8
	lineRange, opcodeBase uint8
}

// lineAdvance is the effect of a special opcode: on the address, in bytes, or
// in operations if an instruction has several, and on the line.
type lineAdvance struct {
	addr uint16
	line int16 // with a line_range above 127, eight bits are not enough
}

// Read reads the header at off in the section. An error is a Problem; the
// Program then has the parts before the damage: Run works unless the fixed part
// of the header is damaged, and does nothing in that case.
func (p *Program) Read(s *LineSections, off uint64) error {
	p.Off, p.Size, p.Version, p.s = off, 0, 0, *s
	p.unit, p.code, p.lengths = nil, 0, nil
	p.dirs.reset()
	p.files.reset()
	p.defined = p.defined[:0]
	if off >= uint64(len(s.Line)) {
		return lineFault(off, "is beyond the end of the section at %#x", len(s.Line))
	}
	c := bin.NewCursor(s.Line[off:], s.Order)
	size := uint64(c.U32())
	p.r, p.layout = reader{big: s.Order == binary.BigEndian}, layout{off: 4}
	if size == 0xffffffff {
		size, p.layout.off = c.U64(), 8
	} else if size >= 0xfffffff0 {
		return lineFault(off, "has the reserved length %#x", size)
	}
	start := c.Off()
	short := c.Err() == nil && size > uint64(c.Len())
	size = min(size, uint64(c.Len()))
	p.Size = uint64(start) + size
	p.unit = s.Line[off : off+p.Size : off+p.Size]
	err := p.readHeader(start)
	if err == nil && short {
		err = lineFault(off, "exceeds the section")
	}
	return err
}

// readHeader reads the header after the length, which ends at start.
func (p *Program) readHeader(start int) error {
	c := bin.NewCursor(p.unit, p.s.Order)
	c.Skip(start)
	p.Version = c.U16()
	switch {
	case c.Err() != nil:
		return lineFault(p.Off, "ends inside its header")
	case p.Version < 2 || p.Version > 5:
		return lineFault(p.Off, "has unsupported version %d", p.Version)
	case p.Version >= 5:
		c.Skip(2) // sizes of addresses and segment selectors: operands have their own sizes
	}
	size, at := p.r.number(p.unit, c.Off(), int(p.layout.off))
	c.Skip(at - c.Off())
	tooLong := size > uint64(c.Len())
	end := c.Off() + int(min(size, uint64(c.Len())))
	q := lineParams{minInst: c.U8(), maxOps: 1}
	if p.Version >= 4 {
		q.maxOps = max(c.U8(), 1)
	}
	c.Skip(1) // default_is_stmt: all rows are used
	q.lineBase, q.lineRange, q.opcodeBase = int8(c.U8()), c.U8(), max(c.U8(), 1)
	lengths := c.Bytes(int(q.opcodeBase) - 1)
	if c.Err() != nil || c.Off() > end {
		return lineFault(p.Off, "ends inside its header")
	}
	p.params, p.lengths, p.code = q, lengths, end
	p.setSpecial()
	if err := p.readTables(c.Off()); err != nil {
		return lineFault(p.Off, "%v", err)
	}
	if tooLong {
		return lineFault(p.Off, "has a header of %#x bytes, which exceeds the program", size)
	}
	return nil
}

// setSpecial computes the table of special opcodes, unless it is that of the
// previous program.
func (p *Program) setSpecial() {
	q := p.params
	if p.specialDone && p.specialFor == q {
		return
	}
	for op := int(q.opcodeBase); op < 256; op++ {
		n := op - int(q.opcodeBase)
		a := lineAdvance{line: int16(q.lineBase)}
		if q.lineRange != 0 {
			a.line += int16(n % int(q.lineRange))
			a.addr = uint16(n / int(q.lineRange))
		}
		if q.maxOps == 1 {
			a.addr *= uint16(q.minInst)
		}
		p.special[op] = a
	}
	p.specialFor, p.specialDone = q, true
}

// NumFiles returns the highest number of a file plus one. Numbers begin at 0 in
// version 5, and at 1 before. After Run it includes the files defined by
// instructions.
func (p *Program) NumFiles() int {
	n := len(p.files.places) + len(p.defined)
	if p.Version < 5 && n > 0 {
		n++
	}
	return n
}

// fewPrograms limits the line programs that are searched for sources: compilers
// embed the sources of all units or of none, but units of other compilers may
// come first.
const fewPrograms = 256

// HasSources reports whether a line program has the text of a file.
func (s *LineSections) HasSources() bool {
	var p Program
	for off, n := uint64(0), 0; off < uint64(len(s.Line)) && n < fewPrograms; off, n = off+p.Size, n+1 {
		_ = p.Read(s, off) // damage is reported when its unit is read
		if p.Size == 0 {
			break
		}
		if !slices.ContainsFunc(p.files.fields, func(f lineField) bool { return f.kind == lnctSource }) {
			continue
		}
		for i := range p.NumFiles() {
			if len(p.Source(uint32(i))) > 0 {
				return true
			}
		}
	}
	return false
}

// Source returns the text of a file embedded in the header, or nil.
func (p *Program) Source(file uint32) []byte { return p.entry(file).source }

// MD5 returns the 16 bytes of the checksum of a file in place, nil if unknown.
func (p *Program) MD5(file uint32) []byte { return p.entry(file).md5 }

// entry returns the file of a number, or an empty one.
func (p *Program) entry(file uint32) lineEntry {
	n := uint64(file)
	if p.Version < 5 {
		n-- // 0 becomes an unused number
	}
	if n < uint64(len(p.files.places)) {
		return p.readEntry(&p.files, int(n))
	}
	if n -= uint64(len(p.files.places)); n < uint64(len(p.defined)) {
		return p.readOldEntry(p.defined[n])
	}
	return lineEntry{}
}

// lineFault returns the Problem of the program at off.
func lineFault(off uint64, format string, args ...any) error {
	return Problem{Section: ".debug_line", Off: off, Reason: fmt.Sprintf("the line program "+format, args...)}
}

var errLineTable = errors.New("ends inside its tables of directories and files")

// lineClip returns v, at most the largest number of 32 bits.
func lineClip(v uint64) uint32 { return uint32(min(v, math.MaxUint32)) }

package dwarf

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"symbolon/internal/bin"
)

// LineSections are what line programs are read from. LineStr and Str may be
// empty where nothing refers to them.
type LineSections struct {
	Line, LineStr, Str []byte
	Order              binary.ByteOrder
}

// Program is a line program of version 2 to 5, read in place. Reading another
// one into it reuses its memory. It belongs to one goroutine.
type Program struct {
	Off     uint64 // where its header begins in the section
	Size    uint64 // of header and instructions; the next program follows
	Version uint16

	s       LineSections
	unit    []byte // header and instructions
	code    int    // where in unit the instructions begin
	r       reader
	layout  layout
	params  lineParams
	lengths []byte // how many operands each standard opcode has

	dirs, files lineTable
	defined     []int // files that the instructions define: their places in unit

	special     [256]lineAdvance // by opcode, for params specialFor
	specialFor  lineParams
	specialDone bool
}

// lineParams are the numbers in a header that give the special opcodes their
// meaning.
type lineParams struct {
	minInst, maxOps       uint8
	lineBase              int8
	lineRange, opcodeBase uint8
}

// lineAdvance is the effect of a special opcode: on the address, in bytes or in
// operations if an instruction has several, and on the line.
type lineAdvance struct {
	addr uint16
	line int16 // with a line_range above 127 eight bits are not enough
}

// Read reads the header at off in the section. An error is a Problem; after it
// the Program gives what was read in front of the damage: Run works unless the
// fixed part of the header is damaged, and then does nothing.
func (p *Program) Read(s *LineSections, off uint64) error {
	p.Off, p.Size, p.Version, p.s = off, 0, 0, *s
	p.unit, p.code, p.lengths = nil, 0, nil
	p.dirs.reset()
	p.files.reset()
	p.defined = p.defined[:0]
	if off >= uint64(len(s.Line)) {
		return lineFault(off, "is behind the end of the section, which has %#x bytes", len(s.Line))
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
		err = lineFault(off, "is cut off by the end of the section")
	}
	return err
}

// readHeader reads what follows the length, which ends at start.
func (p *Program) readHeader(start int) error {
	c := bin.NewCursor(p.unit, p.s.Order)
	c.Skip(start)
	p.Version = c.U16()
	switch {
	case c.Err() != nil:
		return lineFault(p.Off, "ends inside its header")
	case p.Version < 2 || p.Version > 5:
		return lineFault(p.Off, "has version %d", p.Version)
	case p.Version >= 5:
		c.Skip(2) // sizes of addresses and segment selectors: each operand says its own
	}
	size, at := p.r.number(p.unit, c.Off(), int(p.layout.off))
	c.Skip(at - c.Off())
	tooLong := size > uint64(c.Len())
	end := c.Off() + int(min(size, uint64(c.Len())))
	q := lineParams{minInst: c.U8(), maxOps: 1}
	if p.Version >= 4 {
		q.maxOps = max(c.U8(), 1)
	}
	c.Skip(1) // default_is_stmt: all rows count here
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
		return lineFault(p.Off, "has a header of %#x bytes, which is more than all of it", size)
	}
	return nil
}

// setSpecial makes the table of special opcodes, unless it is that of the
// program before.
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

// NumFiles is one more than the highest number of a file. Numbers begin at 0
// in version 5, and at 1 before. After Run files are counted that the
// instructions define.
func (p *Program) NumFiles() int {
	n := len(p.files.places) + len(p.defined)
	if p.Version < 5 && n > 0 {
		n++
	}
	return n
}

// fewPrograms is how many line programs are looked at for sources: compilers
// embed those of all units or of none, but units of others may stand in front.
const fewPrograms = 256

// HasSources says whether there are line programs with the texts of files.
func (s *LineSections) HasSources() bool {
	var p Program
	for off, n := uint64(0), 0; off < uint64(len(s.Line)) && n < fewPrograms; off, n = off+p.Size, n+1 {
		_ = p.Read(s, off) // what is damaged is told when its unit is read
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

// Source is the text of a file that is embedded in the header; nil if it is
// not there.
func (p *Program) Source(file uint32) []byte { return p.entry(file).source }

// MD5 is the 16 bytes of the checksum of a file, in place; nil if unknown.
func (p *Program) MD5(file uint32) []byte { return p.entry(file).md5 }

// entry is the file of this number; an empty one if there is none.
func (p *Program) entry(file uint32) lineEntry {
	n := uint64(file)
	if p.Version < 5 {
		n-- // 0 becomes a number that no file has
	}
	if n < uint64(len(p.files.places)) {
		return p.readEntry(&p.files, int(n))
	}
	if n -= uint64(len(p.files.places)); n < uint64(len(p.defined)) {
		return p.readOldEntry(p.defined[n])
	}
	return lineEntry{}
}

// lineFault is the Problem of the program at off.
func lineFault(off uint64, format string, args ...any) error {
	return Problem{Section: ".debug_line", Off: off, Reason: fmt.Sprintf("the line program "+format, args...)}
}

var errLineTable = errors.New("ends inside its tables of directories and files")

// lineClip is v, or the greatest number of 32 bits.
func lineClip(v uint64) uint32 { return uint32(min(v, math.MaxUint32)) }

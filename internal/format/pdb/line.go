package pdb

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"symbolon/internal/bin"
)

// Line is a range of code in a section with its position in the source.
type Line struct {
	Off, End uint32 // in the section
	File     uint32 // for AppendString, plus 1; 0: unknown
	Line     uint32
	Column   uint16
}

// Kinds of the parts that follow the symbols of a module.
const (
	partSymbols   = 0xf1 // of an object
	partLines     = 0xf2
	partStrings   = 0xf3 // of an object
	partChecksums = 0xf4
	partInlinees  = 0xf6
	partImports   = 0xf7
	partExports   = 0xf8
)

// stretch is the line information of a contiguous range of a section.
type stretch struct {
	section  uint16
	off, end uint32
	at       int // offset of its blocks in the data
	size     int
	columns  bool
	first, n int // of the lines once they are read; n is -1 before
	siblings int // number of stretches with the same start, from this one on
	procs    int // procedures with this start; only in the first stretch with it
	taken    int // those of them whose lines have been assigned
}

// inlinee is the definition of an inlined function.
type inlinee struct {
	id, file, line uint32
}

// readSections reads the parts of a module's line information.
func (m *Body) readSections(data []byte) (err error) {
	m.data, m.checksums, m.imports = data, nil, nil
	m.stretches, m.inlinees = m.stretches[:0], m.inlinees[:0]
	err = parts(data, func(kind uint32, at int, part []byte) bool {
		switch kind {
		case partLines:
			m.addStretch(part, at)
		case partChecksums:
			m.checksums = part
		case partInlinees:
			m.addInlinees(part)
		case partImports:
			m.imports = part
		}
		return true
	})
	slices.SortStableFunc(m.stretches, func(a, b stretch) int {
		return cmp.Or(cmp.Compare(a.section, b.section), cmp.Compare(a.off, b.off))
	})
	for i := len(m.stretches) - 1; i >= 0; i-- {
		s := &m.stretches[i]
		if s.siblings = 1; i+1 < len(m.stretches) && m.stretches[i+1].section == s.section && m.stretches[i+1].off == s.off {
			s.siblings += m.stretches[i+1].siblings
		}
	}
	slices.SortStableFunc(m.inlinees, func(a, b inlinee) int { return cmp.Compare(a.id, b.id) })
	return err
}

// parts yields the parts of line information with the offset of their contents.
func parts(data []byte, yield func(kind uint32, at int, part []byte) bool) error {
	c := bin.NewCursor(data, binary.LittleEndian)
	for c.Len() >= 8 {
		kind, size := c.U32(), c.U32()
		at := c.Off()
		part := c.Bytes(int(size))
		if c.Err() != nil {
			return fmt.Errorf("line information, offset %#x: part of %d bytes: %w", at-8, size, bin.ErrShort)
		}
		if !yield(kind, at, part) {
			return nil
		}
		c.Skip(min(-c.Off()&3, c.Len()))
	}
	return nil
}

// stretchHead is the size of the header of lines.
const stretchHead = 12

func (m *Body) addStretch(part []byte, at int) {
	const columns = 1
	if len(part) < stretchHead {
		return
	}
	off, size := binary.LittleEndian.Uint32(part), binary.LittleEndian.Uint32(part[8:])
	m.stretches = append(m.stretches, stretch{
		section: binary.LittleEndian.Uint16(part[4:]), off: off, end: max(off, off+size),
		at: at + stretchHead, size: len(part) - stretchHead,
		columns: binary.LittleEndian.Uint16(part[6:])&columns != 0, n: -1,
	})
}

func (m *Body) addInlinees(part []byte) {
	const more = 1
	c := bin.NewCursor(part, binary.LittleEndian)
	for kind := c.U32(); c.Len() >= 12; {
		m.inlinees = append(m.inlinees, inlinee{c.U32(), c.U32(), c.U32()})
		if kind == more {
			c.Skip(4 * int(c.U32())) // further files, which the annotations refer to anyway
		}
	}
}

// file returns the file name, plus 1, of the checksum at an offset; 0 if it is
// invalid.
func (m *Body) file(at uint32) uint32 {
	const size, kinds = 6, 4
	if uint64(at)+size > uint64(len(m.checksums)) || m.checksums[at+5] >= kinds {
		return 0
	}
	return binary.LittleEndian.Uint32(m.checksums[at:]) + 1
}

// Sizes of a line, and of its columns.
const (
	lineSize   = 8
	columnSize = 4
)

// Line numbers that are hints for debuggers. The previous line continues there.
const (
	neverStepOnto = 0xfeefee
	neverStepInto = 0xf00f00
)

// read reads the lines of a stretch, which are in blocks, one for each file.
func (m *Body) read(s *stretch) {
	s.first, s.n = len(m.Lines), 0
	c := bin.NewCursor(m.data[s.at:][:s.size], binary.LittleEndian)
	for c.Len() >= 12 {
		file := m.file(c.U32())
		count, size := int(c.U32()), int(c.U32())-12
		if count < 0 || count > c.Len()/lineSize {
			break
		}
		lines := c.Bytes(count * lineSize)
		size -= len(lines)
		var columns []byte
		if s.columns && count <= c.Len()/columnSize {
			columns = c.Bytes(count * columnSize)
			size -= len(columns)
		}
		for i := range count {
			off, flags := binary.LittleEndian.Uint32(lines[i*lineSize:]), binary.LittleEndian.Uint32(lines[i*lineSize+4:])
			l := Line{Off: s.off + off, File: file, Line: flags & 0xffffff}
			if l.Off < s.off || l.Line == neverStepOnto || l.Line == neverStepInto {
				continue
			}
			if columns != nil {
				l.Column = binary.LittleEndian.Uint16(columns[i*columnSize:])
			}
			m.Lines = append(m.Lines, l)
		}
		c.Skip(min(max(size, 0), c.Len()))
	}
	own := m.Lines[s.first:]
	sortLines(own)
	// The last one of several lines at one offset wins.
	n := 0
	for i := range own {
		if i+1 < len(own) && own[i+1].Off == own[i].Off {
			continue
		}
		own[n] = own[i]
		n++
	}
	for i := range own[:n] {
		own[i].End = s.end
		if i+1 < n {
			own[i].End = min(own[i+1].Off, s.end)
		}
	}
	m.Lines, s.n = m.Lines[:s.first+n], n
}

func sortLines(lines []Line) {
	byOff := func(a, b Line) int { return cmp.Compare(a.Off, b.Off) }
	if !slices.IsSortedFunc(lines, byOff) {
		slices.SortStableFunc(lines, byOff)
	}
}

// stretchAt returns the first stretch that begins at the start of a procedure,
// or the index where it would be.
func (m *Body) stretchAt(p *Proc) (i int, found bool) {
	return slices.BinarySearchFunc(m.stretches, p, func(s stretch, p *Proc) int {
		return cmp.Or(cmp.Compare(s.section, p.Section), cmp.Compare(s.off, p.Off))
	})
}

// countProcs counts the procedures at the start of each stretch.
func (m *Body) countProcs() {
	for i := range m.Procs {
		if at, found := m.stretchAt(&m.Procs[i]); found {
			m.stretches[at].procs++
		}
	}
}

// ownStretch returns the stretch of the next procedure of those at one address,
// which the linker merged. Procedures and stretches are in the same order. If
// there are fewer stretches than procedures, the first procedures are assumed
// to have none. A single procedure can also have several stretches, for more
// than one file.
func (m *Body) ownStretch(first int) (own, after int) {
	s := &m.stretches[first]
	after = first + s.siblings
	if s.procs < s.siblings {
		return first, first + 1
	}
	s.taken++
	if own = after - s.procs + s.taken - 1; own < first {
		return after, after + 1
	}
	return own, after
}

// findLines finds the lines of a procedure: the lines of the stretch that contains its
// start, and of the stretches that begin in it.
func (m *Body) findLines(p *Proc) {
	i, found := m.stretchAt(p)
	if !found && i > 0 && m.stretches[i-1].section == p.Section && m.stretches[i-1].end > p.Off {
		i--
	}
	p.FirstLine, p.NumLines = 0, 0
	after := i + 1
	if found {
		i, after = m.ownStretch(i)
	}
	for ; i < len(m.stretches); i, after = after, after+1 {
		s := &m.stretches[i]
		if s.section != p.Section || s.off >= p.Off+p.Size {
			return
		}
		if s.n < 0 {
			m.read(s)
		}
		switch {
		case s.n == 0:
		case p.NumLines == 0:
			p.FirstLine, p.NumLines = s.first, s.n
		case p.FirstLine+p.NumLines == s.first:
			p.NumLines += s.n
		}
	}
}

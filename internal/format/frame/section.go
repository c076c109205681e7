// Package frame reads the unwind information of .eh_frame and .debug_frame: DWARF's
// call frame information, versions 1 to 4, with the encodings and augmentations of
// the Linux Standard Base.
//
// Section.Each yields the FDEs, each with the range of code that it describes.
// FDE.Rows executes its instructions and yields the rules that restore registers.
// Sections are used in place.
//
// A damaged entry is a Problem and is skipped; damaged instructions end the rows of
// their FDE. Rules, remembered states and augmentations are limited.
package frame

import (
	"encoding/binary"
	"fmt"

	"symbolon/internal/bin"
)

// Section is .eh_frame or .debug_frame with its relocations applied.
type Section struct {
	Data           []byte
	Addr           uint64 // load address of Data
	EH             bool   // .eh_frame
	Relocatable    bool   // code may begin at address 0
	Order          binary.ByteOrder
	AddrSize       int    // bytes of an address
	Text, DataBase uint64 // bases of pointers relative to text and data

	cies     map[uint64]*CIE // by offset; nil: damaged
	problems []Problem
}

// Problem is a damaged part of a section.
type Problem struct {
	Section string
	Off     uint64
	Reason  string
}

func (p Problem) Error() string {
	return fmt.Sprintf("dwarf, %s: at offset %#x: %s", p.Section, p.Off, p.Reason)
}

// maxProblems limits the problems that are kept.
const maxProblems = 100

// CIE is the common part of several FDEs.
type CIE struct {
	RA     uint16 // the register, or column, of the return address
	Signal bool   // of a signal handler: the calling frame was interrupted, and did not make a call

	s         *Section
	addrSize  int
	segSize   int
	codeAlign uint64
	dataAlign int64
	encoding  uint8 // of addresses in FDEs
	augmented bool  // FDEs have augmentation data
	initial   Row
}

// FDE has the unwind information of a range of code.
type FDE struct {
	Off         uint64 // in the section
	Start, Size uint64
	CIE         *CIE

	first, end int // range of its instructions in the section
}

// Order returns the byte order of f, which is that of numbers in expressions.
func (f *FDE) Order() binary.ByteOrder { return f.CIE.s.Order }

// maxAugmentation limits the length of an augmentation; real ones have fewer
// than ten letters.
const maxAugmentation = 32

// Each calls yield for each FDE until it returns false. The FDE is valid only
// during the call. FDEs of dropped code are skipped; damaged ones are skipped
// and returned as Problems. An FDE can refer only to a CIE at the start of an
// entry, so that the work is bounded by the size of the section.
func (s *Section) Each(yield func(*FDE) bool) []Problem {
	s.cies, s.problems = map[uint64]*CIE{}, nil
	s.entries(func(e entry) bool {
		if e.isCIE {
			s.cies[e.off] = s.readCIE(e)
		}
		return true
	})
	var f FDE
	cut := s.entries(func(e entry) bool {
		return e.isCIE || !s.readFDE(&f, e) || yield(&f)
	})
	if cut >= 0 {
		s.problem(uint64(cut), "the entry exceeds the section")
	}
	return s.problems
}

// HasFDE reports whether the section has an FDE whose start isCode accepts. It
// reads the section only up to that FDE: all linkers write a CIE before its
// FDEs.
func (s *Section) HasFDE(isCode func(addr uint64) bool) (has bool) {
	s.cies, s.problems = map[uint64]*CIE{}, nil
	var f FDE
	s.entries(func(e entry) bool {
		if e.isCIE {
			s.cies[e.off] = s.readCIE(e)
		} else {
			has = s.readFDE(&f, e) && isCode(f.Start)
		}
		return !has
	})
	return has
}

// At returns the FDE at an offset that Each has found. It is safe for concurrent
// use.
func (s *Section) At(off uint64) (f FDE, ok bool) {
	own := *s
	own.problems = nil
	e, ok := own.entryAt(int(off))
	if !ok || e.cie >= uint64(len(s.Data)) {
		return f, false
	}
	cie, ok := own.entryAt(int(e.cie))
	if !ok || !cie.isCIE {
		return f, false
	}
	own.cies = map[uint64]*CIE{e.cie: own.readCIE(cie)}
	ok = own.readFDE(&f, e)
	return f, ok
}

func (s *Section) problem(off uint64, format string, args ...any) {
	if len(s.problems) < maxProblems {
		s.problems = append(s.problems, Problem{Section: s.name(), Off: off, Reason: fmt.Sprintf(format, args...)})
	}
}

func (s *Section) name() string {
	if s.EH {
		return ".eh_frame"
	}
	return ".debug_frame"
}

// cursor returns a cursor over Data[pos:end] whose offsets are those of the
// section.
func (s *Section) cursor(pos, end int) *bin.Cursor {
	c := bin.NewCursor(s.Data[:end], s.Order)
	c.Skip(pos)
	return c
}

// entry is a CIE or an FDE before its content is read.
type entry struct {
	off       uint64
	body, end int // after the id
	isCIE     bool
	cie       uint64 // offset of the CIE of an FDE
}

// entries calls f for each entry until it returns false. It returns the offset
// of a truncated entry, or -1. Empty entries are skipped: they should mark the
// end, but linkers leave them between the parts that they join.
func (s *Section) entries(f func(entry) bool) int {
	for pos := 0; pos < len(s.Data); {
		e, ok := s.entryAt(pos)
		if !ok {
			return pos
		}
		if pos = e.end; e.body > 0 && !f(e) {
			break
		}
	}
	return -1
}

// entryAt reads the start of the entry at an offset. It returns false if the entry is
// truncated. An empty one has no body.
func (s *Section) entryAt(pos int) (e entry, ok bool) {
	c := s.cursor(pos, len(s.Data))
	e.off = uint64(pos)
	size, idSize := uint64(c.U32()), 4
	if size == 0xffffffff {
		if size = c.U64(); !s.EH {
			idSize = 8
		}
	}
	if c.Err() != nil || size > uint64(c.Len()) {
		return e, false
	}
	at := c.Off()
	if e.end = at + int(size); size < uint64(idSize) {
		return e, true
	}
	id := uint64(c.U32())
	if idSize == 8 {
		c = s.cursor(at, e.end)
		id = c.U64()
	}
	e.body = c.Off()
	if s.EH {
		e.isCIE, e.cie = id == 0, uint64(at)-id
	} else {
		e.isCIE, e.cie = id == ^uint64(0)>>(64-8*idSize), id
	}
	return e, true
}

// readCIE reads a CIE. It returns nil if the CIE is damaged.
func (s *Section) readCIE(e entry) *CIE {
	c := s.cursor(e.body, e.end)
	version := c.U8()
	limited := s.cursor(c.Off(), min(c.Off()+maxAugmentation, e.end))
	letters := string(limited.CString())
	c.Skip(limited.Off() - c.Off())
	if version != 1 && version != 3 && version != 4 || limited.Err() != nil {
		s.problem(e.off, "unsupported CIE version %d, augmentation %.8q", version, letters)
		return nil
	}
	cie := &CIE{s: s, addrSize: s.AddrSize}
	if version == 4 {
		cie.addrSize, cie.segSize = int(c.U8()), int(c.U8())
	}
	if a := cie.addrSize; a != 2 && a != 4 && a != 8 {
		s.problem(e.off, "invalid address size %d of the CIE", a)
		return nil
	}
	if letters == "eh" {
		c.Skip(cie.addrSize) // of gcc 2
		letters = ""
	}
	cie.codeAlign, cie.dataAlign = c.Uleb(), c.Sleb()
	ra := uint64(0)
	if version == 1 {
		ra = uint64(c.U8())
	} else {
		ra = c.Uleb()
	}
	if !cie.readAugmentation(c, letters) || ra > maxRegister {
		s.problem(e.off, "invalid CIE augmentation %q, return address %d", letters, ra)
		return nil
	}
	cie.RA = uint16(ra)
	if err := cie.begin(c); err != "" {
		s.problem(e.off, "CIE: %s", err)
		return nil
	}
	return cie
}

// readAugmentation reads the data of an augmentation, up to the first unknown
// letter.
func (cie *CIE) readAugmentation(c *bin.Cursor, letters string) (known bool) {
	if letters == "" || letters[0] != 'z' {
		return letters == "" && c.Err() == nil
	}
	cie.augmented = true
	size := c.Uleb()
	if size > uint64(c.Len()) {
		return false
	}
	end := c.Off() + int(size)
	for _, letter := range letters[1:] {
		switch letter {
		case 'S':
			cie.Signal = true
		case 'B', 'G': // keys and tags of arm64
		case 'L':
			c.Skip(1)
		case 'P':
			cie.pointer(c, c.U8())
		case 'R':
			cie.encoding = c.U8()
		default:
			c.Skip(end - c.Off())
			return c.Err() == nil
		}
	}
	c.Skip(end - c.Off())
	return c.Err() == nil
}

// readFDE reads an FDE into f. It returns false if the FDE is damaged or has no
// code.
func (s *Section) readFDE(f *FDE, e entry) bool {
	cie, ok := s.cies[e.cie]
	if !ok {
		s.problem(e.off, "missing CIE at offset %#x", e.cie)
	}
	if cie == nil {
		return false
	}
	c := s.cursor(e.body, e.end)
	c.Skip(cie.segSize)
	*f = FDE{Off: e.off, CIE: cie, end: e.end}
	f.Start, f.Size = cie.pointer(c, cie.encoding), cie.pointer(c, cie.encoding&peFormat)
	if cie.augmented {
		c.Skip(int(min(c.Uleb(), uint64(len(s.Data)))))
	}
	f.first = c.Off()
	if c.Err() != nil || cie.encoding&peIndirect != 0 || f.Start+f.Size < f.Start {
		s.problem(e.off, "invalid FDE: address %#x, %#x bytes, encoding %#x", f.Start, f.Size, cie.encoding)
		return false
	}
	dropped := f.Start >= s.mask(^uint64(0))-1 || f.Start == 0 && !s.EH && !s.Relocatable
	return f.Size > 0 && !dropped
}

// Encodings of pointers in .eh_frame (DW_EH_PE).
const (
	peFormat   = 0x07
	peSigned   = 0x08
	peRelative = 0x70
	peIndirect = 0x80
)

// pointer reads a pointer. An indirect one is the address of the address.
func (cie *CIE) pointer(c *bin.Cursor, encoding uint8) (v uint64) {
	s, pos := cie.s, c.Off()
	size := 1 << (encoding&peFormat - 1)
	switch encoding & peFormat {
	case 0:
		size = cie.addrSize
	case 1:
		if size = 0; encoding&peSigned == 0 {
			v = c.Uleb()
		} else {
			v = uint64(c.Sleb())
		}
	case 2, 3, 4:
	default:
		size = 0
		c.Skip(-1) // fails
	}
	switch size {
	case 2:
		v = uint64(c.U16())
	case 4:
		v = uint64(c.U32())
	case 8:
		v = c.U64()
	}
	if shift := 64 - 8*size; size > 0 && encoding&peSigned != 0 {
		v = uint64(int64(v<<shift) >> shift)
	}
	switch encoding & peRelative {
	case 0:
	case 0x10:
		v += s.Addr + uint64(pos)
	case 0x20:
		v += s.Text
	case 0x30:
		v += s.DataBase
	default:
		c.Skip(-1)
	}
	return s.mask(v)
}

// mask truncates v to the size of an address.
func (s *Section) mask(v uint64) uint64 {
	return v & (^uint64(0) >> (64 - 8*min(max(s.AddrSize, 1), 8)))
}

package elf

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
)

// Constants of the specification, some of them for users of this package.
const (
	TypeRel, TypeExec, TypeDyn, TypeCore = 1, 2, 3, 4 // ET_*; in TypeRel, addresses are offsets in sections

	SectionSymTab, SectionDynSym = 2, 11 // SHT_*
	SectionRel, SectionRela      = 9, 4
	SectionNote                  = 7
	SectionNoBits                = 8          // has no bytes in the file
	sectionIndices               = 18         // SHT_SYMTAB_SHNDX
	sectionVersions              = 0x6fffffff // SHT_GNU_VERSYM

	FlagAlloc, FlagExec = 0x2, 0x4 // SHF_*
	flagCompressed      = 0x800

	SegmentLoad                                = 1 // PT_*
	segmentDynamic, segmentInterp, segmentNote = 2, 3, 4
	segmentSCE                                 = 0x61000000 // PT_SCE_DYNLIBDATA, PlayStation
	segmentExec                                = 0x1        // PF_X
)

const (
	maxSectionName = 4 << 10
	maxHeaders     = 1 << 21 // entries of a table; core files have one for each mapping, of which systems allow up to 2^20
)

// File is an open ELF file.
type File struct {
	Class         int // 32 or 64
	Order         binary.ByteOrder
	OSABI         uint8
	Type, Machine uint16
	Flags         uint32
	Entry         uint64
	Segments      []Segment    // in the order of the file
	Sections      []Section    // the index is the number of the section; 0 is reserved
	Problems      bin.Problems // damaged parts of the file
	IsCut         bool         // the file ends before a table or a section that its headers declare

	// Unpack decompresses the payload of a section to exactly size bytes.
	// Without it compressed sections cannot be read. It is set before the File
	// is shared.
	Unpack func(kind Compression, packed []byte, size uint64) ([]byte, error)
	// Clone copies a section before relocations are applied to it; nil: to the
	// heap.
	Clone func([]byte) []byte

	src    bin.Source
	big    bool
	tables [2]table // .symtab, .dynsym
}

// Segment is a program header.
type Segment struct {
	Type, Flags                      uint32
	Off, Vaddr, Filesz, Memsz, Align uint64
}

// Section is a section header.
type Section struct {
	Name                   string // empty if the names are damaged
	Type                   uint32
	Flags, Addr, Off, Size uint64
	Link, Info             uint32
	Align, Entsize         uint64
	Index                  int

	nameOff uint32
}

// Open reads the headers and the names of the sections. It fails only without a
// usable header.
func Open(src bin.Source) (*File, error) {
	f, err := OpenHeaders(src)
	if err == nil {
		f.findTables()
	}
	return f, err
}

// OpenHeaders opens a file for its identifiers only: symbol tables are not
// read, and the File has no symbols.
func OpenHeaders(src bin.Source) (*File, error) {
	f := &File{src: src}
	head, err := bin.Read(src, 0, int(min(src.Size(), 64)))
	if err != nil {
		return nil, err
	}
	if len(head) < 16 || string(head[:4]) != "\x7fELF" {
		return nil, bad("invalid magic")
	}
	if head[4]-1 > 1 || head[5]-1 > 1 {
		return nil, bad("invalid class %d or byte order %d: must be 1 or 2", head[4], head[5])
	}
	f.Class, f.Order, f.big = 32*int(head[4]), binary.LittleEndian, head[5] == 2
	if f.big {
		f.Order = binary.BigEndian
	}
	f.OSABI = head[7]
	c := bin.NewCursor(head, f.Order)
	c.Skip(16)
	f.Type, f.Machine = c.U16(), c.U16()
	c.Skip(4)
	f.Entry = f.word(c)
	segments, sections := array{place: "program headers", off: f.word(c)}, array{place: "section headers", off: f.word(c)}
	f.Flags = c.U32()
	c.Skip(2)
	segments.entsize, segments.count = uint64(c.U16()), uint64(c.U16())
	sections.entsize, sections.count = uint64(c.U16()), uint64(c.U16())
	names := uint32(c.U16())
	if c.Err() != nil {
		return nil, bad("the file ends early, after %d bytes", len(head))
	}
	f.readSections(sections, &names, &segments.count)
	f.readSegments(segments)
	f.readNames(names)
	return f, nil
}

func bad(format string, args ...any) error {
	return fault.New(fault.Malformed, "elf, header", format, args...)
}

// problem records damage. It is called only while the file is opened.
func (f *File) problem(place string, off uint64, format string, args ...any) {
	f.Problems.Add(place, clamp(off), format, args...)
}

func clamp(off uint64) int64 { return int64(min(off, math.MaxInt64)) }

// word reads a number of the size of an address.
func (f *File) word(c *bin.Cursor) uint64 {
	if f.Class == 64 {
		return c.U64()
	}
	return uint64(c.U32())
}

// pick returns the number for the class of the file.
func (f *File) pick(of32, of64 uint64) uint64 {
	if f.Class == 64 {
		return of64
	}
	return of32
}

// array is a table of headers as described by the file header.
type array struct {
	place               string
	off, entsize, count uint64
}

// entries returns the entries that the file has, and their number. An entry has
// at least the given size, whatever the header states.
func (f *File) entries(a *array, minSize uint64) ([]byte, uint64) {
	size, n := uint64(f.src.Size()), a.count
	if n > 0 && a.entsize < minSize {
		f.problem(a.place, a.off, "invalid size of entries %d: must be at least %d", a.entsize, minSize)
		a.entsize = minSize
	}
	switch {
	case n == 0:
		return nil, 0
	case a.off == 0 || a.off > size || size-a.off < a.entsize:
		f.problem(a.place, a.off, "the file of %#x bytes has no entries at offset %#x", size, a.off)
		f.IsCut = f.IsCut || a.off != 0
		return nil, 0
	case (size-a.off)/a.entsize < n:
		n = (size - a.off) / a.entsize
		f.problem(a.place, a.off, "the file has %d of %d entries", n, a.count)
		f.IsCut = true
	}
	if n > maxHeaders {
		f.problem(a.place, a.off, "%d entries, of which %d are read", n, maxHeaders)
		n = maxHeaders
	}
	b := f.bytes(a.off, n*a.entsize)
	if b == nil {
		f.problem(a.place, a.off, "cannot be read")
		n = 0
	}
	return b, n
}

// readSections reads the section headers. The first one has the numbers that
// exceed 16 bits: those of the sections, of the segments, and of the section of
// names.
func (f *File) readSections(a array, names *uint32, segments *uint64) {
	if a.off == 0 && a.count == 0 {
		return
	}
	first := f.section(f.bytes(a.off, f.pick(40, 64)), 0)
	if a.count == 0 {
		a.count = max(first.Size, 1)
	}
	if *names == 0xffff {
		*names = first.Link
	}
	if *segments == 0xffff && first.Info != 0 {
		*segments = uint64(first.Info)
	}
	b, n := f.entries(&a, f.pick(40, 64))
	f.Sections = make([]Section, n)
	for i := range f.Sections {
		f.Sections[i] = f.section(b[uint64(i)*a.entsize:], i)
	}
}

// section reads a section header.
func (f *File) section(b []byte, index int) Section {
	c := bin.NewCursor(b, f.Order)
	s := Section{Index: index, nameOff: c.U32(), Type: c.U32()}
	s.Flags, s.Addr, s.Off, s.Size = f.word(c), f.word(c), f.word(c), f.word(c)
	s.Link, s.Info = c.U32(), c.U32()
	s.Align, s.Entsize = f.word(c), f.word(c)
	return s
}

func (f *File) readSegments(a array) {
	b, n := f.entries(&a, f.pick(32, 56))
	f.Segments = make([]Segment, n)
	for i := range f.Segments {
		s, c := &f.Segments[i], bin.NewCursor(b[uint64(i)*a.entsize:], f.Order)
		s.Type = c.U32()
		if f.Class == 64 {
			s.Flags = c.U32()
		}
		s.Off, s.Vaddr = f.word(c), f.word(c)
		f.word(c) // physical address
		s.Filesz, s.Memsz = f.word(c), f.word(c)
		if f.Class == 32 {
			s.Flags = c.U32()
		}
		s.Align = f.word(c)
	}
}

// readNames sets the names of the sections, and reports sections that extend
// past the end of the file. All names are slices of one string.
func (f *File) readNames(index uint32) {
	if len(f.Sections) < 2 {
		return
	}
	var table []byte
	if int64(index) < int64(len(f.Sections)) {
		table, _ = f.Raw(&f.Sections[index])
	}
	lo, hi := uint64(len(table)), uint64(0)
	for i := range f.Sections {
		off := uint64(f.Sections[i].nameOff)
		lo, hi = min(lo, off), max(hi, off+maxSectionName)
	}
	names := string(table[lo:max(lo, min(hi, uint64(len(table))))])
	missing := 0
	for i := range f.Sections {
		s := &f.Sections[i]
		rest := ""
		if off := uint64(s.nameOff) - lo; off < uint64(len(names)) {
			rest = names[off:min(off+maxSectionName, uint64(len(names)))]
		}
		end := strings.IndexByte(rest, 0)
		if end < 0 {
			end = len(rest)
			missing++
		}
		s.Name = rest[:end]
		if size := uint64(f.src.Size()); s.stored() && (s.Off > size || s.Size > size-s.Off) {
			f.IsCut = true
			f.problem("section "+s.Label(), s.Off, "%#x bytes at offset %#x exceed the file of %#x bytes", s.Size, s.Off, size)
		}
	}
	if missing > 0 {
		f.problem("section names", 0, "section %[3]d lacks %[1]d of %[2]d names", missing, len(f.Sections), index)
	}
}

// stored reports whether the section has bytes in the file.
func (s *Section) stored() bool {
	return s.Type != SectionNoBits && s.Type != 0 && s.Size > 0
}

// Label returns the name for messages: without a name, the number.
func (s *Section) Label() string {
	if s.Name == "" {
		return fmt.Sprintf("#%d", s.Index)
	}
	return s.Name
}

// bytes returns the part of a range that the file has, without a copy if the
// source is in memory, and nil if the source fails.
func (f *File) bytes(off, size uint64) []byte {
	have := uint64(f.src.Size())
	if off >= have {
		return nil
	}
	b, _ := bin.Read(f.src, int64(off), int(min(size, have-off, math.MaxInt)))
	return b
}

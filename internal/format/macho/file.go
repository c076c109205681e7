package macho

import (
	"bytes"
	"encoding/binary"

	"symbolon/internal/bin"
)

// File is an open image.
type File struct {
	Is64                         bool
	Order                        binary.ByteOrder
	CPU, SubCPU, FileType, Flags uint32
	UUID                         [16]byte
	HasUUID                      bool
	HasSymtab                    bool // there is a symbol table, possibly empty
	Segments                     []Segment
	Sections                     []Section
	Problems                     bin.Problems

	// Clone copies a section before relocations are applied to it; nil: to the
	// heap.
	Clone func([]byte) []byte

	src             bin.Source
	base, size      int64  // of the slice
	cmdsAt          int64  // offset of the load commands
	count, cmdsSize uint32 // of load commands
	symbols, names  []byte
	starts          []byte
	encrypted       [2]int64 // start and end offset
}

// Segment is a range of addresses and the bytes loaded there.
type Segment struct {
	Name       string
	Addr, Size uint64
	Off        int64
	FileSize   uint64
}

// Section is a part of a segment.
type Section struct {
	Name, Segment  string // truncated to 16 bytes
	Addr, Size     uint64
	Off            int64 // of its bytes in the slice; 0: none
	Flags          uint32
	Reloff, Nreloc uint32
}

// Types and attributes of sections.
const (
	sectionTypeMask     = 0xff
	sectionZeroFill     = 0x1
	sectionGBZeroFill   = 0xc
	sectionThreadZero   = 0x12
	sectionInstructions = 0x80000400 // pure, some
)

// Open reads the header and the load commands of an image. It fails only
// without a usable header; other damage is listed in Problems.
func Open(src bin.Source, s Slice) (*File, error) {
	f, err := openImage(src, s)
	if err != nil {
		return nil, err
	}
	f.commands(f.command)
	f.checkSections()
	return f, nil
}

// command reads a load command. Of commands that should be unique the first one
// wins.
func (f *File) command(cmd uint32, at int64, c *bin.Cursor) {
	switch cmd {
	case cmdSegment, cmdSegment64:
		f.segment(at, c)
	case cmdUUID:
		if b := c.Bytes(16); b != nil && !f.HasUUID {
			f.UUID, f.HasUUID = [16]byte(b), true
		}
	case cmdSymtab:
		symoff, count, stroff, strsize := c.U32(), c.U32(), c.U32(), c.U32()
		if c.Err() != nil || f.HasSymtab {
			return
		}
		f.HasSymtab = true
		f.symbols = f.table("symbol table", int64(symoff), int64(count)*int64(f.symbolSize()))
		f.names = f.table("string table", int64(stroff), int64(strsize))
	case cmdFunctionStarts:
		off, size := c.U32(), c.U32()
		if c.Err() == nil && f.starts == nil {
			f.starts = f.table("function starts", int64(off), int64(size))
		}
	case cmdEncryption, cmdEncryption64:
		off, size, id := int64(c.U32()), int64(c.U32()), c.U32()
		if c.Err() == nil && id != 0 {
			f.encrypted = [2]int64{off, off + size}
		}
	}
	if c.Err() != nil {
		f.Problems.Add("load commands", at, "command %#x is too short", cmd)
	}
}

// word reads a number of the size of an address.
func (f *File) word(c *bin.Cursor) uint64 {
	if f.Is64 {
		return c.U64()
	}
	return uint64(c.U32())
}

func (f *File) segment(at int64, c *bin.Cursor) {
	g := Segment{Name: fixedName(c), Addr: f.word(c), Size: f.word(c), Off: int64(f.word(c)), FileSize: f.word(c)}
	c.Skip(8) // protections
	count := c.U32()
	c.Skip(4)
	if c.Err() != nil {
		return
	}
	f.Segments = append(f.Segments, g)
	for range count {
		if c.Len() == 0 {
			f.Problems.Add("load commands", at, "segment %q has fewer than %d sections", g.Name, count)
			return
		}
		s := Section{Name: fixedName(c), Segment: fixedName(c), Addr: f.word(c), Size: f.word(c), Off: int64(c.U32())}
		c.Skip(4) // alignment
		s.Reloff, s.Nreloc, s.Flags = c.U32(), c.U32(), c.U32()
		c.Skip(8)
		if f.Is64 {
			c.Skip(4)
		}
		if c.Err() != nil {
			return
		}
		s.repair(&g)
		f.Sections = append(f.Sections, s)
	}
}

// repair restores the offset of a section past 4 GiB: the offset of its address
// in the segment, if the lower half of it is the stored offset.
func (s *Section) repair(g *Segment) {
	if s.isZeroFill() {
		s.Off = 0
		return
	}
	in := s.Addr - g.Addr
	off := uint64(g.Off) + in
	if s.Addr >= g.Addr && in < g.FileSize && off < 1<<62 && uint32(off) == uint32(s.Off) {
		s.Off = int64(off)
	}
}

func (s *Section) isZeroFill() bool {
	t := s.Flags & sectionTypeMask
	return t == sectionZeroFill || t == sectionGBZeroFill || t == sectionThreadZero
}

// isCode reports whether the section may contain functions.
func (s *Section) isCode() bool {
	return s.Flags&sectionInstructions != 0 || s.Segment == "__TEXT" && (s.Name == "__text" || s.Name == "__stubs")
}

// fixedName reads a name of up to 16 bytes.
func fixedName(c *bin.Cursor) string {
	name, _, _ := bytes.Cut(c.Bytes(16), []byte{0})
	return string(name)
}

// table returns n bytes at an offset of the slice, truncated to the file.
func (f *File) table(place string, off, n int64) []byte {
	b, err := f.bytes(off, n)
	if err != nil {
		f.Problems.Add(place, off, "%v", err)
	} else if int64(len(b)) < n {
		f.Problems.Add(place, off, "the file has %d of %d bytes", len(b), n)
	}
	return b
}

// bytes returns up to n bytes at an offset of the slice.
func (f *File) bytes(off, n int64) ([]byte, error) {
	if off < 0 || off >= f.size || n <= 0 {
		return nil, nil
	}
	return bin.Read(f.src, f.base+off, int(min(n, f.size-off)))
}

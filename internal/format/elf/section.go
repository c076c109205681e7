package elf

import (
	"encoding/binary"
	"math"
	"strings"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
)

// Compression says how the bytes of a section are packed. The numbers are those
// of the header of a compressed section.
type Compression uint8

const (
	None Compression = iota
	Zlib
	Zstd
)

// Section is the first section of this name that has bytes, else the first one
// of this name; nil if there is none. For .debug_x it is also .zdebug_x.
func (f *File) Section(name string) *Section {
	if s := f.named(name); s != nil || !strings.HasPrefix(name, ".debug_") {
		return s
	}
	return f.named(".z" + name[1:])
}

func (f *File) named(name string) (found *Section) {
	for i := range f.Sections {
		s := &f.Sections[i]
		if s.Name == name && s.Type != 0 && (found == nil || s.stored() && !found.stored()) {
			found = s
		}
	}
	return found
}

// Raw is the bytes of a section as they are in the file. A section that reaches
// beyond the end of the file has the bytes up to there; one of NOBITS has none.
func (f *File) Raw(s *Section) ([]byte, error) {
	if !s.stored() {
		return nil, nil
	}
	size := uint64(f.src.Size())
	if s.Off >= size {
		return nil, nil
	}
	return bin.Read(f.src, int64(s.Off), int(min(s.Size, size-s.Off, math.MaxInt)))
}

// Packed is how a section is compressed, how many bytes it has without that,
// and what is to be unpacked. A section that is not compressed has the kind
// None and its own bytes.
func (f *File) Packed(s *Section) (kind Compression, size uint64, payload []byte, err error) {
	raw, err := f.Raw(s)
	if err != nil || raw == nil {
		return None, 0, nil, err
	}
	if s.Flags&flagCompressed == 0 {
		if strings.HasPrefix(s.Name, ".zdebug") && len(raw) >= 12 && string(raw[:4]) == "ZLIB" {
			return Zlib, binary.BigEndian.Uint64(raw[4:]), raw[12:], nil
		}
		return None, uint64(len(raw)), raw, nil
	}
	c := bin.NewCursor(raw, f.Order)
	form := c.U32()
	if f.Class == 64 {
		c.Skip(4)
	}
	size = f.word(c)
	f.word(c) // the alignment of what is inside
	if c.Err() != nil {
		return None, 0, nil, fault.New(fault.Malformed, "elf, section "+s.Label(), "%d bytes are less than the header of a compressed section", len(raw))
	}
	if form != uint32(Zlib) && form != uint32(Zstd) {
		return None, 0, nil, fault.New(fault.Unsupported, "elf, section "+s.Label(), "compression %d is not known", form)
	}
	return Compression(form), size, raw[c.Off():], nil
}

// Data is the bytes of a section, unpacked if they are compressed.
func (f *File) Data(s *Section) ([]byte, error) {
	kind, size, payload, err := f.Packed(s)
	switch {
	case err != nil || kind == None:
		return payload, err
	case size == 0:
		return []byte{}, nil
	case f.Unpack == nil || size > math.MaxInt:
		return nil, fault.New(fault.Unsupported, "elf, section "+s.Label(), "%d bytes cannot be unpacked", size)
	}
	return f.Unpack(kind, payload, size)
}

// LoadAddress is the address of the first segment that is loaded.
func (f *File) LoadAddress() uint64 {
	for i := range f.Segments {
		if f.Segments[i].Type == SegmentLoad {
			return f.Segments[i].Vaddr
		}
	}
	return 0
}

// Code is what the file has of size bytes of code at an address.
func (f *File) Code(vaddr, size uint64) []byte {
	for i := range f.Segments {
		s := &f.Segments[i]
		if s.Type == SegmentLoad && s.Flags&segmentExec != 0 && vaddr >= s.Vaddr && vaddr-s.Vaddr < s.Filesz {
			in := vaddr - s.Vaddr
			return f.bytes(s.Off+in, min(size, s.Filesz-in))
		}
	}
	return nil
}

// at is what the file has at an address and behind it in the same segment.
func (f *File) at(vaddr uint64) []byte {
	for i := range f.Segments {
		s := &f.Segments[i]
		if s.Type == SegmentLoad && vaddr >= s.Vaddr && vaddr-s.Vaddr < s.Filesz {
			in := vaddr - s.Vaddr
			return f.bytes(s.Off+in, s.Filesz-in)
		}
	}
	return nil
}

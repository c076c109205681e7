package elf

import (
	"encoding/binary"
	"math"
	"strings"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
)

// Compression is the compression of a section. The values are those of the
// header of a compressed section.
type Compression uint8

const (
	None Compression = iota
	Zlib
	Zstd
)

// Section returns the first section of this name with bytes, or else the first
// one of this name, or nil. The name .debug_x also finds .zdebug_x.
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

// Raw returns the bytes of a section as stored. A section that extends past the
// end of the file is truncated; one of type NOBITS is empty.
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

// Packed returns the compression of a section, its uncompressed size, and its
// compressed bytes. An uncompressed section has the compression None and its
// own bytes.
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
	f.word(c) // alignment of the uncompressed content
	if c.Err() != nil {
		return None, 0, nil, fault.New(fault.Malformed, "elf, section "+s.Label(),
			"invalid compression header: the section has %d bytes", len(raw))
	}
	if form != uint32(Zlib) && form != uint32(Zstd) {
		return None, 0, nil, fault.New(fault.Unsupported, "elf, section "+s.Label(), "unknown compression %d", form)
	}
	return Compression(form), size, raw[c.Off():], nil
}

// Data returns the uncompressed bytes of a section.
func (f *File) Data(s *Section) ([]byte, error) {
	kind, size, payload, err := f.Packed(s)
	switch {
	case err != nil || kind == None:
		return payload, err
	case size == 0:
		return []byte{}, nil
	case f.Unpack == nil || size > math.MaxInt:
		return nil, fault.New(fault.Unsupported, "elf, section "+s.Label(), "cannot decompress %d bytes", size)
	}
	return f.Unpack(kind, payload, size)
}

// LoadAddress returns the address of the first loaded segment.
func (f *File) LoadAddress() uint64 {
	for i := range f.Segments {
		if f.Segments[i].Type == SegmentLoad {
			return f.Segments[i].Vaddr
		}
	}
	return 0
}

// IsCode reports whether s is loaded as code.
func (s *Segment) IsCode() bool { return s.Type == SegmentLoad && s.Flags&segmentExec != 0 }

// Code returns the bytes of the file for size bytes of code at an address.
func (f *File) Code(vaddr, size uint64) []byte {
	for i := range f.Segments {
		s := &f.Segments[i]
		if s.IsCode() && vaddr >= s.Vaddr && vaddr-s.Vaddr < s.Filesz {
			in := vaddr - s.Vaddr
			return f.bytes(s.Off+in, min(size, s.Filesz-in))
		}
	}
	return nil
}

// bytesFrom returns the bytes of the file from an address to the end of its
// segment.
func (f *File) bytesFrom(vaddr uint64) []byte {
	for i := range f.Segments {
		s := &f.Segments[i]
		if s.Type == SegmentLoad && vaddr >= s.Vaddr && vaddr-s.Vaddr < s.Filesz {
			in := vaddr - s.Vaddr
			return f.bytes(s.Off+in, s.Filesz-in)
		}
	}
	return nil
}

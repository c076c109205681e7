package pe

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"math"
	"strconv"
	"strings"

	"symbolon/internal/bin"
)

// Section is a part of the image.
type Section struct {
	Name       string
	Addr, Size uint32 // in memory
	Off        int64  // of its bytes in the file
	FileSize   uint32 // how many those are
	Flags      uint32
}

// The flags of sections that count here: contains code, may be executed.
const sectionCode = 0x20000020

// sectionHeader is the size of a section header.
const sectionHeader = 40

func (f *File) readSections(at, count int64) {
	const place = "section headers"
	b := f.table(place, at, count*sectionHeader)
	f.Sections = make([]Section, 0, len(b)/sectionHeader)
	for c := bin.NewCursor(b, le); c.Len() >= sectionHeader; {
		name, _, _ := bytes.Cut(c.Bytes(8), []byte{0})
		s := Section{Size: c.U32(), Addr: c.U32(), FileSize: c.U32(), Off: int64(c.U32() &^ f.sector)}
		c.Skip(12)
		s.Flags = c.U32()
		if s.Off == 0 {
			s.FileSize = 0
		}
		if s.Size == 0 {
			s.Size = s.FileSize
		}
		s.Name = f.longName(string(name))
		if size := min(s.Size, s.FileSize); s.Off+int64(size) > f.src.Size() {
			f.problem("section "+s.Name, s.Off, "%d of %d bytes are in the file", max(f.src.Size()-s.Off, 0), size)
		}
		f.Sections = append(f.Sections, s)
	}
}

// longName is the name of a section, which may stand among the strings.
func (f *File) longName(name string) string {
	digits, ok := strings.CutPrefix(name, "/")
	if !ok {
		return name
	}
	off, err := strconv.ParseUint(digits, 10, 32)
	if packed, ok := strings.CutPrefix(digits, "/"); ok {
		var b [6]byte // of which the upper 36 bits count
		_, err = base64.StdEncoding.Decode(b[:], []byte((packed + "AAAAAAAA")[:8]))
		off = binary.BigEndian.Uint64(append(make([]byte, 2, 8), b[:]...)) >> 12
	}
	if long := f.text(off); err == nil && len(long) > 0 {
		return string(long)
	}
	return name
}

// text is a string of the table of strings, which begins with its size.
func (f *File) text(off uint64) []byte {
	if off < 4 || off >= uint64(len(f.names)) {
		return nil
	}
	return untilNUL(f.names[off:])
}

// maxName bounds the search for the end of a name, as many may have the same
// one.
const maxName = 1 << 16

func untilNUL(b []byte) []byte {
	b = b[:min(len(b), maxName)]
	if n := bytes.IndexByte(b, 0); n >= 0 {
		b = b[:n:n]
	}
	return b
}

// Section finds a section by its name. Asked for ".debug_x", it also finds
// ".zdebug_x".
func (f *File) Section(name string) *Section {
	other := ".z" + strings.TrimPrefix(name, ".")
	if name == ".eh_frame" {
		other = name[:8]
	}
	for _, n := range [2]string{name, other} {
		for i := range f.Sections {
			if f.Sections[i].Name == n {
				return &f.Sections[i]
			}
		}
	}
	return nil
}

// At is the section that has an address, nil if there is none.
func (f *File) At(addr uint32) *Section {
	for i := range f.Sections {
		if s := &f.Sections[i]; addr >= s.Addr && addr-s.Addr < s.Size {
			return s
		}
	}
	return nil
}

// Code says whether functions are in the section.
func (s *Section) Code() bool { return s.Flags&sectionCode != 0 }

// Code is what the file has of size bytes of code at an address.
func (f *File) Code(addr, size uint64) []byte {
	if addr > math.MaxUint32 {
		return nil
	}
	if s := f.At(uint32(addr)); s != nil && s.Code() {
		return f.Mapped(uint32(addr), int64(min(size, math.MaxInt64)))
	}
	return nil
}

// Data is the bytes of a section as they are in the file, cut where that ends.
func (f *File) Data(s *Section) ([]byte, error) {
	return f.bytes(s.Off, int64(min(s.Size, s.FileSize)))
}

// Packed is the bytes of a section and, if they are in the GNU form of
// compression, the zlib stream in them with the size that it claims to have
// unpacked.
func (f *File) Packed(s *Section) (zlib bool, size uint64, payload []byte, err error) {
	b, err := f.Data(s)
	if strings.HasPrefix(s.Name, ".zdebug_") && len(b) >= 12 && string(b[:4]) == "ZLIB" {
		return true, binary.BigEndian.Uint64(b[4:]), b[12:], nil
	}
	return false, uint64(len(b)), b, err
}

// Mapped is as many of n bytes at an address as the file has there.
func (f *File) Mapped(addr uint32, n int64) []byte {
	off, left := int64(addr), int64(f.headerSize)-int64(addr)
	if s := f.At(addr); s != nil {
		in := int64(addr - s.Addr)
		off, left = s.Off+in, int64(min(s.Size, s.FileSize))-in
	}
	b, _ := f.bytes(off, min(n, left))
	return b
}

// mapped is a table in memory, cut where the file has no more of it. That of a
// section without bytes, as files of debug information have them, is no damage.
func (f *File) mapped(place string, addr uint32, n int64) []byte {
	b := f.Mapped(addr, n)
	if s := f.At(addr); int64(len(b)) < n && (s == nil || s.FileSize > 0) {
		f.problem(place, int64(addr), "%d of %d bytes are in the file", len(b), n)
	}
	return b
}

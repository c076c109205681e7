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

// Section is a section of the image.
type Section struct {
	Name       string
	Addr, Size uint32 // in memory
	Off        int64  // offset of its bytes in the file
	FileSize   uint32 // number of those bytes
	Flags      uint32

	relocsAt, relocs uint32 // offset and number of the relocations of an object
}

// sectionCode has the flags "contains code" and "may be executed".
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
		s.relocsAt, _, s.relocs, _ = c.U32(), c.U32(), uint32(c.U16()), c.U16()
		s.Flags = c.U32()
		if s.Off == 0 {
			s.FileSize = 0
		}
		if s.Size == 0 || f.Object {
			s.Size = s.FileSize
		}
		if f.Object {
			s.Addr = 0
		}
		s.Name = f.longName(string(name))
		if size := min(s.Size, s.FileSize); size > 0 && s.Off+int64(size) > f.src.Size() {
			f.Problems.Add("section "+s.Name, s.Off, "the file has %d of %d bytes", max(f.src.Size()-s.Off, 0), size)
		}
		f.Sections = append(f.Sections, s)
	}
}

// longName returns the name of a section, which may be in the string table.
func (f *File) longName(name string) string {
	digits, ok := strings.CutPrefix(name, "/")
	if !ok {
		return name
	}
	off, err := strconv.ParseUint(digits, 10, 32)
	if packed, ok := strings.CutPrefix(digits, "/"); ok {
		var b [6]byte // the upper 36 bits are used
		_, err = base64.StdEncoding.Decode(b[:], []byte((packed + "AAAAAAAA")[:8]))
		off = binary.BigEndian.Uint64(append(make([]byte, 2, 8), b[:]...)) >> 12
	}
	if long := f.text(off); err == nil && len(long) > 0 {
		return string(long)
	}
	return name
}

// text returns a string of the string table, which begins with its size.
func (f *File) text(off uint64) []byte {
	if off < 4 || off >= uint64(len(f.names)) {
		return nil
	}
	return untilNUL(f.names[off:])
}

// maxName limits the search for the end of a name, since many symbols may share
// one.
const maxName = 1 << 16

func untilNUL(b []byte) []byte {
	b = b[:min(len(b), maxName)]
	if n := bytes.IndexByte(b, 0); n >= 0 {
		b = b[:n:n]
	}
	return b
}

// Section finds a section by its name. The name ".debug_x" also finds
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

// At returns the section that contains an address, or nil. Sections of an object
// without an address contain none.
func (f *File) At(addr uint32) *Section {
	for i := range f.Sections {
		if s := &f.Sections[i]; addr >= s.Addr && addr-s.Addr < s.Size && (s.Addr > 0 || !f.Object) {
			return s
		}
	}
	return nil
}

// Code reports whether the section may contain functions.
func (s *Section) Code() bool { return s.Flags&sectionCode != 0 }

// Code returns the bytes of the file for size bytes of code at an address.
func (f *File) Code(addr, size uint64) []byte {
	if addr > math.MaxUint32 {
		return nil
	}
	if s := f.At(uint32(addr)); s != nil && s.Code() {
		return f.Mapped(uint32(addr), int64(min(size, math.MaxInt64)))
	}
	return nil
}

// Data returns the bytes of a section as stored, truncated to the file.
func (f *File) Data(s *Section) ([]byte, error) {
	return f.bytes(s.Off, int64(min(s.Size, s.FileSize)))
}

// Packed returns the bytes of a section. If they have the GNU form of
// compression, zlib is true, payload is the zlib stream, and size is the
// uncompressed size that it claims.
func (f *File) Packed(s *Section) (zlib bool, size uint64, payload []byte, err error) {
	b, err := f.Data(s)
	if strings.HasPrefix(s.Name, ".zdebug_") && len(b) >= 12 && string(b[:4]) == "ZLIB" {
		return true, binary.BigEndian.Uint64(b[4:]), b[12:], nil
	}
	return false, uint64(len(b)), b, err
}

// Mapped returns up to n bytes of the file for an address.
func (f *File) Mapped(addr uint32, n int64) []byte {
	off, left := int64(addr), int64(f.headerSize)-int64(addr)
	if s := f.At(addr); s != nil {
		in := int64(addr - s.Addr)
		off, left = s.Off+in, int64(min(s.Size, s.FileSize))-in
	}
	b, _ := f.bytes(off, min(n, left))
	return b
}

// mapped returns a table in memory, truncated to the file. Missing bytes of a
// section without any, as in debug files, are not damage.
func (f *File) mapped(place string, addr uint32, n int64) []byte {
	b := f.Mapped(addr, n)
	if s := f.At(addr); int64(len(b)) < n && (s == nil || s.FileSize > 0) {
		f.Problems.Add(place, int64(addr), "the file has %d of %d bytes", len(b), n)
	}
	return b
}

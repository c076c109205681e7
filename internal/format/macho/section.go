package macho

import (
	"encoding/binary"
	"strings"
)

// checkSections reports sections whose bytes are missing or encrypted.
func (f *File) checkSections() {
	for i := range f.Sections {
		s := &f.Sections[i]
		switch left := f.size - s.Off; {
		case s.Off == 0:
		case f.isEncrypted(s):
			f.Problems.Add(s.Segment+","+s.Name, s.Off, "the section is encrypted")
		case left <= 0 && s.Size > 0:
			f.Problems.Add(s.Segment+","+s.Name, s.Off, "the section is beyond the end of the file")
		case left > 0 && s.Size > uint64(left):
			f.Problems.Add(s.Segment+","+s.Name, s.Off, "the file has %d of %d bytes", left, s.Size)
		}
	}
}

func (f *File) isEncrypted(s *Section) bool {
	return s.Off < f.encrypted[1] && uint64(s.Off)+s.Size > uint64(f.encrypted[0])
}

// Section finds a section by its full name, which may be longer than the 16
// bytes of the file. An empty segment matches all. The name "__debug_x" also
// finds "__zdebug_x".
func (f *File) Section(segment, name string) *Section {
	for _, n := range [2]string{name, "__z" + strings.TrimPrefix(name, "__")} {
		n = n[:min(len(n), 16)]
		for i := range f.Sections {
			if s := &f.Sections[i]; s.Name == n && (segment == "" || s.Segment == segment) {
				return s
			}
		}
		if !strings.HasPrefix(name, "__debug_") {
			break
		}
	}
	return nil
}

// Code returns the bytes of the file for size bytes of code at an address.
func (f *File) Code(vaddr, size uint64) []byte {
	for i := range f.Sections {
		s := &f.Sections[i]
		if vaddr >= s.Addr && vaddr-s.Addr < s.Size && s.isCode() && s.Off != 0 && !f.isEncrypted(s) {
			in := vaddr - s.Addr
			b, _ := f.bytes(s.Off+int64(in), int64(min(size, s.Size-in, 1<<62))) // up to the end of the file
			return b
		}
	}
	return nil
}

// Data returns the bytes of a section as stored, truncated to the file. It is
// nil without bytes, as for most sections of a dSYM, and if they are encrypted.
func (f *File) Data(s *Section) ([]byte, error) {
	if s.Off == 0 || f.isEncrypted(s) {
		return nil, nil
	}
	return f.bytes(s.Off, int64(min(s.Size, 1<<62)))
}

// Packed returns the bytes of a section. If they have the GNU form of
// compression, zlib is true, payload is the zlib stream, and size is the
// uncompressed size that it claims.
func (f *File) Packed(s *Section) (zlib bool, size uint64, payload []byte, err error) {
	b, err := f.Data(s)
	if strings.HasPrefix(s.Name, "__zdebug_") && len(b) >= 12 && string(b[:4]) == "ZLIB" {
		return true, binary.BigEndian.Uint64(b[4:]), b[12:], nil
	}
	return false, uint64(len(b)), b, err
}

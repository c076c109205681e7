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
		case f.unreadable(s):
			f.problem(s.Segment+","+s.Name, s.Off, "the section is encrypted")
		case left <= 0 && s.Size > 0:
			f.problem(s.Segment+","+s.Name, s.Off, "the section is not in the file")
		case left > 0 && s.Size > uint64(left):
			f.problem(s.Segment+","+s.Name, s.Off, "%d of %d bytes are in the file", left, s.Size)
		}
	}
}

func (f *File) unreadable(s *Section) bool {
	return s.Off < f.encrypted[1] && uint64(s.Off)+s.Size > uint64(f.encrypted[0])
}

// Section finds a section by its full name, which may be longer than a file can
// say. An empty segment is any. Asked for "__debug_x", it also finds
// "__zdebug_x".
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

// Code is what the file has of size bytes of code at an address.
func (f *File) Code(vaddr, size uint64) []byte {
	for i := range f.Sections {
		s := &f.Sections[i]
		if vaddr >= s.Addr && vaddr-s.Addr < s.Size && s.code() && s.Off != 0 && !f.unreadable(s) {
			in := vaddr - s.Addr
			b, _ := f.bytes(s.Off+int64(in), int64(min(size, s.Size-in, 1<<62))) // what there is
			return b
		}
	}
	return nil
}

// Data is the bytes of a section as they are in the file, cut where that ends:
// nil if it has none, as most sections of a dSYM, or if they are encrypted.
func (f *File) Data(s *Section) ([]byte, error) {
	if s.Off == 0 || f.unreadable(s) {
		return nil, nil
	}
	return f.bytes(s.Off, int64(min(s.Size, 1<<62)))
}

// Packed is the bytes of a section and, if they are in the GNU form of
// compression, the zlib stream in them with the size that it claims to have
// unpacked.
func (f *File) Packed(s *Section) (zlib bool, size uint64, payload []byte, err error) {
	b, err := f.Data(s)
	if strings.HasPrefix(s.Name, "__zdebug_") && len(b) >= 12 && string(b[:4]) == "ZLIB" {
		return true, binary.BigEndian.Uint64(b[4:]), b[12:], nil
	}
	return false, uint64(len(b)), b, err
}

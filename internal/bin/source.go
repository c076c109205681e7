package bin

import (
	"fmt"
	"io"
)

// Source is bytes with random access and a known size.
type Source interface {
	io.ReaderAt
	Size() int64
}

// Bytes is a Source over memory.
func Bytes(b []byte) Source { return memory(b) }

type memory []byte

func (m memory) Size() int64   { return int64(len(m)) }
func (m memory) Bytes() []byte { return m }

func (m memory) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, fmt.Errorf("read at negative offset %d", off)
	}
	if off >= int64(len(m)) {
		return 0, io.EOF
	}
	n := copy(p, m[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// Whole is the content of s, if s has it in memory or mapped, which it tells
// by a method Bytes() []byte. The bytes are valid as long as s is open.
func Whole(s Source) ([]byte, bool) {
	w, ok := s.(interface{ Bytes() []byte })
	if !ok {
		return nil, false
	}
	b := w.Bytes()
	return b, int64(len(b)) == s.Size()
}

// InPlace is s with its content in memory, if that costs no copy: as it is, or
// mapped by a method Map() ([]byte, error), whose bytes are valid as long as s
// is open. Mapped says that reading them may fault.
func InPlace(s Source) (in Source, mapped bool) {
	if _, ok := Whole(s); ok {
		return s, false
	}
	m, ok := s.(interface{ Map() ([]byte, error) })
	if !ok {
		return s, false
	}
	b, err := m.Map()
	if err != nil || int64(len(b)) != s.Size() {
		return s, false
	}
	return Bytes(b), true
}

// Read returns n bytes of s from off on. A range that s does not have is
// ErrShort, and is found before anything is allocated. If s is Whole the
// result is a part of it.
func Read(s Source, off int64, n int) ([]byte, error) {
	size := s.Size()
	if off < 0 || n < 0 || off > size || int64(n) > size-off {
		return nil, fmt.Errorf("%d bytes at offset %d of %d: %w", n, off, size, ErrShort)
	}
	if b, ok := Whole(s); ok {
		return b[off : off+int64(n) : off+int64(n)], nil
	}
	b := make([]byte, n)
	got, err := s.ReadAt(b, off)
	switch {
	case got == n:
		return b, nil
	case err == nil || err == io.EOF:
		err = ErrShort
	}
	return nil, fmt.Errorf("%d bytes at offset %d of %d: %w", n, off, size, err)
}

// Section is the n bytes of s from off on, as far as s has them. It is Whole if
// s is.
func Section(s Source, off, n int64) Source {
	off = min(max(off, 0), s.Size())
	n = min(max(n, 0), s.Size()-off)
	if b, ok := Whole(s); ok {
		return Bytes(b[off : off+n : off+n])
	}
	return io.NewSectionReader(s, off, n)
}

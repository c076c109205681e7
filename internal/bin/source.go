package bin

import (
	"fmt"
	"io"
)

// Source is random access to bytes of a known size.
type Source interface {
	io.ReaderAt
	Size() int64
}

// Bytes returns a Source that reads b.
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

// Whole returns the content of s if it is in memory or mapped, as reported by a
// method Bytes() []byte. The bytes are valid while s is open.
func Whole(s Source) ([]byte, bool) {
	w, ok := s.(interface{ Bytes() []byte })
	if !ok {
		return nil, false
	}
	b := w.Bytes()
	return b, int64(len(b)) == s.Size()
}

// InPlace returns a Source with the content of s in memory, if that needs no
// copy: s itself, or its mapping by a method Map() ([]byte, error), whose bytes
// are valid while s is open. Otherwise it returns s. Mapped reports whether
// reading the bytes may fault.
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

// Read returns n bytes of s from off on. It fails with ErrShort, before any
// allocation, if s does not have that range. If s is Whole, the result aliases
// it.
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

// Section returns up to n bytes of s from off on as a Source, which is Whole if
// s is.
func Section(s Source, off, n int64) Source {
	off = min(max(off, 0), s.Size())
	n = min(max(n, 0), s.Size()-off)
	if b, ok := Whole(s); ok {
		return Bytes(b[off : off+n : off+n])
	}
	return io.NewSectionReader(s, off, n)
}

package scratch

import (
	"errors"
	"os"
)

// A Spool is a temporary file that is written first and then read. It implements
// cache.Spool.
type Spool struct {
	f    *os.File
	size int64
}

// NewSpool creates a Spool in a folder.
func NewSpool(dir string) (*Spool, error) {
	f, err := os.CreateTemp(dir, "symbolon-*")
	if err != nil {
		return nil, err
	}
	return &Spool{f: f}, nil
}

// Write appends bytes.
func (s *Spool) Write(p []byte) (int, error) {
	n, err := s.f.Write(p)
	s.size += int64(n)
	return n, err
}

// ReadAt reads bytes that were written.
func (s *Spool) ReadAt(p []byte, off int64) (int, error) { return s.f.ReadAt(p, off) }

// Size returns the number of bytes written.
func (s *Spool) Size() int64 { return s.size }

// Close removes the file. It may be called twice.
func (s *Spool) Close() error {
	if s.f == nil {
		return nil
	}
	f := s.f
	s.f = nil
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

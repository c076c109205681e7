//go:build unix

package scratch

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// piece maps a new file of n bytes, which has no name.
func (s *Space) piece(n int) ([]byte, error) {
	f, err := os.CreateTemp(s.dir, "space-*")
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(s.dir, 0o700); err == nil {
			f, err = os.CreateTemp(s.dir, "space-*")
		}
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := errors.Join(os.Remove(f.Name()), f.Truncate(int64(n))); err != nil {
		return nil, err
	}
	// Without this a full disk would be a fault when a page is written.
	if err := reserve(f, int64(n)); err != nil {
		return nil, err
	}
	b, err := syscall.Mmap(int(f.Fd()), 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err == nil {
		s.pieces = append(s.pieces, b)
	}
	return b, err
}

// Relax drops the resident pages. They are read from the files when used again.
func (s *Space) Relax() {
	for _, b := range s.pieces {
		Relax(b)
	}
}

func (s *Space) unmap() (err error) {
	for _, b := range s.pieces {
		err = errors.Join(err, syscall.Munmap(b))
	}
	s.pieces = nil
	return err
}

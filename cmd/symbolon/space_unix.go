//go:build unix

package main

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// space is memory in files of a folder, which have no names.
type space struct {
	dir    string
	heap   bool // serves where the disk does not: a command has the memory of its user
	pieces [][]byte
}

func (s *space) Take(n int) ([]byte, error) {
	b, err := s.onDisk(n)
	if err != nil && s.heap {
		return make([]byte, n), nil
	}
	return b, err
}

// onDisk makes a file of n bytes and maps it.
func (s *space) onDisk(n int) ([]byte, error) {
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
	// A full disk must be an error now, and not when a page is written.
	if err := reserve(f, int64(n)); err != nil {
		return nil, err
	}
	b, err := syscall.Mmap(int(f.Fd()), 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err == nil {
		s.pieces = append(s.pieces, b)
	}
	return b, err
}

// Relax gives the pages back that are in memory. They come back when they are
// read again.
func (s *space) Relax() {
	for _, b := range s.pieces {
		relax(b)
	}
}

func (s *space) Close() (err error) {
	for _, b := range s.pieces {
		err = errors.Join(err, syscall.Munmap(b))
	}
	s.pieces = nil
	return err
}

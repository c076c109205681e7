//go:build unix

package companion

import (
	"os"
	"syscall"

	"symbolon/internal/scratch"
)

// mapFile maps the file and closes it, where that is possible.
func (s *Source) mapFile(f *os.File, size int64) {
	if size <= 0 || size != int64(int(size)) {
		return
	}
	all, err := syscall.Mmap(int(f.Fd()), 0, int(size), syscall.PROT_READ, syscall.MAP_PRIVATE)
	if err != nil {
		return
	}
	_ = f.Close() // it was only read
	s.Source = mapped(all)
	s.close = func() error { return syscall.Munmap(all) }
	s.relax = func() { scratch.Relax(all) }
}

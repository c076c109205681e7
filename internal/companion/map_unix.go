//go:build unix

package companion

import (
	"os"
	"syscall"
)

// mapFile maps the bytes of a file. It returns nil if that is not possible.
func mapFile(f *os.File, size int64) []byte {
	if size <= 0 || size != int64(int(size)) {
		return nil
	}
	all, err := syscall.Mmap(int(f.Fd()), 0, int(size), syscall.PROT_READ, syscall.MAP_PRIVATE)
	if err != nil {
		return nil
	}
	return all
}

func unmap(all []byte) error { return syscall.Munmap(all) }

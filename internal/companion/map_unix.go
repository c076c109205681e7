//go:build unix

package companion

import (
	"os"
	"syscall"

	"symbolon/internal/scratch"
)

// mapFile maps a file, which is closed. It is false where that cannot be done.
func mapFile(f *os.File, size int64) (*mapped, bool) {
	if size <= 0 || size != int64(int(size)) {
		return nil, false
	}
	all, err := syscall.Mmap(int(f.Fd()), 0, int(size), syscall.PROT_READ, syscall.MAP_PRIVATE)
	if err != nil {
		return nil, false
	}
	f.Close()
	return &mapped{all, func() { scratch.Relax(all) }, func() error { return syscall.Munmap(all) }}, true
}

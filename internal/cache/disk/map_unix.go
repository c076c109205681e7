//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package disk

import (
	"os"

	"golang.org/x/sys/unix"
)

// mapFile maps the first size bytes of f, which may be closed then. False: the
// system does not want to, or has no more mappings to give.
func mapFile(f *os.File, size int64) ([]byte, bool) {
	if size == 0 {
		return nil, true
	}
	if int64(int(size)) != size {
		return nil, false
	}
	b, err := unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	return b, err == nil
}

func unmap(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	return unix.Munmap(b)
}

//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package disk

import (
	"os"

	"golang.org/x/sys/unix"
)

// tryLock takes the lock that bbolt takes when it opens the file, so that the
// file can be checked before. It belongs to the open file: bbolt, which goes on
// with the same one, finds it taken by itself.
func tryLock(f *os.File) (bool, error) {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == unix.EWOULDBLOCK {
		return false, nil
	}
	return err == nil, err
}

// unlock gives the lock up. Closing does not while the file is mapped.
func unlock(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_UN) }

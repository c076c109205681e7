//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package disk

import (
	"os"

	"golang.org/x/sys/unix"
)

// tryLock acquires the lock that bbolt acquires when it opens the file, so that
// the file can be checked before. The lock belongs to the open file, which bbolt
// uses, so it can acquire it again.
func tryLock(f *os.File) (bool, error) {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == unix.EWOULDBLOCK {
		return false, nil
	}
	return err == nil, err
}

// unlock releases the lock. Closing the file does not while it is mapped.
func unlock(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_UN) }

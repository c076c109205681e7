//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package disk

import (
	"os"

	"golang.org/x/sys/unix"
)

// tryLock locks a file until it is closed, and reports whether it could.
func tryLock(f *os.File) (bool, error) {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == unix.EWOULDBLOCK {
		return false, nil
	}
	return err == nil, err
}

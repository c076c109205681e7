package dir

import (
	"os"

	"golang.org/x/sys/unix"
)

// canSyncAll is set where all files of a file system can be made durable at once.
const canSyncAll = true

// syncAll makes all files of the file system of f durable.
func syncAll(f *os.File) error {
	return os.NewSyscallError("syncfs", unix.Syncfs(int(f.Fd())))
}

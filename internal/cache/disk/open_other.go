//go:build !windows

package disk

import (
	"io/fs"
	"os"
)

// openFile opens a file.
func openFile(name string, flag int, perm fs.FileMode) (*os.File, error) {
	return os.OpenFile(name, flag, perm)
}

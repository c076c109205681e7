package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// openFile opens a file as os.OpenFile does, but so that it can be renamed and
// removed while it is open.
func openFile(name string, flag int, perm fs.FileMode) (*os.File, error) {
	folder, err := os.OpenRoot(filepath.Dir(name))
	if err != nil {
		return nil, err
	}
	f, err := folder.OpenFile(filepath.Base(name), flag, perm)
	return f, errors.Join(err, folder.Close())
}

package dir

import (
	"errors"
	"fmt"
	"path"

	"golang.org/x/sys/unix"

	"symbolon/internal/bucket"
)

// renameNew renames a file unless the new name exists. Linked is the error of
// creating a link instead.
func (d *root) renameNew(name, key string, linked error) error {
	from, err := d.Open(path.Dir(name))
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := d.Open(path.Dir(key))
	if err != nil {
		return err
	}
	defer to.Close()
	err = unix.Renameat2(int(from.Fd()), path.Base(name), int(to.Fd()), path.Base(key), unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return fmt.Errorf("%w: %w", bucket.ErrConditions, linked)
	}
	return err
}

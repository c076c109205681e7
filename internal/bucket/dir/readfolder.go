package dir

import (
	"errors"
	"io"
	"path"

	"symbolon/internal/fault"
)

// ReadFolder calls yield with the names in a folder of the bucket, in no order, until
// it returns false; "" is the folder of the bucket itself. A link counts as a
// file.
func (b *Bucket) ReadFolder(folder string, yield func(name string, isFolder bool) bool) error {
	d, err := b.root()
	if err != nil {
		return err
	}
	at := path.Join(".", folder)
	info, err := d.stat(at) // before opening: opening a pipe waits for its writer
	switch {
	case err != nil:
		return failure(folder, err)
	case !info.IsDir():
		return fault.New(fault.NotFound, folder, "not a folder")
	}
	f, err := d.open(at)
	if err != nil {
		return failure(folder, err)
	}
	defer f.Close()
	for {
		entries, err := f.ReadDir(1000)
		for _, e := range entries {
			if !yield(e.Name(), e.IsDir()) {
				return nil
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return failure(folder, err)
		}
	}
}

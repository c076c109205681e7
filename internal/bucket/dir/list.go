package dir

import (
	"errors"
	"io"
	"path"

	"symbolon/internal/fault"
)

// List calls yield with the names in a folder of the bucket, in no order, until
// it returns false; "" is the folder of the bucket itself. A link counts as a
// file.
func (b *Bucket) List(folder string, yield func(name string, isFolder bool) bool) error {
	at := path.Join(".", folder)
	info, err := b.stat(at) // before opening: to open a pipe is to wait for its writer
	switch {
	case err != nil:
		return failure(folder, err)
	case !info.IsDir():
		return fault.New(fault.NotFound, folder, "not a folder")
	}
	f, err := b.open(at)
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

// List lists a folder as that of a Bucket does.
func (l *Later) List(folder string, yield func(name string, isFolder bool) bool) error {
	b, err := l.open()
	if err != nil {
		return err
	}
	return b.List(folder, yield)
}

package disk

import (
	"errors"
	"io"
	"os"

	"symbolon/internal/cache"
)

// errChanged means that a file differs from its record in the index.
var errChanged = errors.New("the file has another size")

// openBlob opens the file of an entry.
func openBlob(path string, kind uint8, size int64) (cache.Blob, error) {
	f, err := openFile(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && (!info.Mode().IsRegular() || info.Size() != size) {
		err = errChanged
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return newBlob(f, kind, size)
}

// newBlob returns a Blob that owns an open file. Entries that are used in place are read
// into private memory, so that a file that is truncated, changed or damaged later can
// neither change an open entry nor end the process. Objects, which are read once from
// start to end, stay in the file.
func newBlob(f *os.File, kind uint8, size int64) (cache.Blob, error) {
	if kinds[kind] == cache.Objects || int64(int(size)) != size {
		return &file{f, size}, nil
	}
	defer f.Close() // it was only read from
	b := allocate(int(size))
	if n, err := f.ReadAt(b.bytes, 0); n < len(b.bytes) {
		if err == io.EOF {
			err = errChanged
		}
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// file is a Blob that is read from its open file.
type file struct {
	f    *os.File
	size int64
}

func (r *file) Size() int64 { return r.size }

func (r *file) ReadAt(p []byte, off int64) (int, error) {
	return io.NewSectionReader(r.f, 0, r.size).ReadAt(p, off)
}

func (r *file) Close() error {
	if err := r.f.Close(); !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}

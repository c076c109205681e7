package disk

import (
	"errors"
	"io"
	"os"
	"sync/atomic"

	"symbolon/internal/bin"
	"symbolon/internal/cache"
)

// errChanged says that a file is not the one that the index knows.
var errChanged = errors.New("the file does not have its size")

// openBlob opens a file of the cache.
func openBlob(path string, size int64) (cache.Blob, error) {
	f, err := os.Open(path)
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
	return newBlob(f, size), nil
}

// newBlob makes a Blob of an open file, which it takes over.
func newBlob(f *os.File, size int64) cache.Blob {
	b, ok := mapFile(f, size)
	if !ok {
		return &read{f, size}
	}
	f.Close() // only read from, and the mapping does not need it
	return &mapped{Source: bin.Bytes(b), bytes: b}
}

// mapped is a Blob in mapped memory.
type mapped struct {
	bin.Source
	bytes  []byte
	closed atomic.Bool
}

// Bytes is the content in place. It is gone with Close.
func (m *mapped) Bytes() []byte { return m.bytes }

func (m *mapped) ReadAt(p []byte, off int64) (int, error) {
	if m.closed.Load() {
		return 0, os.ErrClosed
	}
	return m.Source.ReadAt(p, off)
}

func (m *mapped) Close() error {
	if m.closed.Swap(true) {
		return nil
	}
	return unmap(m.bytes)
}

// read is a Blob that is read from its open file.
type read struct {
	f    *os.File
	size int64
}

func (r *read) Size() int64 { return r.size }

func (r *read) ReadAt(p []byte, off int64) (int, error) {
	return io.NewSectionReader(r.f, 0, r.size).ReadAt(p, off)
}

func (r *read) Close() error {
	if err := r.f.Close(); !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}

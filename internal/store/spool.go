package store

import (
	"bytes"
	"io"

	"symbolon/internal/bin"
	"symbolon/internal/cache"
)

// maxHeld is how many bytes of a spool are in memory: the blobs of most Breakpad files
// need no temporary file.
const maxHeld = 1 << 20

// spool holds the blob of a file that is received.
type spool struct {
	open func() (cache.Spool, error)
	size int64 // of the bytes that were written
	held []byte
	file cache.Spool // nil: all bytes are in held
}

// Write appends bytes.
func (p *spool) Write(b []byte) (n int, err error) {
	defer func() { p.size += int64(n) }()
	if p.file == nil && len(p.held)+len(b) <= maxHeld {
		p.held = append(p.held, b...)
		return len(b), nil
	}
	if p.file == nil {
		file, err := p.open()
		if err != nil {
			return 0, err
		}
		p.file = file
		if _, err := file.Write(p.held); err != nil {
			return 0, err
		}
		p.held = nil
	}
	return p.file.Write(b)
}

// source returns the bytes that were written.
func (p *spool) source() bin.Source {
	if p.file != nil {
		return p.file
	}
	return bin.Bytes(p.held)
}

// Size returns the number of bytes.
func (p *spool) Size() int64 { return p.size }

// ReadAt reads bytes.
func (p *spool) ReadAt(b []byte, off int64) (int, error) { return p.source().ReadAt(b, off) }

// Reader returns a reader of all bytes.
func (p *spool) Reader() io.ReadSeeker {
	if p.file == nil {
		return bytes.NewReader(p.held)
	}
	return io.NewSectionReader(p.file, 0, p.size)
}

// Close removes the spool.
func (p *spool) Close() error {
	if p.file == nil {
		return nil
	}
	return p.file.Close()
}

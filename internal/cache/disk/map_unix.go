//go:build unix

package disk

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Map gives the bytes of the spool in place, until it is closed. They are pages
// of its file: a disk that does not give them back makes reading them a fault
// of the hardware, which the reader has to be ready for. Nothing may be written
// any more.
func (p *spool) Map() ([]byte, error) {
	switch {
	case p.mapped != nil:
		return p.mapped, nil
	case p.f == nil || p.rest.size > 0 || p.size == 0 || int64(int(p.size)) != p.size:
		return nil, errors.ErrUnsupported
	}
	b, err := unix.Mmap(int(p.f.Fd()), 0, int(p.size), unix.PROT_READ, unix.MAP_SHARED)
	if err == nil {
		p.mapped = b
	}
	return b, err
}

// Relax gives the pages back that were read in place. They come back when they
// are read again.
func (p *spool) Relax() {
	if p.mapped != nil {
		_ = unix.Madvise(p.mapped, unix.MADV_DONTNEED) // the content is in the file
	}
}

func (p *spool) unmap() {
	if p.mapped != nil {
		_ = unix.Munmap(p.mapped) // of what Map made
		p.mapped = nil
	}
}

//go:build unix

package disk

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Map returns the bytes of the spool in place, until it is closed. They are
// pages of its file: if the disk cannot read them, the access is a memory fault,
// which the reader must be ready for. The spool may not be written after Map.
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

// Relax releases the pages that were read in place. They are loaded again when
// they are accessed.
func (p *spool) Relax() {
	if p.mapped != nil {
		_ = unix.Madvise(p.mapped, unix.MADV_DONTNEED) // the content is in the file
	}
}

func (p *spool) unmap() {
	if p.mapped != nil {
		_ = unix.Munmap(p.mapped) // it cannot fail for a mapping of Map
		p.mapped = nil
	}
}

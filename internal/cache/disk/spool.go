package disk

import (
	"errors"
	"io"
	"os"
	"sync"

	"symbolon/internal/cache"
)

// errSealed says that a spool was written to when its bytes were in use.
var errSealed = errors.New("a spool that is read in place cannot grow")

// spool is a draft that never becomes an entry. The first call of Bytes ends
// its writing.
type spool struct {
	d      *draft
	once   sync.Once
	sealed bool
	bytes  []byte
}

// Temp makes a spool. Its bytes count within the bounds of the store until it
// is closed. It has no name where the system allows that, so a crash leaves
// nothing; elsewhere the next start wipes it.
func (s *Store) Temp() (cache.Spool, error) {
	d, err := s.create()
	if err != nil {
		return nil, err
	}
	if os.Remove(d.name) == nil {
		d.name = ""
	}
	return &spool{d: d}, nil
}

func (p *spool) Write(b []byte) (int, error) {
	if p.sealed {
		return 0, errSealed
	}
	return p.d.Write(b)
}

// Size is how much was written.
func (p *spool) Size() int64 { return p.d.size }

func (p *spool) ReadAt(b []byte, off int64) (int, error) {
	return io.NewSectionReader(p.d.f, 0, p.d.size).ReadAt(b, off)
}

// Bytes maps what was written, which is then all there will be. It is nil where
// files cannot be mapped.
func (p *spool) Bytes() []byte {
	p.once.Do(func() {
		p.sealed = true
		p.bytes, _ = mapFile(p.d.f, p.d.size)
	})
	return p.bytes
}

// Close frees the spool. It may be closed twice.
func (p *spool) Close() error {
	p.once.Do(func() { p.sealed = true })
	err := unmap(p.bytes)
	p.bytes = nil
	p.d.discard()
	return err
}

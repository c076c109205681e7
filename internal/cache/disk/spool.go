package disk

import (
	"os"

	"symbolon/internal/cache"
	"symbolon/internal/fault"
)

// spool is a draft that never becomes an entry. It is read from its file, unless
// somebody maps it: a disk that cannot give back what it took is an error then,
// and not the end of the process, and nothing of a giant counts as our memory.
type spool struct {
	*draft
	mapped []byte
}

// Temp makes a spool. Its bytes count within the bounds of the store until it
// is closed. It has no name where the system allows that, so a crash leaves
// nothing; elsewhere the next start wipes it.
func (s *Store) Temp() (cache.Spool, error) {
	d := s.create()
	if d.name != "" && os.Remove(d.name) == nil {
		d.name = ""
	}
	return &spool{draft: d}, nil
}

// Size is how much was written.
func (p *spool) Size() int64 { return p.length() }

// Close frees the spool. It may be closed twice.
func (p *spool) Close() error {
	p.unmap()
	p.discard()
	return nil
}

// Writable tells why the folder takes no new files, if it does not.
func (s *Store) Writable() error {
	d := s.create()
	defer d.discard()
	_, err := d.Write([]byte{0})
	if err == nil && d.size == 0 {
		err = fault.New(fault.Internal, place, "%s takes no new files", s.dir)
	}
	return err
}

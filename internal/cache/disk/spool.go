package disk

import (
	"context"
	"os"
	"sync"

	"symbolon/internal/bin"
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

// Hold counts the n bytes that do puts on the disk of the store, until release
// is called. If others hold too much it waits in line until they do not, or ctx
// ends. If the disk is full it evicts entries and calls do once more.
func (s *Store) Hold(ctx context.Context, n int64, do func() error) (release func(), err error) {
	select {
	case s.line <- struct{}{}:
		defer func() { <-s.line }()
	case <-ctx.Done():
		return nil, s.crowded(ctx, n)
	}
	for {
		s.mu.Lock()
		freed := s.freed
		s.mu.Unlock()
		if err = s.reserve(n); err == nil {
			break
		}
		if n > int64(s.cfg.MaxBytes) {
			return nil, err
		}
		select {
		case <-freed:
		case <-ctx.Done():
			return nil, s.crowded(ctx, n)
		}
	}
	if err = s.roomy("make room", n, do); err != nil {
		s.release(n)
		return nil, err
	}
	return sync.OnceFunc(func() { s.release(n) }), nil
}

// crowded is the failure of a Hold that got no room in time.
func (s *Store) crowded(ctx context.Context, n int64) error {
	return fault.New(fault.Internal, place, "no room for %v below the %v of max_bytes while other files are in use: %w",
		bin.Size(n), s.cfg.MaxBytes, context.Cause(ctx))
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

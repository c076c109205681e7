package disk

import (
	"context"
	"os"
	"sync"

	"symbolon/internal/bin"
	"symbolon/internal/cache"
	"symbolon/internal/fault"
)

// spool is a tempFile that never becomes an entry. Unless it is mapped, it is
// read from its file: so a disk that fails to read is an error and does not end
// the process, and a large file does not count as memory of the process.
type spool struct {
	*tempFile
	mapped []byte
}

// Temp returns a new spool. Its bytes count towards the bounds of the store until
// it is closed. Where the system allows, it is unlinked, so a crash leaves
// nothing; elsewhere the next start removes it.
func (s *Store) Temp() (cache.Spool, error) {
	d := s.createTemp()
	if d.name != "" && os.Remove(d.name) == nil {
		d.name = ""
	}
	return &spool{tempFile: d}, nil
}

// Size returns the number of bytes written.
func (p *spool) Size() int64 { return p.length() }

// Close frees the spool. It may be closed twice.
func (p *spool) Close() error {
	p.unmap()
	p.discard()
	return nil
}

// Hold reserves n bytes, which do writes to the disk of the store, until release
// is called. If too many bytes are reserved it waits in line until enough are
// released or ctx ends. If the disk is full it evicts entries and calls do once
// more.
func (s *Store) Hold(ctx context.Context, n int64, do func() error) (release func(), err error) {
	select {
	case s.line <- struct{}{}:
		defer func() { <-s.line }()
	case <-ctx.Done():
		return nil, s.noRoom(ctx, n)
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
			return nil, s.noRoom(ctx, n)
		}
	}
	if err = s.withRoom("make room", n, do); err != nil {
		s.release(n)
		return nil, err
	}
	return sync.OnceFunc(func() { s.release(n) }), nil
}

// noRoom returns the fault of a Hold whose context ended.
func (s *Store) noRoom(ctx context.Context, n int64) error {
	return fault.New(fault.Internal, place, "no room for %v below the %v of max_bytes while other files are in use: %w",
		bin.Size(n), s.cfg.MaxBytes, context.Cause(ctx))
}

// Writable returns an error if new files cannot be written.
func (s *Store) Writable() error {
	d := s.createTemp()
	defer d.discard()
	_, err := d.Write([]byte{0})
	if err == nil && d.size == 0 {
		err = fault.New(fault.Internal, place, "cannot write new files to %s", s.dir)
	}
	return err
}

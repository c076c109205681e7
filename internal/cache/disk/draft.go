package disk

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"symbolon/internal/cache"
	"symbolon/internal/fault"
)

var errClosed = errors.New("the disk cache is closed")

// draft is a file in tmp that grows, within the bounds of the store. One
// goroutine writes it. It ends by discard, or by becoming an entry.
type draft struct {
	s    *Store
	f    *os.File
	name string // empty: it is unlinked, or an entry
	size int64  // what it counts as held
	err  error  // of a write; nothing more is written then
}

// create makes an empty draft.
func (s *Store) create() (*draft, error) {
	d := &draft{s: s, name: filepath.Join(s.temps(), rand.Text())}
	err := s.roomy("make a file", 1, func() (err error) {
		d.f, err = os.OpenFile(d.name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrNotExist) {
			if err = os.MkdirAll(s.temps(), 0o700); err == nil {
				d.f, err = os.OpenFile(d.name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return d, nil
}

// Write appends to the draft.
func (d *draft) Write(p []byte) (int, error) {
	if d.err != nil {
		return 0, d.err
	}
	if d.err = d.s.reserve(int64(len(p))); d.err != nil {
		return 0, d.err
	}
	d.size += int64(len(p))
	n := 0
	d.err = d.s.roomy("write", int64(len(p)), func() error {
		m, err := d.s.write(d.f, p[n:])
		n += m
		return err
	})
	if short := int64(len(p) - n); short > 0 {
		d.size -= short
		d.s.release(short)
	}
	return n, d.err
}

// discard removes the draft, unless it has become an entry.
func (d *draft) discard() {
	if d.f != nil {
		d.f.Close()
	}
	if d.name != "" {
		os.Remove(d.name)
	}
	d.s.release(d.size)
	d.size = 0
}

// commit makes the draft an entry and opens it.
func (d *draft) commit(of id) (cache.Blob, error) {
	// No second try here: after a sync that failed the system may have
	// forgotten what it could not write, and say that all is well.
	if err := d.f.Sync(); err != nil {
		return nil, d.s.failure("sync", err)
	}
	size := d.size
	if err := d.s.roomy("rename", 1, func() error { return d.place(of) }); err != nil {
		return nil, err
	}
	blob := newBlob(d.f, size)
	d.f = nil
	return blob, nil
}

// place gives the draft its name and enters it in the book.
func (d *draft) place(of id) error {
	s := d.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errClosed
	}
	path := s.path(of)
	err := os.Rename(d.name, path)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(filepath.Dir(path), 0o700); err == nil {
			err = os.Rename(d.name, path)
		}
	}
	if err != nil {
		return err
	}
	if old := s.book.entries[of]; old != nil {
		s.book.remove(old)
	}
	now := s.clock()
	s.book.add(&entry{id: of, size: d.size, created: now, used: now})
	s.held -= d.size
	d.name, d.size = "", 0
	s.trim()
	return nil
}

// Put makes an entry of what fill writes.
func (s *Store) Put(ctx context.Context, kind cache.Kind, key cache.Key, fill func(io.Writer) error) (cache.Blob, error) {
	number, ok := kindNumber(kind)
	if !ok {
		return nil, fault.New(fault.Internal, place, "there is no kind %q", string(kind))
	}
	if err := ended(ctx); err != nil {
		return nil, err
	}
	d, err := s.create()
	if err != nil {
		return nil, err
	}
	defer d.discard()
	if err := fill(&filler{ctx, d}); err != nil {
		return nil, err
	}
	if d.err != nil { // fill has not minded it
		return nil, d.err
	}
	return d.commit(id{number, key})
}

// filler is what fill writes to.
type filler struct {
	ctx context.Context
	d   *draft
}

func (f *filler) Write(p []byte) (int, error) {
	if err := ended(f.ctx); err != nil {
		f.d.err = err
		return 0, err
	}
	return f.d.Write(p)
}

func ended(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fault.New(fault.KindOf(err), place, "%w", err)
	}
	return nil
}

// roomy does what needs need bytes of the disk. If the disk is full, it makes
// room and does it once more.
func (s *Store) roomy(what string, need int64, do func() error) error {
	err := do()
	if isFull(err) && s.relieve(need) {
		err = do()
	}
	if err != nil {
		return s.failure(what, err)
	}
	return nil
}

func (s *Store) failure(what string, err error) error {
	if isFull(err) {
		return fault.New(fault.Internal, place,
			"%s: the disk of %s is full, also without what could be evicted; free some space there, or choose another --data: %w", what, s.dir, err)
	}
	return fault.New(fault.Internal, place, "%s: %w", what, err)
}

func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

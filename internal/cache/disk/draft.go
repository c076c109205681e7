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

// draft is a file in tmp that grows, within the bounds of the store. What the
// disk does not take stays in memory. One goroutine writes it. It ends by
// discard, or by becoming an entry.
type draft struct {
	s    *Store
	f    *os.File // nil: the disk does not even take an empty one
	name string   // empty: it is unlinked, or an entry
	size int64    // what is on disk, and counts as held
	rest memory   // what comes after that
	err  error    // of a write; nothing more is written then
}

// create makes an empty draft.
func (s *Store) create() *draft {
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
		d.f, d.name = nil, ""
	}
	return d
}

// Write appends to the draft.
func (d *draft) Write(p []byte) (n int, err error) {
	if d.err != nil {
		return 0, d.err
	}
	if d.f != nil && d.rest.size == 0 {
		if n, err = d.writeFile(p); err == nil || errors.Is(err, errBound) {
			d.err = err
			return n, err
		}
	}
	if d.err = d.s.lend(int64(len(p) - n)); d.err != nil {
		return n, d.err
	}
	d.rest.write(p[n:])
	return len(p), nil
}

// writeFile appends to the file.
func (d *draft) writeFile(p []byte) (n int, err error) {
	if err := d.s.reserve(int64(len(p))); err != nil {
		return 0, err
	}
	err = d.s.roomy("write", int64(len(p)), func() error {
		m, err := d.s.write(d.f, p[n:])
		n += m
		return err
	})
	d.size += int64(n)
	if short := int64(len(p) - n); short > 0 {
		d.s.release(short)
	}
	return n, err
}

// length is how much was written.
func (d *draft) length() int64 { return d.size + d.rest.size }

func (d *draft) ReadAt(p []byte, off int64) (n int, err error) {
	if off < d.size {
		part := p[:min(int64(len(p)), d.size-off)]
		if n, err = d.f.ReadAt(part, off); n < len(part) || n == len(p) {
			return n, err
		}
	}
	m, err := d.rest.ReadAt(p[n:], off+int64(n)-d.size)
	return n + m, err
}

// discard removes the draft, unless it has become an entry.
func (d *draft) discard() {
	if d.f != nil {
		d.f.Close()
	}
	if d.name != "" {
		os.Remove(d.name)
	}
	d.s.lent.Add(-d.rest.size)
	d.rest.free()
	d.s.release(d.size)
	d.size = 0
}

// commit makes the draft an entry and opens it. If the disk does not want it,
// it is only opened.
func (d *draft) commit(of id) (cache.Blob, error) {
	size := d.size
	switch err := d.keep(of); {
	case errors.Is(err, errClosed):
		return nil, err
	case err == nil:
		blob, err := newBlob(d.f, of.kind, size)
		if d.f = nil; err != nil {
			return nil, fault.New(fault.Internal, place, "read what was written: %w", err)
		}
		return blob, nil
	}
	if size = d.length(); int64(int(size)) != size {
		return nil, fault.New(fault.Internal, place, "the disk does not take %d bytes, and neither does the memory", size)
	}
	b := allocate(int(size))
	if n, err := d.ReadAt(b.bytes, 0); n < len(b.bytes) {
		return nil, errors.Join(fault.New(fault.Internal, place, "read what was written: %w", err), b.Close())
	}
	return b, nil
}

// errLoose says that a draft is not all on disk.
var errLoose = errors.New("a part of it is in memory")

// keep makes the draft an entry.
func (d *draft) keep(of id) error {
	if d.f == nil || d.rest.size > 0 {
		return errLoose
	}
	// No second try here: after a sync that failed the system may have
	// forgotten what it could not write, and say that all is well.
	if err := d.f.Sync(); err != nil {
		return d.s.failure("sync", err)
	}
	return d.s.roomy("rename", 1, func() error { return d.place(of) })
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
	if err := os.Rename(d.name, path); err != nil {
		// The folder is missing, or somebody has put one in the file's place.
		err = errors.Join(os.RemoveAll(path), os.MkdirAll(filepath.Dir(path), 0o700))
		if err == nil {
			err = os.Rename(d.name, path)
		}
		if err != nil {
			return err
		}
	}
	if old := s.book.entries[of]; old != nil {
		s.book.remove(old)
	}
	now := s.clock()
	s.book.add(&entry{id: of, size: d.size, created: now, used: now})
	s.unhold(d.size)
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
	d := s.create()
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

// failure is a failure of the disk, which the log is told of.
func (s *Store) failure(what string, err error) error {
	if errors.Is(err, errClosed) {
		return fault.New(fault.Internal, place, "%s: %w", what, err)
	}
	f := fault.New(fault.Internal, place, "%s: %w", what, err)
	if isFull(err) {
		f = fault.New(fault.Internal, place,
			"%s: the disk of %s is full, also without what could be evicted; free some space there, or choose another --data: %w", what, s.dir, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tell(notTaken, f)
	return f
}

// notTaken is what the log is told when the disk fails, whatever was to be
// written.
const notTaken = "the disk does not take what is new: it stays in memory while it is used, and is fetched and made again after that"

func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

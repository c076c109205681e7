package disk

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"symbolon/internal/bin"
	"symbolon/internal/cache"
	"symbolon/internal/fault"
)

var errClosed = errors.New("the disk cache is closed")

// tempFile is a growing file in tmp, within the bounds of the store. Bytes that
// the disk does not store stay in memory. One goroutine writes it. It ends with
// discard, or with commit, which makes it an entry.
type tempFile struct {
	s    *Store
	f    *os.File // nil: the file cannot be created
	name string   // empty: the file is unlinked, or an entry
	size int64    // bytes on disk, which count as held
	rest memory   // the bytes after them
	why  error    // why bytes are in memory; nil: none are
	err  error    // of the first write that failed
}

// createTemp returns an empty tempFile.
func (s *Store) createTemp() *tempFile {
	d := &tempFile{s: s, name: filepath.Join(s.temps(), rand.Text())}
	err := s.withRoom("make a file", 1, func() (err error) {
		d.f, err = openFile(d.name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrNotExist) {
			if err = os.MkdirAll(s.temps(), 0o700); err == nil {
				d.f, err = openFile(d.name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
			}
		}
		return err
	})
	if err != nil {
		d.f, d.name, d.why = nil, "", err
	}
	return d
}

// Write appends to the file.
func (d *tempFile) Write(p []byte) (n int, err error) {
	if d.err != nil {
		return 0, d.err
	}
	if d.f != nil && d.rest.size == 0 {
		if n, err = d.writeFile(p); err == nil || errors.Is(err, errBound) {
			d.err = err
			return n, err
		}
		d.why = err
	}
	if d.err = d.s.useMemory(int64(len(p)-n), d.why); d.err != nil {
		return n, d.err
	}
	d.rest.write(p[n:])
	return len(p), nil
}

// writeFile appends to the file on disk.
func (d *tempFile) writeFile(p []byte) (n int, err error) {
	if err := d.s.reserve(int64(len(p))); err != nil {
		return 0, err
	}
	err = d.s.withRoom("write", int64(len(p)), func() error {
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

// length returns the number of bytes written.
func (d *tempFile) length() int64 { return d.size + d.rest.size }

func (d *tempFile) ReadAt(p []byte, off int64) (n int, err error) {
	if off < d.size {
		part := p[:min(int64(len(p)), d.size-off)]
		if n, err = d.f.ReadAt(part, off); n < len(part) || n == len(p) {
			return n, err
		}
	}
	m, err := d.rest.ReadAt(p[n:], off+int64(n)-d.size)
	return n + m, err
}

// discard removes the file, unless it is an entry.
func (d *tempFile) discard() {
	if d.f != nil {
		d.f.Close()
	}
	if d.name != "" {
		os.Remove(d.name)
	}
	d.s.memoryUsed.Add(-d.rest.size)
	d.rest.free()
	d.s.release(d.size)
	d.size = 0
}

// commit makes the file an entry and opens it. If that fails, it returns a blob
// in memory.
func (d *tempFile) commit(of id) (cache.Blob, error) {
	size := d.size
	switch err := d.keep(of); {
	case errors.Is(err, errClosed):
		return nil, err
	case err == nil:
		blob, err := newBlob(d.f, of.kind, size)
		if d.f = nil; err != nil {
			return nil, fault.New(fault.Internal, place, "read the written file: %w", err)
		}
		return blob, nil
	}
	if size = d.length(); int64(int(size)) != size {
		return nil, fault.New(fault.Internal, place, "neither the disk nor the memory can store %d bytes", size)
	}
	b := allocate(int(size))
	if n, err := d.ReadAt(b.bytes, 0); n < len(b.bytes) {
		return nil, errors.Join(fault.New(fault.Internal, place, "read the written file: %w", err), b.Close())
	}
	return b, nil
}

// errInMemory means that a file is not completely on disk.
var errInMemory = errors.New("a part of the file is in memory")

// keep makes the file an entry.
func (d *tempFile) keep(of id) error {
	if d.f == nil || d.rest.size > 0 {
		return errInMemory
	}
	// A failed sync is not retried: the system may have dropped the pages that
	// it could not write, and report success.
	if err := d.f.Sync(); err != nil {
		return d.s.failure("sync", err)
	}
	return d.s.withRoom("rename", 1, func() error { return d.place(of) })
}

// place renames the file to its path and adds it to the book.
func (d *tempFile) place(of id) error {
	s := d.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errClosed
	}
	path := s.path(of)
	if err := os.Rename(d.name, path); err != nil {
		// The folder is missing, or the path is a folder.
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

// Put stores the bytes of fill as an entry.
func (s *Store) Put(ctx context.Context, kind cache.Kind, key cache.Key, fill func(io.Writer) error) (cache.Blob, error) {
	if err := ended(ctx); err != nil {
		return nil, err
	}
	d := &tempFile{s: s} // in memory, and not an entry later
	if kind != cache.Meta || !s.cfg.Temporary {
		d = s.createTemp()
	}
	defer d.discard()
	if err := fill(&filler{ctx, d}); err != nil {
		return nil, err
	}
	if d.err != nil { // fill has ignored it
		return nil, d.err
	}
	return d.commit(idOf(kind, key))
}

// filler is the writer that fill gets.
type filler struct {
	ctx context.Context
	d   *tempFile
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

// withRoom calls do, which needs so many bytes of the disk. If the disk is full,
// it evicts entries and calls do once more.
func (s *Store) withRoom(what string, need int64, do func() error) error {
	err := do()
	if isFull(err) && s.makeRoom(need) {
		err = do()
	}
	if err != nil {
		return s.failure(what, err)
	}
	return nil
}

// failure returns a fault of the disk, and logs it.
func (s *Store) failure(what string, err error) error {
	if errors.Is(err, errClosed) {
		return fault.New(fault.Internal, place, "%s: %w", what, err)
	}
	f := fault.New(fault.Internal, place, "%s: %w", what, err)
	if isFull(err) {
		f = fault.New(fault.Internal, place,
			"%s: the disk of %s is full, and there is nothing to evict: free some space there, or choose another --data: %w", what, s.dir, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.warn(diskFailed, f)
	return f
}

// useMemory reserves n bytes of memory, because the disk failed.
func (s *Store) useMemory(n int64, failure error) error {
	if s.memoryUsed.Add(n) <= s.maxMemory {
		return nil
	}
	s.memoryUsed.Add(-n)
	return fault.New(fault.Internal, place,
		"the disk fails, and the %v of memory that replace it are in use: %w", bin.Size(s.maxMemory), failure)
}

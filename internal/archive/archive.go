// Package archive finds the files in archives: zip (with its variants .jar, .apk and
// .nupkg), tar, cabinets, and the packages of Debian (.deb) and of RPM. Archives may
// be compressed with gzip, zstd, bzip2 or xz, contain compressed files, and contain
// other archives, one level deep.
//
// Files are decoded as they are read, so that memory does not grow with them; only
// xz, and archives inside of others that need random access, are unpacked first.
// The format is recognized by the first bytes, never by a name.
//
// An archive may be hostile. All its files together, unpacked files in between
// included, have at most Limits.Bytes, and beyond 64 MiB at most 200 times the bytes
// of the archive; there are at most Limits.Files of them. The names of files are
// texts for people: they may contain anything, and must not be used as paths.
package archive

import (
	"bufio"
	"errors"
	"io"
	"path"
	"strings"
	"sync"

	"symbolon/internal/bin"
	"symbolon/internal/fault"
	"symbolon/internal/unpack"
)

// Limits are the bounds of an archive. Zero means the default.
type Limits struct {
	Files int   // 10,000
	Bytes int64 // 8 GiB
}

// unknown is the size of a file that its archive does not state.
const unknown = -1

const (
	maxFiles  = 10_000
	maxBytes  = 8 << 30
	maxNested = 2        // archives around a file
	freeBytes = 64 << 20 // that the ratio does not apply to
	maxRatio  = 200
	headSize  = 512
)

// Each calls yield for each file in src, which is src itself unless it is an archive
// or compressed. The name of a file has its path in the archive, and those of the
// archives around it. A reader is valid until yield returns; what yield leaves unread
// is skipped. Each returns the first error of yield unchanged. An error of an archive
// is a *fault.Error with the place; files before it have been yielded. One file that
// cannot be read does not hide the others: its reader fails.
//
// space is for what is unpacked before it is read; nil means the heap.
func Each(src bin.Source, name string, l Limits, space bin.Space, yield func(name string, r io.Reader) error) error {
	if l.Files == 0 {
		l.Files = maxFiles
	}
	if l.Bytes == 0 {
		l.Bytes = maxBytes
	}
	w := &walker{limits: l, yield: yield, left: min(l.Bytes, freeBytes+maxRatio*src.Size())}
	w.budget = unpack.New(src.Size(), space, nil)
	if name != "" {
		name = path.Base(name)
	}
	err := w.source(name, src, 0, false)
	if left, ok := errors.AsType[*exit](err); ok {
		return left.error
	}
	return err
}

// walker walks an archive.
type walker struct {
	limits  Limits
	budget  *unpack.Budget
	yield   func(name string, r io.Reader) error
	files   int       // so far
	left    int64     // bytes that may still be decoded
	readers sync.Pool // of *bufio.Reader
}

// reader returns a buffered reader.
func (w *walker) reader(in io.Reader) *bufio.Reader {
	if r, ok := w.readers.Get().(*bufio.Reader); ok {
		r.Reset(in)
		return r
	}
	return bufio.NewReaderSize(in, 64<<10)
}

// exit is an error of yield.
type exit struct{ error }

// source walks a file with random access.
func (w *walker) source(name string, src bin.Source, depth int, packed bool) error {
	head, err := bin.Read(src, 0, int(min(headSize, src.Size())))
	if err != nil {
		return broken(name, err)
	}
	switch sniff(head) {
	case zipFile:
		return w.inside(name, depth, func() error { return w.zip(name, src, depth+1) })
	case cabFile:
		return w.inside(name, depth, func() error { return w.cab(name, src, depth+1) })
	case xzFile:
		return w.unpacked(name, src, depth, packed)
	}
	return w.stream(name, io.NewSectionReader(src, 0, src.Size()), src.Size(), depth, packed)
}

// stream walks a file that is read once, from its beginning. Its size may be unknown.
func (w *walker) stream(name string, in io.Reader, size int64, depth int, packed bool) error {
	r := w.reader(in)
	defer w.readers.Put(r)
	head, err := r.Peek(headSize)
	if err != nil && err != io.EOF {
		head = nil // yield reads the error
	}
	switch f := sniff(head); f {
	case zipFile, cabFile, xzFile: // inside of another file
		all, err := w.whole(r, size)
		if err != nil {
			return broken(name, err)
		}
		return w.source(name, all, depth, packed)
	case gzipFile, zstdFile, bzip2File:
		return w.decoded(name, f, r, depth, packed)
	case tarFile:
		return w.inside(name, depth, func() error { return w.tar(name, r, depth+1) })
	case debFile:
		return w.inside(name, depth, func() error { return w.deb(name, r, depth) })
	case rpmFile:
		return w.inside(name, depth, func() error { return w.rpm(name, r, depth) })
	case cpioFile:
		return w.inside(name, depth, func() error { return w.cpio(name, r, depth+1) })
	}
	if w.files++; w.files > w.limits.Files {
		return fault.New(fault.Unsupported, name, "the archive has more than %d files", w.limits.Files)
	}
	if err := w.yield(name, r); err != nil {
		return &exit{err}
	}
	return nil
}

// inside calls walk for an archive, unless it is inside of too many others.
func (w *walker) inside(name string, depth int, walk func() error) error {
	if depth >= maxNested {
		return fault.New(fault.Unsupported, name, "unsupported archive: it is nested in %d others", depth)
	}
	return walk()
}

// member walks a file of an archive.
func (w *walker) member(archive, name string, r io.Reader, size int64, depth int) error {
	name = strings.TrimPrefix(name, "./")
	if archive != "" {
		name = archive + "/" + name
	}
	return w.stream(name, r, size, depth, false)
}

// meter returns a reader that takes from the bytes that may still be decoded.
func (w *walker) meter(r io.Reader) io.Reader { return &metered{w, r} }

type metered struct {
	w *walker
	r io.Reader
}

// Read reads decoded bytes.
func (m *metered) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	if m.w.left -= int64(n); m.w.left < 0 {
		return 0, bin.ErrLimit
	}
	return n, err
}

// broken returns the fault of an archive that cannot be read on.
func broken(name string, err error) error {
	var left *exit
	var known *fault.Error
	switch {
	case errors.As(err, &left) || errors.As(err, &known):
		return err
	case errors.Is(err, bin.ErrLimit):
		return fault.New(fault.Unsupported, name, "the archive unpacks to too many bytes, or to far more than its own size")
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		return fault.New(fault.Malformed, name, "the archive is cut off")
	}
	return fault.New(fault.Malformed, name, "%w", err)
}

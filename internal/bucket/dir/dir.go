// Package dir implements a bucket in a folder: a key is the path of a plain file.
// It reads folders that other programs have laid out, and writes such folders.
//
// Nothing outside the folder can be reached by a key or, unless OpenFollowing
// allows it, by a symbolic link. A file is written under .tmp in the folder,
// synced, and then renamed or linked, so it is complete or absent after a crash
// too; an empty one is created in place. Files that a crash leaves in .tmp are
// removed a day later, by the first Put of a process; keys that start with that
// segment do not exist.
//
// The path of the folder is resolved by each call: after the folder was replaced, the new
// one is used, and a Put that began in the old one fails. A folder that disappeared is a
// Transport failure, and is not created: NotFound would mean that it has no blobs.
//
// The content coding is not stored: a Put with an Encoding is Unsupported. If "a"
// is a blob, "a/b" cannot be one. Keys are as case-sensitive as the file system.
package dir

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"symbolon/internal/bucket"
	"symbolon/internal/fault"
)

const (
	temps    = ".tmp"
	stale    = 24 * time.Hour // after this, the process that wrote a file in temps has crashed
	maxTries = 100            // to create a folder that others remove
	fileMode = 0o600
	dirMode  = 0o700
)

// Bucket is a bucket in a folder. Open, OpenFollowing and Later create it.
type Bucket struct {
	folder string
	follow bool                 // follow links out of the folder when reading
	opened atomic.Pointer[root] // nil: not yet
}

// root is an open folder.
type root struct {
	*os.Root
	info   fs.FileInfo
	follow string // the path of the folder, if links out of it are followed when reading; else empty
	tidy   sync.Once

	unsynced atomic.Int64 // files that became durable later, since the folder was opened
	syncs    sync.Mutex
	synced   int64 // of these, how many are durable

	mu  sync.Mutex
	top listing // of the folder itself
}

// Open opens the bucket in an existing folder.
func Open(folder string) (*Bucket, error) { return open(Later(folder, false)) }

// OpenFollowing is Open for a folder whose symbolic links may lead anywhere:
// they are followed when files are read, not when files are written.
func OpenFollowing(folder string) (*Bucket, error) { return open(Later(folder, true)) }

func open(b *Bucket) (*Bucket, error) {
	if _, err := b.root(); err != nil {
		return nil, err
	}
	return b, nil
}

// Later returns the bucket in a folder that may be created later. Until then
// its methods fail as Open does. Links are followed as by OpenFollowing or, if
// follow is false, as by Open.
func Later(folder string, follow bool) *Bucket { return &Bucket{folder: folder, follow: follow} }

// root returns the folder that the path names now. A folder that was replaced
// is closed when its last user has released it, by the garbage collector.
func (b *Bucket) root() (*root, error) {
	was := b.opened.Load()
	now, err := os.Stat(b.folder)
	switch {
	case err != nil && was != nil:
		return nil, fault.New(fault.Transport, b.folder, "open the folder again: %w", errors.Unwrap(err))
	case err != nil:
		return nil, failure(b.folder, err)
	case was != nil && os.SameFile(was.info, now):
		return was, nil
	case !now.IsDir():
		return nil, failure(b.folder, &fs.PathError{Op: "open", Path: b.folder, Err: syscall.ENOTDIR})
	}
	next, err := openRoot(b.folder)
	if err != nil {
		return nil, failure(b.folder, err)
	}
	if b.follow {
		next.follow = b.folder
	}
	if !b.opened.CompareAndSwap(was, next) {
		next.Close()
		return b.opened.Load(), nil
	}
	return next, nil
}

func openRoot(folder string) (*root, error) {
	r, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	info, err := r.Stat(".")
	if err != nil {
		r.Close()
		return nil, err
	}
	return &root{Root: r, info: info}, nil
}

// stat returns the attributes of the file or folder at a path.
func (d *root) stat(at string) (fs.FileInfo, error) {
	info, err := d.Stat(at)
	if d.leaves(at, err) {
		return os.Stat(filepath.Join(d.follow, filepath.FromSlash(at)))
	}
	return info, err
}

// open opens the file or folder at a path.
func (d *root) open(at string) (*os.File, error) {
	f, err := d.Open(at)
	if d.leaves(at, err) {
		return os.Open(filepath.Join(d.follow, filepath.FromSlash(at)))
	}
	return f, err
}

// leaves reports whether err is the refusal of a link that may be followed.
func (d *root) leaves(at string, err error) bool {
	return d.follow != "" && refused(err) && filepath.IsLocal(filepath.FromSlash(at))
}

// refused reports whether err is not an error of the system, but a refusal of
// os.Root: a link leads out of the folder.
func refused(err error) bool {
	var number syscall.Errno
	return err != nil && !errors.As(err, &number) && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, fs.ErrClosed)
}

// Close releases the folder. Open readers can still be read.
func (b *Bucket) Close() error {
	if d := b.opened.Load(); d != nil {
		return d.Close()
	}
	return nil
}

// Get reads a range of a file.
func (b *Bucket) Get(ctx context.Context, key string, off, n int64) (io.ReadCloser, bucket.Attrs, error) {
	d, a, err := b.find(ctx, key) // before opening: opening a pipe waits for its writer
	if err != nil {
		return nil, a, err
	}
	f, err := d.open(key)
	if err != nil {
		return nil, bucket.Attrs{}, failure(key, err)
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, bucket.Attrs{}, failure(key, err)
	}
	a = attrs(info)
	from, length := bucket.Cut(off, n, a.Size)
	r := bucket.Bound(ctx, io.NewSectionReader(f, from, length))
	return &reader{r, f}, a, nil
}

type reader struct {
	io.Reader
	io.Closer
}

// Stat returns the attributes of a file.
func (b *Bucket) Stat(ctx context.Context, key string) (bucket.Attrs, error) {
	_, a, err := b.find(ctx, key)
	return a, err
}

// find returns the folder and the attributes of a file in it.
func (b *Bucket) find(ctx context.Context, key string) (*root, bucket.Attrs, error) {
	if err := bucket.Begin(ctx, key); err != nil {
		return nil, bucket.Attrs{}, err
	}
	if reserved(key) {
		return nil, bucket.Attrs{}, fault.New(fault.NotFound, key, "no such key")
	}
	d, err := b.root()
	if err != nil {
		return nil, bucket.Attrs{}, err
	}
	info, err := d.stat(key)
	switch {
	case err != nil:
		return nil, bucket.Attrs{}, failure(key, err)
	case !info.Mode().IsRegular():
		return nil, bucket.Attrs{}, fault.New(fault.NotFound, key, "not a file")
	}
	return d, attrs(info), nil
}

// attrs returns the attributes of a file. Its version is its modification time,
// its size and, where the system has them, its inode and change time.
func attrs(info fs.FileInfo) bucket.Attrs {
	return bucket.Attrs{Size: info.Size(), Version: fmt.Sprintf("%x-%x", info.ModTime().UnixNano(), info.Size()) + inode(info)}
}

// Put writes a file.
func (b *Bucket) Put(ctx context.Context, key string, r io.Reader, a bucket.Attrs) (created bool, err error) {
	if err := bucket.Begin(ctx, key); err != nil {
		return false, err
	}
	switch {
	case reserved(key):
		return false, fault.New(fault.Unsupported, key, "%s is for unfinished files", temps)
	case a.Encoding != "":
		return false, fault.New(fault.Unsupported, key, "a folder cannot keep the coding %.40q", a.Encoding)
	}
	d, err := b.root()
	if err != nil {
		return false, err
	}
	isLater := a.Later && canSyncAll
	if isLater {
		defer d.unsynced.Add(1) // also if another process stored the blob, which may have done so with Later
	}
	if a.IfAbsent {
		if info, err := d.stat(key); err == nil && info.Mode().IsRegular() {
			return false, nil // without reading r
		}
	}
	if in, ok := r.(interface{ Len() int }); ok && in.Len() == 0 && a.Size == 0 && a.IfAbsent && isLater {
		created, err = d.commit("", key, true)
	} else {
		created, err = d.write(ctx, key, r, a, isLater)
	}
	if err != nil {
		return false, err
	}
	if now, err := b.root(); err != nil || now != d {
		return false, fault.New(fault.Transport, b.folder, "the folder was replaced while %s was written", key)
	}
	return created, nil
}

// write writes a temporary file, and then gives it its name.
func (d *root) write(ctx context.Context, key string, r io.Reader, a bucket.Attrs, isLater bool) (created bool, err error) {
	f, name, err := d.temp()
	if err != nil {
		return false, failure(key, err)
	}
	defer func() {
		if err != nil {
			f.Close()
			d.Remove(name)
		}
	}()
	if _, err := bucket.Copy(ctx, f, r, a); err != nil {
		if e, ok := errors.AsType[*fs.PathError](err); ok && e.Path == f.Name() { // ours, not the reader's
			return false, failure(key, err)
		}
		return false, err
	}
	if !isLater {
		err = errors.Join(d.syncEarlier(), f.Sync())
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return false, failure(key, err)
	}
	if created, err = d.commit(name, key, a.IfAbsent); err != nil {
		return false, err
	}
	if !isLater {
		d.syncFolder(path.Dir(key))
	}
	return created, nil
}

// commit gives a finished file its name, and reports whether it did. An empty file
// without a name is created.
func (d *root) commit(name, key string, ifAbsent bool) (bool, error) {
	created, err := d.place(name, key, ifAbsent)
	for try := 1; try < maxTries && d.taken(err, key); try++ {
		if err = d.MkdirAll(path.Dir(key), dirMode); err == nil {
			created, err = d.place(name, key, ifAbsent)
		}
	}
	if err != nil {
		if d.blocked(key) {
			return false, fault.New(fault.Unsupported, key, "a folder cannot hold a file and a folder of one name")
		}
		return false, failure(key, err)
	}
	return created, nil
}

// taken reports whether err may be due to a folder that does not exist, or that a
// Delete removed while it was empty, during or after its creation.
func (d *root) taken(err error, key string) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrExist) && !d.blocked(key)
}

// place gives a finished file its name in an existing folder.
func (d *root) place(name, key string, ifAbsent bool) (bool, error) {
	switch {
	case name == "":
		return d.createEmpty(key)
	case ifAbsent:
		return d.create(name, key)
	}
	return true, d.Rename(name, key)
}

// create links or renames a finished file to its name unless that exists, and reports
// whether it did. File systems without hard links, such as FAT, need a rename that does
// not replace.
func (d *root) create(name, key string) (bool, error) {
	err := d.Link(name, key)
	if err != nil && !errors.Is(err, fs.ErrExist) && !errors.Is(err, fs.ErrNotExist) && !refused(err) {
		err = d.renameNew(name, key, err)
	}
	if err != nil && (!errors.Is(err, fs.ErrExist) || d.blocked(key)) {
		return false, err
	}
	_ = d.Remove(name) // a file that remains is removed by sweep
	return err == nil, nil
}

// createEmpty creates an empty file, which is complete at once, unless it exists.
func (d *root) createEmpty(key string) (bool, error) {
	f, err := d.OpenFile(key, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	switch {
	case err == nil:
		return true, f.Close()
	case errors.Is(err, fs.ErrExist) && !d.blocked(key):
		return false, nil
	}
	return false, err
}

// blocked reports whether key cannot be a file because it is a folder, or because
// it needs a folder with the name of a file.
func (d *root) blocked(key string) bool {
	if info, err := d.Stat(key); err == nil {
		return info.IsDir()
	}
	for at := path.Dir(key); at != "."; at = path.Dir(at) {
		if info, err := d.Stat(at); err == nil {
			return !info.IsDir()
		}
	}
	return false
}

// temp opens a new file in temps.
func (d *root) temp() (*os.File, string, error) {
	name := path.Join(temps, rand.Text())
	open := func() (*os.File, error) { return d.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode) }
	f, err := open()
	if errors.Is(err, fs.ErrNotExist) {
		if err = d.MkdirAll(temps, dirMode); err == nil {
			f, err = open()
		}
	}
	if err != nil {
		return nil, "", err
	}
	d.tidy.Do(func() { d.sweep(f) })
	return f, name, nil
}

// sweep removes the files of crashed processes in temps. The time is that of the
// new file, from the clock of the file system that also dated the others.
func (d *root) sweep(fresh *os.File) {
	now, err := fresh.Stat()
	if err != nil {
		return
	}
	f, err := d.Open(temps)
	if err != nil {
		return
	}
	defer f.Close()
	entries, _ := f.ReadDir(-1)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && now.ModTime().Sub(info.ModTime()) > stale {
			d.Remove(path.Join(temps, e.Name()))
		}
	}
}

// reserved reports whether key would be an unfinished file.
func reserved(key string) bool {
	first, _, _ := strings.Cut(key, "/")
	return strings.EqualFold(first, temps)
}

// failure returns the fault for an error of the file system.
func failure(place string, err error) error {
	kind := fault.Internal
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.ENAMETOOLONG):
		kind = fault.NotFound
	case errors.Is(err, fs.ErrPermission):
		kind = fault.Denied
	case errors.Is(err, bucket.ErrConditions):
		kind = fault.Unsupported
	case refused(err):
		return fault.New(fault.Denied, place, "%w", bucket.ErrLink)
	}
	return fault.New(kind, place, "%w", err)
}

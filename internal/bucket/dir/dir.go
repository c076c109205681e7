// Package dir is a bucket in a folder: a key is the path of a plain file. It
// reads folders that other programs have laid out, and writes such folders.
//
// Nothing outside of the folder can be reached, neither by a key nor, unless
// OpenFollowing allows it, by a symbolic link. A file is written under .tmp in the folder, synced and then
// renamed, so it is whole or absent after a crash too. What a crash leaves in
// .tmp is removed a day later, by the first Put of a process; keys that start
// with that segment do not exist.
//
// A folder keeps no coding beside a file: a Put with an Encoding is
// Unsupported, and Get never tells one. Where "a" is a blob, "a/b" cannot be
// one. Keys are as case-sensitive as the file system.
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
	"syscall"
	"time"

	"symbolon/internal/bucket"
	"symbolon/internal/fault"
)

const (
	temps    = ".tmp"
	stale    = 24 * time.Hour // after this a file in temps belongs to nobody
	maxTries = 100            // to make a folder that others remove
	fileMode = 0o600
	dirMode  = 0o700
)

// Bucket is a bucket in a folder. Make it with Open.
type Bucket struct {
	root   *os.Root
	follow string // the folder, if links out of it are followed when reading; else empty
	tidy   sync.Once

	mu  sync.Mutex
	top listing // of the folder itself
}

// Open opens the bucket in an existing folder.
func Open(folder string) (*Bucket, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, failure(folder, err)
	}
	return &Bucket{root: root}, nil
}

// OpenFollowing is Open for a folder whose symbolic links may lead anywhere:
// they are followed when files are read, not when files are written.
func OpenFollowing(folder string) (*Bucket, error) {
	b, err := Open(folder)
	if err == nil {
		b.follow, err = filepath.Abs(folder)
	}
	return b, err
}

// stat is what there is at a place in the folder.
func (b *Bucket) stat(at string) (fs.FileInfo, error) {
	info, err := b.root.Stat(at)
	if b.leaves(at, err) {
		return os.Stat(filepath.Join(b.follow, filepath.FromSlash(at)))
	}
	return info, err
}

// open opens what there is at a place in the folder.
func (b *Bucket) open(at string) (*os.File, error) {
	f, err := b.root.Open(at)
	if b.leaves(at, err) {
		return os.Open(filepath.Join(b.follow, filepath.FromSlash(at)))
	}
	return f, err
}

// leaves says whether err is the refusal of a link that may be followed.
func (b *Bucket) leaves(at string, err error) bool {
	return b.follow != "" && refused(err) && filepath.IsLocal(filepath.FromSlash(at))
}

// refused says whether err is not an answer of the system, but a refusal of
// os.Root: a link leads out of the folder.
func refused(err error) bool {
	var number syscall.Errno
	return err != nil && !errors.As(err, &number) && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, fs.ErrClosed)
}

// Close lets go of the folder. Readers that are open stay so.
func (b *Bucket) Close() error { return b.root.Close() }

// Get reads a range of a file.
func (b *Bucket) Get(ctx context.Context, key string, off, n int64) (io.ReadCloser, bucket.Attrs, error) {
	a, err := b.Stat(ctx, key) // before opening: to open a pipe is to wait for its writer
	if err != nil {
		return nil, a, err
	}
	f, err := b.open(key)
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

// Stat is the size of a file.
func (b *Bucket) Stat(ctx context.Context, key string) (bucket.Attrs, error) {
	if err := bucket.Begin(ctx, key); err != nil {
		return bucket.Attrs{}, err
	}
	if reserved(key) {
		return bucket.Attrs{}, fault.New(fault.NotFound, key, "no such key")
	}
	info, err := b.stat(key)
	switch {
	case err != nil:
		return bucket.Attrs{}, failure(key, err)
	case !info.Mode().IsRegular():
		return bucket.Attrs{}, fault.New(fault.NotFound, key, "not a file")
	}
	return attrs(info), nil
}

// attrs are what is known of a file; its version is when it was written last and
// how large it is.
func attrs(info fs.FileInfo) bucket.Attrs {
	return bucket.Attrs{Size: info.Size(), Version: fmt.Sprintf("%x-%x", info.ModTime().UnixNano(), info.Size())}
}

// Put writes a file.
func (b *Bucket) Put(ctx context.Context, key string, r io.Reader, a bucket.Attrs) (err error) {
	if err := bucket.Begin(ctx, key); err != nil {
		return err
	}
	switch {
	case reserved(key):
		return fault.New(fault.Unsupported, key, "%s is for unfinished files", temps)
	case a.Encoding != "":
		return fault.New(fault.Unsupported, key, "a folder cannot keep the coding %.40q", a.Encoding)
	}
	if a.IfAbsent {
		if _, err := b.Stat(ctx, key); err == nil {
			return nil // and nothing is read
		}
	}
	f, name, err := b.temp()
	if err != nil {
		return failure(key, err)
	}
	defer func() {
		if err != nil {
			f.Close()
			b.root.Remove(name)
		}
	}()
	if _, err := bucket.Copy(ctx, f, r, a); err != nil {
		var e *fs.PathError
		if errors.As(err, &e) && e.Path == f.Name() { // ours, not the reader's
			return failure(key, err)
		}
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return failure(key, err)
	}
	return b.commit(name, key, a.IfAbsent)
}

// commit gives a finished file its name.
func (b *Bucket) commit(name, key string, ifAbsent bool) error {
	parent := path.Dir(key)
	err := b.place(name, key, ifAbsent)
	for try := 1; try < maxTries && b.taken(err, key); try++ {
		err = b.place(name, key, ifAbsent)
	}
	if err != nil {
		if b.blocked(key) {
			return fault.New(fault.Unsupported, key, "a folder cannot hold a file and a folder of one name")
		}
		return failure(key, err)
	}
	// The name outlives a power cut once its folder is synced. Not every
	// system can do that, and the file is whole without it.
	if d, err := b.root.Open(parent); err == nil {
		d.Sync()
		d.Close()
	}
	return nil
}

// taken says whether a failure may be that somebody has removed a folder which
// was empty, after it was made or while it was.
func (b *Bucket) taken(err error, key string) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrExist) && !b.blocked(key)
}

// place makes the folder of key, and in it the finished file of that name.
func (b *Bucket) place(name, key string, ifAbsent bool) error {
	if err := b.root.MkdirAll(path.Dir(key), dirMode); err != nil {
		return err
	}
	if ifAbsent {
		return b.claim(name, key)
	}
	return b.root.Rename(name, key)
}

// claim gives a finished file its name unless there is a file of that name.
// Where the file system knows no second names, a file that came at the same
// time is replaced.
func (b *Bucket) claim(name, key string) error {
	err := b.root.Link(name, key)
	switch {
	case errors.Is(err, fs.ErrExist):
		if b.blocked(key) {
			return err
		}
	case err != nil:
		return b.root.Rename(name, key)
	}
	_ = b.root.Remove(name) // what stays is swept some day
	return nil
}

// blocked tells whether key cannot be a file because it is a folder, or
// because a file stands where it needs a folder.
func (b *Bucket) blocked(key string) bool {
	if info, err := b.root.Stat(key); err == nil {
		return info.IsDir()
	}
	for at := path.Dir(key); at != "."; at = path.Dir(at) {
		if info, err := b.root.Stat(at); err == nil {
			return !info.IsDir()
		}
	}
	return false
}

// temp opens a new file in temps.
func (b *Bucket) temp() (*os.File, string, error) {
	if err := b.root.MkdirAll(temps, dirMode); err != nil {
		return nil, "", err
	}
	name := path.Join(temps, rand.Text())
	f, err := b.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return nil, "", err
	}
	b.tidy.Do(func() { b.sweep(f) })
	return f, name, nil
}

// sweep removes what dead processes have left in temps. The new file tells the
// time, by the clock of the file system that also dated the others.
func (b *Bucket) sweep(fresh *os.File) {
	now, err := fresh.Stat()
	if err != nil {
		return
	}
	d, err := b.root.Open(temps)
	if err != nil {
		return
	}
	defer d.Close()
	entries, _ := d.ReadDir(-1)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && now.ModTime().Sub(info.ModTime()) > stale {
			b.root.Remove(path.Join(temps, e.Name()))
		}
	}
}

// reserved tells whether key would be an unfinished file.
func reserved(key string) bool {
	first, _, _ := strings.Cut(key, "/")
	return strings.EqualFold(first, temps)
}

// failure is what an error of the file system means.
func failure(place string, err error) error {
	kind := fault.Internal
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.ENAMETOOLONG):
		kind = fault.NotFound
	case errors.Is(err, fs.ErrPermission):
		kind = fault.Denied
	case refused(err):
		return fault.New(fault.Denied, place, "%w", bucket.ErrLink)
	}
	return fault.New(kind, place, "%w", err)
}

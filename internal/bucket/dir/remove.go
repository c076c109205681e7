package dir

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"time"

	"symbolon/internal/bucket"
	"symbolon/internal/fault"
)

// Delete removes a file, and the folders around it that are empty then.
func (b *Bucket) Delete(ctx context.Context, key string) error {
	switch _, err := b.Stat(ctx, key); {
	case fault.KindOf(err) == fault.NotFound:
		return nil // a folder, too, is no blob
	case err != nil:
		return err
	}
	if err := b.root.Remove(key); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return failure(key, err)
	}
	for at := path.Dir(key); at != "." && b.removeFolder(at); at = path.Dir(at) {
	}
	return nil
}

// removeFolder removes a folder if nothing is in it. Whoever is about to put
// something there makes it again.
func (b *Bucket) removeFolder(at string) bool {
	info, err := b.root.Lstat(at)
	return err == nil && info.IsDir() && b.root.Remove(at) == nil
}

// Sweep removes the files below a folder that were last changed before a time,
// and the folders that are empty then. A file that is replaced at the very moment
// it is removed may go in place of the old one.
func (b *Bucket) Sweep(ctx context.Context, prefix string, before time.Time) error {
	if err := bucket.Begin(ctx, prefix); err != nil {
		return err
	}
	if reserved(prefix) {
		return fault.New(fault.Unsupported, prefix, "%s is for unfinished files", temps)
	}
	var folders []string
	err := fs.WalkDir(b.root.FS(), prefix, func(at string, d fs.DirEntry, err error) error {
		if ended := bucket.Begin(ctx, prefix); ended != nil {
			return ended
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // somebody else was faster
		case err != nil:
			return failure(at, err)
		case d.IsDir():
			folders = append(folders, at)
			return nil
		case !d.Type().IsRegular():
			return nil
		}
		info, err := d.Info()
		if err != nil || !info.ModTime().Before(before) {
			return nil
		}
		if err := b.root.Remove(at); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return failure(at, err)
		}
		return nil
	})
	for len(folders) > 0 { // the deepest first
		last := len(folders) - 1
		b.removeFolder(folders[last])
		folders = folders[:last]
	}
	return err
}

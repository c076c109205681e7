package dir

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"time"

	"symbolon/internal/bucket"
	"symbolon/internal/fault"
)

// Delete removes a file, and the folders around it if they are empty then.
func (b *Bucket) Delete(ctx context.Context, key string) error {
	d, _, err := b.find(ctx, key)
	switch {
	case fault.KindOf(err) == fault.NotFound:
		return nil // or it is a folder
	case err != nil:
		return err
	}
	if err := d.Remove(key); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return failure(key, err)
	}
	for at := path.Dir(key); at != "." && d.removeFolder(at); at = path.Dir(at) {
	}
	return nil
}

// removeFolder removes a folder if it is empty. A concurrent Put creates it again.
func (d *root) removeFolder(at string) bool {
	info, err := d.Lstat(at)
	return err == nil && info.IsDir() && d.Remove(at) == nil
}

// Sweep removes the files below a folder that were last changed before a time, and
// the folders that are empty then. A file that replaces an old one at that moment
// may be removed instead.
func (b *Bucket) Sweep(ctx context.Context, prefix string, before time.Time) error {
	if err := bucket.Begin(ctx, prefix); err != nil {
		return err
	}
	if reserved(prefix) {
		return fault.New(fault.Unsupported, prefix, "%s is for unfinished files", temps)
	}
	d, err := b.root()
	if err != nil {
		return err
	}
	var folders []string
	err = fs.WalkDir(d.FS(), prefix, func(at string, entry fs.DirEntry, err error) error {
		if ended := bucket.Begin(ctx, prefix); ended != nil {
			return ended
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // it was removed meanwhile
		case err != nil:
			return failure(at, err)
		case entry.IsDir():
			folders = append(folders, at)
			return nil
		case !entry.Type().IsRegular():
			return nil
		}
		info, err := entry.Info()
		if err != nil || !info.ModTime().Before(before) {
			return nil
		}
		if err := d.Remove(at); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return failure(at, err)
		}
		return nil
	})
	for _, at := range slices.Backward(folders) { // the deepest first
		d.removeFolder(at)
	}
	return err
}

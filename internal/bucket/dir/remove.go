package dir

import (
	"context"
	"errors"
	"io/fs"
	"path"

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
